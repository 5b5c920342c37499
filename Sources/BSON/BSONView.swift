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
    @inlinable
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
    public func next(_ position: inout Int) throws(BSONError) -> BSONElement? { try step(&position) }

    /// ``next(_:)``, for the few walks that every document goes through: always in line.
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

    /// Gives the element of a type and a name that are known already, and moves `position` behind it.
    ///
    /// - Parameter nameEnd: the name's NUL, which stands before ``end``.
    /// - Throws: ``BSONError`` when the element's length is not possible.
    @inlinable
    @inline(__always)
    package func element(
        of type: BSONType, nameOffset: Int, nameEnd: Int, _ position: inout Int
    ) throws(BSONError) -> BSONElement {
        // Offsets cannot overflow: a document is of 2 GiB at most, and each length is compared with the rest.
        let valueOffset = nameEnd &+ 1
        let valueLength = try length(of: type, at: valueOffset)
        // The terminator of the document stands behind the last value, so a value never reaches `end` itself.
        guard valueLength < end &- valueOffset else { throw BSONError(.truncated, at: valueOffset) }
        position = valueOffset &+ valueLength
        return BSONElement(
            type: type, nameOffset: nameOffset, nameLength: nameEnd &- nameOffset,
            valueOffset: valueOffset, valueLength: valueLength)
    }
}

extension BSONView {
    /// The byte at `offset`, which the caller has compared with the document's ends.
    @inlinable
    @inline(__always)
    package func byte(_ offset: Int) -> UInt8 {
        unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt8.self)
    }

    /// The eight bytes from `offset` on, little endian, which the caller has compared with the document's ends.
    @inlinable
    @inline(__always)
    package func word(_ offset: Int) -> UInt64 {
        unsafe UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
    }

    /// The first NUL at or after `offset` and before the document's end, eight bytes at a time.
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

    /// The length field at `offset`, refused when the bytes end before it does or when it is negative.
    @inlinable
    @inline(__always)
    func lengthField(at offset: Int) throws(BSONError) -> Int {
        guard offset <= end &- 4 else { throw BSONError(.truncated, at: offset) }
        let length = unsafe Int(
            Int32(littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: Int32.self)))
        guard length >= 0 else { throw BSONError(.invalidLength, at: offset) }
        return length
    }

    /// The bytes of a value of `type` at `offset`, as its type or its own length field says.
    @inlinable
    @inline(__always)
    func length(of type: BSONType, at offset: Int) throws(BSONError) -> Int {
        // A switch and no table: the processor guesses the branch, and goes on with the next element meanwhile.
        // Literals, because another module's constant is a call.
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
    /// Walks the document at every depth and checks every length, type, terminator and bool.
    ///
    /// As in mongod, strings and names need not be UTF-8, an array's names may be any, and the old binary subtype 2
    /// may hold an inner length that does not fit.
    /// - Throws: ``BSONError`` at the first byte that is not possible, or when the document is nested more than
    ///   ``maximumDepth`` levels deep.
    public func validate() throws(BSONError) { try validate(levels: Self.maximumDepth) }

    /// Does the same, with a smaller limit: a document of scalars alone needs 0 levels.
    func validate(levels: Int) throws(BSONError) {
        var position = firstPosition
        while let element = try step(&position) { try validate(element, levels: levels) }
    }

    /// Does the same with the value of an element, which may have so many levels of its own: one of a scalar needs 0.
    @inlinable
    @inline(__always)
    package func validate(_ element: BSONElement, levels: Int) throws(BSONError) {
        // Literals, because another module's constant is a call.
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
