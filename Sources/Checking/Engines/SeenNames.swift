import BSON

/// Remembers the names of a document's top-level fields as bits of their hashes, so that a repeated name is noticed.
struct SeenNames {
    /// The number of names for which the bits suffice; with more of them, too many different names have one bit.
    static var most: Int { 256 }
    private var bits = InlineArray<16, UInt64>(repeating: 0)

    /// Adds the name of an element.
    /// - Returns: Whether the name is new; `false` as well if it only might be known, and for the name `__proto__`.
    @inline(__always)
    mutating func isNew(_ element: BSONElement, of view: borrowing BSONView) -> Bool {
        let (length, end) = (element.nameLength, element.nameOffset &+ element.nameLength)
        // A word from the name of a short last field would pass the document's end, so this name only might be known.
        guard element.nameOffset &+ 8 <= view.end else { return false }
        let word = view.word(element.nameOffset)
        let head = length >= 8 ? word : word & (1 << UInt64(length * 8) &- 1)
        let tail = length > 8 ? view.word(end &- 8) : UInt64(length)
        if head == 0x5F6F_746F_7270_5F5F, length == 9 { return false }
        let hash = (head ^ tail &* 0x9E37_79B9_7F4A_7C15) &* 0xD6E8_FEB8_6659_FD93
        let (slot, bit) = (Int(truncatingIfNeeded: hash &>> 60), UInt64(1) &<< (hash &>> 54 & 63))
        let isNew = bits[slot] & bit == 0
        bits[slot] |= bit
        return isNew
    }
}
