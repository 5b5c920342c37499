import BSON

/// A field's name followed by NUL, in a form that can be compared with the bytes at an offset of a document.
///
/// The comparison does not have to search for the end of the name in the document.
struct NameMatcher: Sendable, BitwiseCopyable {
    /// The first eight bytes of the name, little endian, with its NUL if the name is shorter than eight bytes.
    private let head: UInt64
    /// The mask of the bytes of ``head`` that are compared.
    private let mask: UInt64
    /// The last eight bytes of the name, if it is longer than eight bytes.
    private let tail: UInt64
    let length: Int32
    /// The offset of the name in the name bytes of the ``FieldTable``.
    private let start: Int32

    init(_ name: String, _ key: FieldKey) {
        length = key.length
        start = key.start
        tail = key.tail
        // A field name in a document ends at the first NUL, so a name that itself contains a NUL never matches.
        let isPossible = !name.utf8.contains(0)
        head = isPossible ? key.head : .max
        mask = !isPossible ? 0 : length < 8 ? .max >> UInt64(56 - length * 8) : .max
    }

    /// Whether this name is at `offset`.
    ///
    /// The comparison reads eight bytes at a time. Near the end of the document, the result may therefore be `false`
    /// although the name is there.
    @inline(__always)
    func matches(at offset: Int, in view: borrowing BSONView, names: RawSpan) -> Bool {
        guard offset &+ 8 <= view.end else { return false }
        guard view.word(offset) & mask == head else { return false }
        return length < 8 || restMatches(at: offset, in: view, names: names)
    }

    @inline(__always)
    private func restMatches(at offset: Int, in view: borrowing BSONView, names: RawSpan) -> Bool {
        let end = offset &+ Int(length)
        guard end < view.end, view.byte(end) == 0 else { return false }
        guard length > 8 else { return true }
        return view.word(end &- 8) == tail && (length <= 16 || middleMatches(at: offset, in: view, names: names))
    }

    @inline(never)
    private func middleMatches(at offset: Int, in view: borrowing BSONView, names: RawSpan) -> Bool {
        for index in 8..<Int(length) - 8 {
            let its = unsafe names.unsafeLoadUnaligned(fromByteOffset: Int(start) &+ index, as: UInt8.self)
            if view.byte(offset &+ index) != its { return false }
        }
        return true
    }
}
