/// One element of a document: its type and where its name and value stand in the buffer.
///
/// Offsets count from the start of the buffer of the ``BSONView`` that gave the element; they were checked against
/// the document's end, so that reading the value stays in bounds.
@frozen
public struct BSONElement: BitwiseCopyable, Sendable {
    /// The value's type.
    public let type: BSONType
    /// The first byte of the name.
    public let nameOffset: Int
    /// The bytes of the name, without its NUL.
    public let nameLength: Int
    /// The first byte of the value.
    public let valueOffset: Int
    /// The bytes of the value, all of it: with length prefix and terminator where the type has them.
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

/// A document inside a buffer that someone else owns: nothing is copied, and nothing outlives the buffer.
///
/// Making a view checks the document's own length and terminator; ``next(_:)`` checks each element as it comes, so
/// that no byte outside of the document is read whatever the bytes say.
@frozen
public struct BSONView: ~Escapable {
    /// Levels of nesting that a document may have; mongod's own limit is 180 (`BSONDepth`), ours leaves room.
    public static var maximumDepth: Int { 250 }

    /// The buffer that the document stands in.
    public let bytes: RawSpan
    /// The document's first byte in the buffer: that of its length field.
    public let start: Int
    /// The byte after the document.
    public let end: Int

    /// Views the document that fills `bytes`.
    /// - Throws: ``BSONError`` when the length field differs from the buffer's, or the terminator is missing.
    @inlinable
    @_lifetime(copy bytes)
    public init(_ bytes: RawSpan) throws(BSONError) {
        try self.init(bytes, start: 0, end: bytes.byteCount)
    }

    /// Views the document that fills `bytes[start..<end]`.
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

    /// Where the walk begins: the value to give to the first ``next(_:)``.
    @inlinable
    public var firstPosition: Int { start + 4 }

    /// Bytes of the document, its length field and terminator included.
    @inlinable
    public var byteCount: Int { end - start }

    /// Whether the document holds no element.
    @inlinable
    public var isEmpty: Bool { byteCount == 5 }

    /// Gives the element at `position` and moves `position` behind it; `nil` at the document's end.
    ///
    /// - Parameter position: ``firstPosition`` at first, then as the last call left it.
    /// - Throws: ``BSONError`` when the element's type, name or length is not possible.
    @inlinable
    public func next(_ position: inout Int) throws(BSONError) -> BSONElement? {
        let typeOffset = position
        guard typeOffset < end else { throw BSONError(.truncated, at: typeOffset) }
        let type = BSONType(rawValue: byte(typeOffset))
        if type.rawValue == 0 {
            guard typeOffset == end - 1 else { throw BSONError(.missingTerminator, at: typeOffset) }
            return nil
        }
        let nameOffset = typeOffset + 1
        let nameEnd = try terminator(from: nameOffset)
        let valueOffset = nameEnd + 1
        let valueLength = try length(of: type, at: valueOffset)
        // The terminator of the document stands behind the last value, so a value never reaches `end` itself.
        guard valueLength < end - valueOffset else { throw BSONError(.truncated, at: valueOffset) }
        position = valueOffset + valueLength
        return BSONElement(
            type: type, nameOffset: nameOffset, nameLength: nameEnd - nameOffset,
            valueOffset: valueOffset, valueLength: valueLength)
    }
}

extension BSONView {
    @inlinable
    func byte(_ offset: Int) -> UInt8 {
        unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt8.self)
    }

    /// The first NUL at or after `offset` and before the document's end, eight bytes at a time.
    @inlinable
    func terminator(from offset: Int) throws(BSONError) -> Int {
        var at = offset
        while at &+ 8 <= end {
            let word = unsafe UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: at, as: UInt64.self))
            let zeros = (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
            if zeros != 0 { return at &+ (zeros.trailingZeroBitCount &>> 3) }
            at &+= 8
        }
        while at < end {
            if byte(at) == 0 { return at }
            at &+= 1
        }
        throw BSONError(.missingTerminator, at: offset)
    }

    /// The length field at `offset`, refused when the bytes end before it does or when it is negative.
    @inlinable
    func lengthField(at offset: Int) throws(BSONError) -> Int {
        guard offset <= end - 4 else { throw BSONError(.truncated, at: offset) }
        let length = unsafe Int(
            Int32(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Int32.self)))
        guard length >= 0 else { throw BSONError(.invalidLength, at: offset) }
        return length
    }

    /// The bytes of a value of `type` at `offset`, as its type or its own length field says.
    @inlinable
    func length(of type: BSONType, at offset: Int) throws(BSONError) -> Int {
        switch type {
        case .double, .date, .timestamp, .long: return 8
        case .int: return 4
        case .bool: return 1
        case .objectId: return 12
        case .string: return try stringLength(at: offset)
        case .object, .array:
            let length = try lengthField(at: offset)
            guard length >= 5 else { throw BSONError(.invalidLength, at: offset) }
            return length
        case .null, .undefined, .minKey, .maxKey: return 0
        case .decimal: return 16
        default: return try rareLength(of: type, at: offset)
        }
    }

    @inlinable
    func stringLength(at offset: Int) throws(BSONError) -> Int {
        let length = try lengthField(at: offset)
        guard length >= 1 else { throw BSONError(.invalidLength, at: offset) }
        let last = offset + 4 + length - 1
        guard last < end else { throw BSONError(.truncated, at: offset) }
        guard byte(last) == 0 else { throw BSONError(.missingTerminator, at: last) }
        return 4 + length
    }

    @usableFromInline
    func rareLength(of type: BSONType, at offset: Int) throws(BSONError) -> Int {
        switch type {
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
