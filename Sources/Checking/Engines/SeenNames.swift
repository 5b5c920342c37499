/// Remembers the names of a document's top-level fields as bits of their hashes, so that a repeated name is noticed.
struct SeenNames {
    /// The number of names for which the bits suffice; with more of them, too many different names have one bit.
    static var most: Int { 256 }
    private var bits = InlineArray<16, UInt64>(repeating: 0)

    /// Adds a name.
    /// - Returns: Whether the name is new; `false` as well if it only might be known, and for the name `__proto__`.
    @inline(__always)
    mutating func isNew(_ key: FieldKey) -> Bool {
        if key.head == 0x5F6F_746F_7270_5F5F, key.length == 9 { return false }
        let tail = key.tail &+ UInt64(truncatingIfNeeded: key.length)
        let hash = (key.head ^ tail &* 0x9E37_79B9_7F4A_7C15) &* 0xD6E8_FEB8_6659_FD93
        let (slot, bit) = (Int(truncatingIfNeeded: hash &>> 60), UInt64(1) &<< (hash &>> 54 & 63))
        let isNew = bits[slot] & bit == 0
        bits[slot] |= bit
        return isNew
    }
}
