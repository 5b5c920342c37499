import BSON

/// The distinct strings and integers at a path, as long as there are few and each is short.
struct EnumCandidates: Hashable, Sendable {
    /// The largest number of distinct values that are kept; with one more, the path is no candidate for an enum.
    static var maximumCount: Int { 24 }
    /// The largest length in bytes of a string that is kept.
    static var maximumLength: Int { 64 }

    /// The number of occurrences of each value; the key is the byte of the value's BSON type, followed by the bytes of
    /// the value.
    private(set) var counts: [[UInt8]: Int] = [:]
    /// Whether there were too many values, or a value was too long.
    ///
    /// In both cases no value is kept.
    private(set) var isTooMany = false

    /// Counts the value of an element whose type is `string`, `int` or `long`.
    mutating func add(_ element: BSONElement, of view: borrowing BSONView) {
        guard !isTooMany else { return }
        guard element.valueLength <= Self.maximumLength + 5 else { return giveUp() }
        add([element.type.rawValue] + view.valueBytes(element).copied(), count: 1)
    }

    /// Adds the counts that another thread made.
    mutating func merge(_ other: EnumCandidates) {
        guard !isTooMany else { return }
        guard !other.isTooMany else { return giveUp() }
        for (value, count) in other.counts { add(value, count: count) }
    }

    private mutating func add(_ value: [UInt8], count: Int) {
        guard !isTooMany else { return }
        counts[value, default: 0] += count
        if counts.count > Self.maximumCount { giveUp() }
    }

    private mutating func giveUp() {
        isTooMany = true
        counts = [:]
    }

    /// The distinct values with their counts, in BSON's sort order.
    var values: [(value: BSONValue, count: Int)] {
        counts.map { bytes, count in (Self.value(bytes), count) }.sorted { BSONOrder.precedes($0.value, $1.value) }
    }

    private static func value(_ bytes: [UInt8]) -> BSONValue {
        let rest = bytes.dropFirst()
        func integer() -> UInt64 { rest.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
        switch BSONType(rawValue: bytes[0]) {
        case .int: return .int(Int32(truncatingIfNeeded: integer()))
        case .long: return .long(Int64(truncatingIfNeeded: integer()))
        // In a string's bytes, the text comes after 4 bytes for its length and before a NUL.
        default: return .string(String(decoding: rest.dropFirst(4).dropLast(), as: UTF8.self))
        }
    }
}
