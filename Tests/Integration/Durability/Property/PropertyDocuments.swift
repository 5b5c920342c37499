import BSON
import Proving

/// A generator of random documents, which have odd values of every kind in the fields that random jobs use.
struct PropertyDocuments: Sendable {
    /// The kind of `_id` that all generated documents of one random test case have.
    enum IDs: CaseIterable, Sendable {
        case mixed, numbers, names
    }

    var random: Randomness
    let ids: IDs
    /// Whether a field name may occur twice in a document.
    ///
    /// `false` if the server computes the expected documents, because its aggregation changes such documents.
    var repeatsNames = true
    /// The number of different `_id`s if their kind is `numbers`.
    var spread = 600

    /// Returns a random document.
    ///
    /// The `_id` may be that of an earlier document.
    mutating func document() -> BSONDocument { fields(after: [("_id", id())]) }

    /// Returns a document that has the given fields first, and then random fields in random order.
    mutating func fields(after first: [(String, BSONValue)] = []) -> BSONDocument {
        var fields: [(String, BSONValue)] = []
        for name in ["a", "b", "c", "d", "é"] where random.percent(70) { fields.append((name, value())) }
        if random.percent(75) { fields.append(("e", random.percent(80) ? embedded() : value())) }
        if random.percent(50) { fields.append(("m", random.percent(70) ? dictionary() : value())) }
        if random.percent(50) { fields.append(("l", random.percent(80) ? list() : value())) }
        if random.percent(20) { fields.append(("pad", .string(String(repeating: "p", count: random.below(5_000))))) }
        fields.shuffle(using: &random)
        if repeatsNames, random.percent(3) { fields += [("twice", 1), ("twice", "two")] }
        return BSONDocument(first + fields)
    }

    mutating func id() -> BSONValue {
        switch ids {
        case .mixed: random.percent(5) ? random.pick(Self.oddIDs) : KillDocuments.id(random.below(600))
        case .numbers: .integer(random.below(spread) - 100)
        case .names: .string(random.pick(["name", "NAME", "Name", "ñame"]) + " \(random.below(200))")
        }
    }

    private static let oddIDs: [BSONValue] = [
        .decimal(Decimal128(7)), .symbol("s"), "", [:],
        .timestamp(0),
    ]

    /// Returns a random value of any type.
    ///
    /// It is never an empty timestamp, because the server replaces such a value at the top level of a document.
    mutating func value() -> BSONValue {
        random.percent(30) ? random.pick(Self.plain) : random.pick(Self.odd)
    }

    private static let plain: [BSONValue] = [
        1, 0, "", "12", "true", 1.0, 2.5, .long(3), .null, "2020-01-01", "x", true, .date(milliseconds: 86_400_000),
    ]

    private static let odd = OddValues.all.compactMap(\.value).filter {
        $0 != .timestamp(0) && BSONDocument([("", $0)]).bytes.count < 100_000
    }

    private mutating func embedded() -> BSONValue {
        var fields: [(String, BSONValue)] = []
        if random.percent(60) { fields.append(("x", value())) }
        if random.percent(60) { fields.append(("y", random.percent(70) ? ["w": 1, "z": value()] : value())) }
        if random.percent(30) { fields.append(("rest", value())) }
        fields.shuffle(using: &random)
        if repeatsNames, random.percent(3) { fields += [("twice", 1), ("twice", 2)] }
        return .object(BSONDocument(fields))
    }

    private mutating func dictionary() -> BSONValue {
        var fields: [(String, BSONValue)] = []
        for name in ["k", "k2", "κ"] where random.percent(60) { fields.append((name, value())) }
        return .object(BSONDocument(fields))
    }

    private mutating func list() -> BSONValue {
        var values: [BSONValue] = []
        for _ in 0..<random.below(5) { values.append(random.percent(60) ? random.pick(Self.plain) : value()) }
        return .array(of: values)
    }
}
