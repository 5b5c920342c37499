/// Remembers the names of a document's top-level fields as bits of their hashes, so that a repeated name is noticed.
struct SeenNames: Sendable, BitwiseCopyable {
    /// The number of names for which the bits suffice; with more of them, too many different names have one bit.
    static var most: Int { 256 }
    private var bits = InlineArray<16, UInt64>(repeating: 0)

    /// Creates a set that only has the mark of the name `__proto__`, so that this name never seems new.
    @inline(__always)
    init() { _ = insert(Self.mark(head: 0x5F6F_746F_7270_5F5F, tail: 0x5F5F_6F74_6F72_705F, length: 9)) }

    /// Returns the number of a name's bit.
    @inline(__always)
    static func mark(of key: FieldKey) -> UInt16 { mark(head: key.head, tail: key.tail, length: key.length) }

    @inline(__always)
    private static func mark(head: UInt64, tail: UInt64, length: Int32) -> UInt16 {
        let tail = tail &+ UInt64(truncatingIfNeeded: length)
        let hash = (head ^ tail &* 0x9E37_79B9_7F4A_7C15) &* 0xD6E8_FEB8_6659_FD93
        return UInt16(truncatingIfNeeded: hash &>> 54)
    }

    /// Whether the set may have the name with this mark.
    @inline(__always)
    func contains(_ mark: UInt16) -> Bool { bits[Int(mark &>> 6 & 15)] &>> UInt64(mark & 63) & 1 != 0 }

    /// Adds the mark of a name.
    /// - Returns: Whether the name is new; `false` as well if it only might be known, and for the name `__proto__`.
    @inline(__always)
    mutating func insert(_ mark: UInt16) -> Bool {
        let (slot, bit) = (Int(mark &>> 6 & 15), UInt64(1) &<< UInt64(mark & 63))
        let isNew = bits[slot] & bit == 0
        bits[slot] |= bit
        return isNew
    }
}
