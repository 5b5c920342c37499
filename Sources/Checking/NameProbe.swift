import BSON

/// A field's name in a form that is looked for at a place of a document, its NUL included, without its end being known.
struct NameProbe: Sendable, BitwiseCopyable {
    /// The first eight bytes, little endian, the NUL among them when there is room.
    private let head: UInt64
    /// Which of the first eight bytes count.
    private let mask: UInt64
    /// The last eight bytes, where the name is longer than eight.
    private let tail: UInt64
    let length: Int32
    /// Where the name stands among the plan's name bytes.
    private let start: Int32

    init(_ name: String, _ key: FieldKey) {
        length = key.length
        start = key.start
        tail = key.tail
        // No document has a name with a NUL in it, and what looks like one is a shorter name with its value.
        let isPossible = !name.utf8.contains(0)
        head = isPossible ? key.head : .max
        mask = !isPossible ? 0 : length < 8 ? .max >> UInt64(56 - length * 8) : .max
    }

    /// Whether this name stands at `offset`; a no means nothing near the document's end.
    @inline(__always)
    func stands(at offset: Int, in view: borrowing BSONView, names: RawSpan) -> Bool {
        guard offset &+ 8 <= view.end else { return false }
        guard view.word(offset) & mask == head else { return false }
        return length < 8 || restStands(at: offset, in: view, names: names)
    }

    @inline(__always)
    private func restStands(at offset: Int, in view: borrowing BSONView, names: RawSpan) -> Bool {
        let end = offset &+ Int(length)
        guard end < view.end, view.byte(end) == 0 else { return false }
        guard length > 8 else { return true }
        return view.word(end &- 8) == tail && (length <= 16 || middleStands(at: offset, in: view, names: names))
    }

    @inline(never)
    private func middleStands(at offset: Int, in view: borrowing BSONView, names: RawSpan) -> Bool {
        for index in 8..<Int(length) - 8 {
            let its = unsafe names.unsafeLoadUnaligned(fromByteOffset: Int(start) &+ index, as: UInt8.self)
            if view.byte(offset &+ index) != its { return false }
        }
        return true
    }
}
