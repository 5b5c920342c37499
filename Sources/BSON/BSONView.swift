/// One element of a document, as its type and the positions of its name and its value in a buffer.
///
/// Offsets are counted from the start of the buffer of the ``BSONView`` that returned the element. The view has checked
/// them against the document's end, so a read of the value stays inside the document.
@frozen
public struct BSONElement: BitwiseCopyable, Sendable {
    /// The value's type.
    public let type: BSONType
    /// The offset of the name's first byte.
    public let nameOffset: Int
    /// The number of bytes of the name, without its NUL.
    public let nameLength: Int
    /// The offset of the value's first byte.
    public let valueOffset: Int
    /// The number of bytes of the value, including a length field and a terminator if the type has them.
    public let valueLength: Int

    @usableFromInline
    init(type: BSONType, nameOffset: Int, nameLength: Int, valueOffset: Int, valueLength: Int) {
        self.type = type
        self.nameOffset = nameOffset
        self.nameLength = nameLength
        self.valueOffset = valueOffset
        self.valueLength = valueLength
    }
}

/// A document in a buffer that another object owns; nothing is copied, and the view cannot outlive the buffer.
///
/// The length and the terminator of the document are checked when the view is created. ``next(_:)`` checks each element
/// when it reads it. Therefore no byte outside the document is read, even if the bytes are damaged.
@frozen
public struct BSONView: ~Escapable {
    /// The most levels of nesting in a document.
    ///
    /// mongod's default limit for stored documents is lower: 180 (`BSONDepth`).
    @inlinable
    public static var maximumDepth: Int { 250 }

    /// The buffer that contains the document.
    public let bytes: RawSpan
    /// The offset of the document's first byte in the buffer, where its length field begins.
    public let start: Int
    /// The offset of the byte after the document in the buffer.
    public let end: Int

    /// Creates a view of the document that fills the whole buffer `bytes`.
    /// - Throws: ``BSONError`` when the length field differs from the buffer's length, or the terminator is missing.
    @inlinable
    @_lifetime(copy bytes)
    public init(_ bytes: RawSpan) throws(BSONError) {
        try self.init(bytes, start: 0, end: bytes.byteCount)
    }

    /// Creates a view of the document that fills `bytes[start..<end]`.
    @inlinable
    @_lifetime(copy bytes)
    init(_ bytes: RawSpan, start: Int, end: Int) throws(BSONError) {
        guard start >= 0, end <= bytes.byteCount, end - start >= 5 else { throw BSONError(.truncated, at: start) }
        let length = unsafe Int(
            Int32(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: start, as: Int32.self)))
        guard length == end - start else { throw BSONError(.invalidLength, at: start) }
        guard unsafe bytes.unsafeLoadUnaligned(fromByteOffset: end - 1, as: UInt8.self) == 0 else {
            throw BSONError(.missingTerminator, at: end - 1)
        }
        self.bytes = bytes
        self.start = start
        self.end = end
    }

    /// The position of the first element, for the first call of ``next(_:)``.
    @inlinable
    public var firstPosition: Int { start + 4 }

    /// The number of bytes of the document, including its length field and terminator.
    @inlinable
    public var byteCount: Int { end - start }

    /// Whether the document has no elements.
    @inlinable
    public var isEmpty: Bool { byteCount == 5 }

    /// Returns the element at `position` and moves `position` past the element; `nil` at the document's end.
    ///
    /// - Parameter position: ``firstPosition`` in the first call; in each later call, the value that the last call
    ///   left.
    /// - Throws: ``BSONError`` when the element's type, name or length is impossible.
    @inlinable
    public func next(_ position: inout Int) throws(BSONError) -> BSONElement? { try step(&position) }

    /// Does the same as ``next(_:)``, but is always inlined, for the few loops through which every document passes.
    @inlinable
    @inline(__always)
    package func step(_ position: inout Int) throws(BSONError) -> BSONElement? {
        let typeOffset = position
        guard typeOffset < end else { throw BSONError(.truncated, at: typeOffset) }
        let type = BSONType(rawValue: byte(typeOffset))
        if type.rawValue == 0 {
            guard typeOffset == end &- 1 else { throw BSONError(.missingTerminator, at: typeOffset) }
            return nil
        }
        let nameOffset = typeOffset &+ 1
        let nameEnd = try terminator(from: nameOffset)
        return try element(of: type, nameOffset: nameOffset, nameEnd: nameEnd, &position)
    }

    /// Returns an element whose type and name were already read, and moves `position` past the element.
    ///
    /// - Parameter nameEnd: the position of the name's NUL, which is before ``end``.
    /// - Throws: ``BSONError`` when the element's length is impossible.
    @inlinable
    @inline(__always)
    package func element(
        of type: BSONType, nameOffset: Int, nameEnd: Int, _ position: inout Int
    ) throws(BSONError) -> BSONElement {
        // Offsets cannot overflow, because a document has at most 2 GiB and each length is compared with the number of
        // bytes that are left in it.
        let valueOffset = nameEnd &+ 1
        let valueLength = try length(of: type, at: valueOffset)
        // The document's terminator follows the last value, so a value always ends before `end`.
        guard valueLength < end &- valueOffset else { throw BSONError(.truncated, at: valueOffset) }
        position = valueOffset &+ valueLength
        return BSONElement(
            type: type, nameOffset: nameOffset, nameLength: nameEnd &- nameOffset,
            valueOffset: valueOffset, valueLength: valueLength)
    }
}

extension BSONView {
    /// Returns the byte at `offset`; the caller has checked that it is inside the document.
    @inlinable
    @inline(__always)
    package func byte(_ offset: Int) -> UInt8 {
        unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt8.self)
    }

    /// Returns eight bytes from `offset` on as a little-endian number; the caller has checked that they are inside the
    /// document.
    @inlinable
    @inline(__always)
    package func word(_ offset: Int) -> UInt64 {
        unsafe UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
    }

    /// Returns eight bytes from `offset` on as ``word(_:)`` does, with zeros in place of bytes after the document.
    ///
    /// - Precondition: `offset` is inside the document, and an element is there, so that the document has eight bytes.
    @inlinable
    @inline(__always)
    package func lastWord(_ offset: Int) -> UInt64 {
        let missing = offset &+ 8 &- end
        return missing <= 0 ? word(offset) : word(end &- 8) &>> UInt64(truncatingIfNeeded: missing &* 8)
    }

    /// Returns the position of the first NUL from `offset` to the document's end; reads eight bytes at a time.
    @inlinable
    @inline(__always)
    func terminator(from offset: Int) throws(BSONError) -> Int {
        var at = offset
        while at &+ 8 <= end {
            let word = word(at)
            let zeros = (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
            if zeros != 0 { return at &+ (zeros.trailingZeroBitCount &>> 3) }
            at &+= 8
        }
        return try lastTerminator(from: at, of: offset)
    }

    @usableFromInline
    @inline(never)
    func lastTerminator(from offset: Int, of name: Int) throws(BSONError) -> Int {
        var at = offset
        while at < end {
            if byte(at) == 0 { return at }
            at &+= 1
        }
        throw BSONError(.missingTerminator, at: name)
    }

    /// Returns the length field at `offset`; throws if the field does not fit in the document, or if the length is
    /// negative.
    @inlinable
    @inline(__always)
    func lengthField(at offset: Int) throws(BSONError) -> Int {
        guard offset <= end &- 4 else { throw BSONError(.truncated, at: offset) }
        let length = unsafe Int(
            Int32(littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: Int32.self)))
        guard length >= 0 else { throw BSONError(.invalidLength, at: offset) }
        return length
    }

    /// Returns the number of bytes of the value at `offset`, which `type` or the value's own length field determines.
    @inlinable
    @inline(__always)
    func length(of type: BSONType, at offset: Int) throws(BSONError) -> Int {
        // A `switch` is faster than a table, because the processor predicts its branch and continues with the next
        // element.
        switch type.rawValue {
        case 0x01, 0x09, 0x11, 0x12: return 8  // double, date, timestamp, long
        case 0x10: return 4  // int
        case 0x08: return 1  // bool
        case 0x07: return 12  // objectId
        case 0x02: return try stringLength(at: offset)
        case 0x03, 0x04:  // object, array
            let length = try lengthField(at: offset)
            guard length >= 5 else { throw BSONError(.invalidLength, at: offset) }
            return length
        case 0x0A, 0x06: return 0  // null, undefined
        case 0x13: return 16  // decimal
        default: return try rareLength(of: type, at: offset)
        }
    }

    @inlinable
    @inline(__always)
    func stringLength(at offset: Int) throws(BSONError) -> Int {
        let length = try lengthField(at: offset)
        guard length >= 1 else { throw BSONError(.invalidLength, at: offset) }
        let last = offset &+ 3 &+ length
        guard last < end else { throw BSONError(.truncated, at: offset) }
        guard byte(last) == 0 else { throw BSONError(.missingTerminator, at: last) }
        return 4 &+ length
    }

    @usableFromInline
    @inline(never)
    func rareLength(of type: BSONType, at offset: Int) throws(BSONError) -> Int {
        switch type {
        case .minKey, .maxKey: return 0
        case .binData:
            let length = try lengthField(at: offset)
            guard length < end - offset else { throw BSONError(.truncated, at: offset) }
            return 5 + length
        case .javascript, .symbol: return try stringLength(at: offset)
        case .regex:
            let options = try terminator(from: offset) + 1
            return try terminator(from: options) + 1 - offset
        case .dbPointer: return try stringLength(at: offset) + 12
        case .javascriptWithScope:
            let length = try lengthField(at: offset)
            guard length >= 14, length <= end - offset else { throw BSONError(.invalidLength, at: offset) }
            let code = try stringLength(at: offset + 4)
            let scope = offset + 4 + code
            let rest = length - 4 - code
            guard rest >= 5, try lengthField(at: scope) == rest else { throw BSONError(.invalidLength, at: scope) }
            return length
        default: throw BSONError(.unknownType, at: offset, detail: type.description)
        }
    }
}

extension BSONView {
    /// Checks every length, type, terminator and bool of the document at every depth.
    ///
    /// As in mongod, strings and names may contain bytes that are not UTF-8, an array's elements may have any names,
    /// and the inner length of the old binary subtype 2 may be wrong.
    /// - Throws: ``BSONError`` at the first impossible byte, or when the document has more than ``maximumDepth`` levels
    ///   of nesting.
    public func validate() throws(BSONError) { try validate(levels: Self.maximumDepth) }

    /// Does the same as ``validate()`` with another limit of nesting; 0 allows only scalars in the document.
    package func validate(levels: Int) throws(BSONError) {
        var position = firstPosition
        while let element = try step(&position) { try validate(element, levels: levels) }
    }

    /// Checks the value of an element as ``validate()`` checks a document; `levels` limits the nesting inside the
    /// value, and 0 allows only a scalar.
    @inlinable
    @inline(__always)
    package func validate(_ element: BSONElement, levels: Int) throws(BSONError) {
        // The cases are literals, because a constant costs a call if this method is inlined in another module.
        switch element.type.rawValue {
        case 0x03, 0x04: try validate(document(element), levels: levels)  // object, array
        case 0x0F: try validate(scope(element), levels: levels)  // javascriptWithScope
        case 0x08:
            guard byte(element.valueOffset) <= 1 else { throw BSONError(.invalidBool, at: element.valueOffset) }
        default: break
        }
    }

    @usableFromInline
    func validate(_ inner: borrowing BSONView, levels: Int) throws(BSONError) {
        guard levels > 0 else { throw BSONError(.tooDeep, at: inner.start) }
        try inner.validate(levels: levels - 1)
    }
}
