import Glibc

extension BSONView {
    /// Returns the document or array in an element; its length and terminator are checked.
    /// - Precondition: the element's type is `object` or `array`, and it came from this buffer.
    @inlinable
    @_lifetime(copy self)
    public func document(_ element: BSONElement) throws(BSONError) -> BSONView {
        try BSONView(bytes, start: element.valueOffset, end: element.valueOffset + element.valueLength)
    }

    /// Returns the scope of a `javascriptWithScope` element; its length and terminator are checked.
    /// - Precondition: the element's type is `javascriptWithScope`, and it came from this buffer.
    @_lifetime(copy self)
    public func scope(_ element: BSONElement) throws(BSONError) -> BSONView {
        let code = element.valueOffset + 4
        return try BSONView(bytes, start: code + stringLength(at: code), end: element.valueOffset + element.valueLength)
    }

    /// The value of an `int` element.
    @inlinable
    public func int32(_ element: BSONElement) -> Int32 {
        unsafe Int32(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: element.valueOffset, as: Int32.self))
    }

    /// The value of a `long` element, the milliseconds of a `date`, or the bits of a `timestamp`.
    @inlinable
    public func int64(_ element: BSONElement) -> Int64 {
        unsafe Int64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: element.valueOffset, as: Int64.self))
    }

    /// The value of a `double` element.
    @inlinable
    public func double(_ element: BSONElement) -> Double {
        Double(bitPattern: UInt64(bitPattern: int64(element)))
    }

    /// The value of a `bool` element; every byte except 0 means true, as in mongod.
    @inlinable
    public func bool(_ element: BSONElement) -> Bool { byte(element.valueOffset) != 0 }

    /// The value of a `decimal` element.
    @inlinable
    public func decimal(_ element: BSONElement) -> Decimal128 {
        let high = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: element.valueOffset + 8, as: UInt64.self)
        return Decimal128(high: UInt64(littleEndian: high), low: UInt64(bitPattern: int64(element)))
    }

    /// The subtype of a `binData` element.
    @inlinable
    public func binarySubtype(_ element: BSONElement) -> UInt8 { byte(element.valueOffset + 4) }

    /// The number of bytes in a `binData` element, without its length field and subtype.
    @inlinable
    public func binaryLength(_ element: BSONElement) -> Int { element.valueLength - 5 }

    /// The bytes of a `string`, `javascript` or `symbol` element, without the length field and the NUL.
    @inlinable
    @_lifetime(copy self)
    public func stringBytes(_ element: BSONElement) -> RawSpan {
        bytes.extracting(element.valueOffset + 4..<element.valueOffset + element.valueLength - 1)
    }

    /// The bytes of the element's value, including a length field and a terminator if the type has them.
    @inlinable
    @_lifetime(copy self)
    public func valueBytes(_ element: BSONElement) -> RawSpan {
        bytes.extracting(element.valueOffset..<element.valueOffset + element.valueLength)
    }

    /// The bytes of the element's name, without its NUL.
    @inlinable
    @_lifetime(copy self)
    public func nameBytes(_ element: BSONElement) -> RawSpan {
        bytes.extracting(element.nameOffset..<element.nameOffset + element.nameLength)
    }

    /// The element's name, in which bytes that are not UTF-8 are replaced.
    public func name(_ element: BSONElement) -> String { nameBytes(element).decoded() }

    /// Returns the first top-level element of this name; `nil` if there is none.
    public func find(_ name: String) throws(BSONError) -> BSONElement? {
        let name = unsafe name.utf8.span.bytes
        var position = firstPosition
        while let element = try next(&position) {
            if nameBytes(element).isEqual(to: name) { return element }
        }
        return nil
    }
}

extension RawSpan {
    /// Returns the bytes as text, in which bytes that are not UTF-8 are replaced.
    public func decoded() -> String {
        unsafe withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// Whether the bytes are the UTF-8 bytes of `text`.
    public func isEqual(to text: String) -> Bool {
        unsafe text.utf8.count == byteCount && isEqual(to: text.utf8.span.bytes)
    }

    /// Whether the two spans have the same bytes.
    public func isEqual(to other: RawSpan) -> Bool {
        guard other.byteCount == byteCount else { return false }
        guard byteCount > 0 else { return true }
        return unsafe withUnsafeBytes { mine in
            unsafe other.withUnsafeBytes { other in
                guard let mine = mine.baseAddress, let other = other.baseAddress else { return false }
                return unsafe memcmp(mine, other, byteCount) == 0
            }
        }
    }

    /// Whether the bytes are UTF-8.
    package var isUTF8: Bool {
        do {
            _ = unsafe try UTF8Span(validating: _unsafeView(as: UInt8.self))
            return true
        } catch {
            return false
        }
    }

    /// Adds the bytes to a hash.
    package func hash(into hasher: inout Hasher) {
        unsafe withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }

    /// Returns a copy of the bytes.
    public func copied() -> [UInt8] {
        unsafe withUnsafeBytes { unsafe Array($0) }
    }
}

extension BSONView {
    /// The number in an element; `nil` if the element has another type.
    @inlinable
    public func number(_ element: BSONElement) -> BSONNumber? {
        switch element.type {
        case .int: .integer(Int64(int32(element)))
        case .long: .integer(int64(element))
        case .double: .double(double(element))
        case .decimal: .decimal(decimal(element))
        default: nil
        }
    }

    /// Returns a copy of the element's value.
    /// - Throws: ``BSONError`` when the value is damaged; of a nested document, only the length and the terminator are
    ///   checked.
    public func value(_ element: BSONElement) throws(BSONError) -> BSONValue {
        switch element.type {
        case .double: .double(double(element))
        case .string: stringBytes(element).text
        case .object: .object(BSONDocument(copying: try document(element)))
        case .array: .array(BSONDocument(copying: try document(element)))
        case .binData:
            .binary(
                subtype: binarySubtype(element),
                bytes: bytes.extracting(element.valueOffset + 5..<element.valueOffset + element.valueLength).copied())
        case .undefined: .undefined
        case .objectId: .objectID(objectID(at: element.valueOffset))
        case .bool: .bool(bool(element))
        case .date: .date(milliseconds: int64(element))
        case .null: .null
        case .regex: try regex(element)
        case .dbPointer: dbPointer(element)
        case .javascript: .javascript(stringBytes(element).decoded())
        case .symbol: .symbol(stringBytes(element).decoded())
        case .javascriptWithScope: try javascriptWithScope(element)
        case .int: .int(int32(element))
        case .timestamp: .timestamp(UInt64(bitPattern: int64(element)))
        case .long: .long(int64(element))
        case .decimal: .decimal(decimal(element))
        case .minKey: .minKey
        case .maxKey: .maxKey
        default: throw BSONError(.unknownType, at: element.valueOffset)
        }
    }

    private func objectID(at offset: Int) -> ObjectID {
        let high = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
        let low = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset + 8, as: UInt32.self)
        return ObjectID(high: UInt64(bigEndian: high), low: UInt32(bigEndian: low))
    }

    private func regex(_ element: BSONElement) throws(BSONError) -> BSONValue {
        let split = try terminator(from: element.valueOffset)
        let end = element.valueOffset + element.valueLength - 1
        return .regex(
            pattern: bytes.extracting(element.valueOffset..<split).decoded(),
            options: bytes.extracting(split + 1..<end).decoded())
    }

    private func dbPointer(_ element: BSONElement) -> BSONValue {
        let id = element.valueOffset + element.valueLength - 12
        return .dbPointer(
            bytes.extracting(element.valueOffset + 4..<id - 1).decoded(), objectID(at: id))
    }

    private func javascriptWithScope(_ element: BSONElement) throws(BSONError) -> BSONValue {
        let code = element.valueOffset + 4
        let scope = try scope(element)
        return .javascriptWithScope(
            bytes.extracting(code + 4..<scope.start - 1).decoded(), BSONDocument(copying: scope))
    }
}

extension BSONView {
    /// Returns the document as extended JSON, on one line.
    /// - Throws: ``BSONError`` when the document is damaged at any depth, is nested too deep, or contains a value that
    ///   extended JSON cannot express.
    public func extendedJSON(_ form: ExtendedJSON.Form = .canonical) throws(BSONError) -> String {
        try validate(levels: ExtendedJSON.maximumDepth)
        let text = unsafe bytes.extracting(start..<end).withUnsafeBytes { document in
            unsafe LibBSON.json(document, isRelaxed: form == .relaxed)
        }
        guard let text else { throw BSONError(.notPrintable, at: start) }
        return text
    }
}

extension RawSpan {
    /// The bytes as a `string`; as an `invalidString` if they are not UTF-8.
    fileprivate var text: BSONValue {
        unsafe withUnsafeBytes { bytes in
            let text = unsafe String(validating: bytes, as: UTF8.self)
            return text.map { .string($0) } ?? .invalidString(unsafe Array(bytes))
        }
    }
}
