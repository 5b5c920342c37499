/// A set of an object's fields that were seen, one bit each.
protocol FieldMarks {
    func contains(_ field: Int) -> Bool
    /// Marks a field, and returns whether it is the first of its name.
    mutating func insert(_ field: Int) -> Bool
}

/// A set that needs no allocation.
struct FewMarks: FieldMarks {
    static var capacity: Int { 256 }
    private var words = InlineArray<4, UInt64>(repeating: 0)

    @inline(__always)
    func contains(_ field: Int) -> Bool { words[field &>> 6] & (1 &<< UInt64(field & 63)) != 0 }

    @inline(__always)
    mutating func insert(_ field: Int) -> Bool {
        let bit: UInt64 = 1 &<< UInt64(field & 63)
        guard words[field &>> 6] & bit == 0 else { return false }
        words[field &>> 6] |= bit
        return true
    }
}

/// A set for schemas that name more fields than ``FewMarks`` holds; it is allocated for each object, because to search
/// for each field again would take quadratic time.
struct ManyMarks: FieldMarks {
    private var words: [UInt64]

    init(_ count: Int32) { words = Array(repeating: 0, count: (Int(count) + 63) / 64) }

    func contains(_ field: Int) -> Bool { words[field &>> 6] & (1 &<< UInt64(field & 63)) != 0 }

    mutating func insert(_ field: Int) -> Bool {
        let bit: UInt64 = 1 &<< UInt64(field & 63)
        guard words[field &>> 6] & bit == 0 else { return false }
        words[field &>> 6] |= bit
        return true
    }
}
