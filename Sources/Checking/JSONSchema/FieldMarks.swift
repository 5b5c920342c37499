/// A set of the fields of one object that were seen, with one bit for each field that the schema names.
protocol FieldMarks {
    func contains(_ field: Int) -> Bool
    /// Marks a field as seen, and returns whether it was not marked before.
    mutating func insert(_ field: Int) -> Bool
}

/// A set for at most 256 fields, which needs no allocation.
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

/// A set for schemas that name more fields than ``FewMarks`` holds; it is allocated for each object.
///
/// Searching the object for each field instead would take quadratic time.
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
