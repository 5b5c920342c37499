import BSON

/// The distinct strings and whole numbers at a path, as long as they are few and short.
struct EnumCandidates: Hashable, Sendable {
    /// The most values that are kept; with one more, the path is no candidate for an enum.
    static var maximumCount: Int { 24 }
    /// The most bytes of a value.
    static var maximumLength: Int { 64 }

    /// The number of occurrences of each value, which is its type byte and its bytes.
    private(set) var counts: [[UInt8]: Int] = [:]
    /// Whether there were too many values, or one too long, so that none is kept.
    private(set) var isTooMany = false

    /// Counts a value of a `string`, `int` or `long` element.
    mutating func add(_ element: BSONElement, of view: borrowing BSONView) {
        guard !isTooMany else { return }
        guard element.valueLength <= Self.maximumLength + 5 else { return giveUp() }
        add([element.type.rawValue] + view.valueBytes(element).copied(), count: 1)
    }

    /// Adds the counts of another reader.
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

    /// The values in BSON's order, with their counts.
    var values: [(value: BSONValue, count: Int)] {
        counts.map { bytes, count in (Self.value(bytes), count) }.sorted { BSONOrder.precedes($0.value, $1.value) }
    }

    private static func value(_ bytes: [UInt8]) -> BSONValue {
        let rest = bytes.dropFirst()
        func integer() -> UInt64 { rest.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
        switch BSONType(rawValue: bytes[0]) {
        case .int: return .int(Int32(truncatingIfNeeded: integer()))
        case .long: return .long(Int64(truncatingIfNeeded: integer()))
        // The text is after its length and before its NUL.
        default: return .string(String(decoding: rest.dropFirst(4).dropLast(), as: UTF8.self))
        }
    }
}
