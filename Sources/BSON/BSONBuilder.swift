/// Builds a document by appending one element after another.
public struct BSONBuilder: Sendable {
    private var bytes: [UInt8]

    /// Starts an empty document.
    public init() { bytes = [0, 0, 0, 0] }

    /// Starts an empty document, with memory for this number of bytes.
    package init(capacity: Int) {
        bytes = []
        bytes.reserveCapacity(capacity)
        for _ in 0..<4 { bytes.append(0) }
    }

    /// Starts with the elements of `document`; further elements are appended after them.
    public init(continuing document: BSONDocument) {
        bytes = document.bytes
        bytes.removeLast()
    }

    /// Appends one element; a name that contains a NUL is cut off before the NUL.
    public mutating func append(_ name: String, _ value: BSONValue) {
        bytes.append(value.type.rawValue)
        appendCString(name)
        append(value)
    }

    /// Appends an element of an array, whose name is its index.
    package mutating func append(index: Int, _ value: BSONValue) {
        bytes.append(value.type.rawValue)
        var unit = 1
        while index / unit >= 10 { unit *= 10 }
        while unit > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(index / unit % 10))
            unit /= 10
        }
        bytes.append(0)
        append(value)
    }

    /// Appends an element of another document, and keeps its name and value.
    public mutating func append(_ element: BSONElement, of view: borrowing BSONView) {
        bytes.append(element.type.rawValue)
        append(view.bytes, element.nameOffset, element.valueOffset + element.valueLength)
    }

    /// Appends elements of another document; `range` holds the positions of their bytes in the view's buffer.
    package mutating func append(_ range: Range<Int>, of view: borrowing BSONView) {
        append(view.bytes, range.lowerBound, range.upperBound)
    }

    /// Appends the value of another document's element under a new name.
    public mutating func append(_ name: String, _ element: BSONElement, of view: borrowing BSONView) {
        bytes.append(element.type.rawValue)
        appendCString(name)
        append(view.bytes, element.valueOffset, element.valueOffset + element.valueLength)
    }

    /// Appends one element, whose name is given as bytes, because the name might not be UTF-8.
    mutating func append(_ name: [UInt8], _ value: BSONValue) {
        bytes.append(value.type.rawValue)
        bytes.append(contentsOf: name)
        bytes.append(0)
        append(value)
    }

    /// Appends the value of another document's element under a name that is given as bytes.
    mutating func append(_ name: [UInt8], _ element: BSONElement, of view: borrowing BSONView) {
        bytes.append(element.type.rawValue)
        bytes.append(contentsOf: name)
        bytes.append(0)
        append(view.bytes, element.valueOffset, element.valueOffset + element.valueLength)
    }

    /// Returns the document with all elements appended so far.
    public consuming func finish() -> BSONDocument {
        bytes.append(0)
        let length = UInt32(bytes.count)
        for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(index))) }
        return BSONDocument(trusted: bytes)
    }
}

extension BSONBuilder {
    private mutating func append(_ span: RawSpan, _ start: Int, _ end: Int) {
        unsafe span.extracting(start..<end).withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    }

    private mutating func appendCString(_ text: String) {
        var text = text
        text.withUTF8 { unsafe bytes.append(contentsOf: $0[..<($0.firstIndex(of: 0) ?? $0.count)]) }
        bytes.append(0)
    }

    private mutating func appendString(_ text: String) {
        appendInteger(Int32(text.utf8.count + 1))
        bytes.append(contentsOf: text.utf8)
        bytes.append(0)
    }

    private mutating func appendInteger(_ value: some FixedWidthInteger) {
        unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    private mutating func appendObjectID(_ id: ObjectID) {
        appendInteger(id.high.byteSwapped)
        appendInteger(id.low.byteSwapped)
    }

    private mutating func append(_ value: BSONValue) {
        switch value {
        case .double(let number): appendInteger(number.bitPattern)
        case .string(let text), .javascript(let text), .symbol(let text): appendString(text)
        case .invalidString(let text):
            appendInteger(Int32(text.count + 1))
            bytes.append(contentsOf: text)
            bytes.append(0)
        case .object(let document), .array(let document): bytes.append(contentsOf: document.bytes)
        case .binary(let subtype, let content):
            appendInteger(Int32(content.count))
            bytes.append(subtype)
            bytes.append(contentsOf: content)
        case .undefined, .null, .minKey, .maxKey: break
        case .objectID(let id): appendObjectID(id)
        case .bool(let flag): bytes.append(flag ? 1 : 0)
        case .date(let milliseconds): appendInteger(milliseconds)
        case .regex(let pattern, let options):
            appendCString(pattern)
            appendCString(options)
        case .dbPointer(let namespace, let id):
            appendString(namespace)
            appendObjectID(id)
        case .javascriptWithScope(let code, let scope):
            appendInteger(Int32(4 + 4 + code.utf8.count + 1 + scope.bytes.count))
            appendString(code)
            bytes.append(contentsOf: scope.bytes)
        case .int(let number): appendInteger(number)
        case .timestamp(let stamp): appendInteger(stamp)
        case .long(let number): appendInteger(number)
        case .decimal(let number):
            appendInteger(number.low)
            appendInteger(number.high)
        }
    }
}
