import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests that odd and random values are equal where the server's index says so.
extension UniqueTests {
    /// One value of each kind; some of them are equal in an index.
    private static let values = plain + symbols

    /// Values of a type that no index with a collation can have.
    private static let symbols: [BSONValue] = [.symbol("a"), ["c": [.symbol("a")]]]

    private static let plain: [BSONValue] = [
        1, .long(1), 1.0, .decimal(Decimal128(1)), 0, 0.0, -0.0, .double(.nan), decimal("NaN"),
        .double(.infinity), 0.1, decimal("0.1"), .long(1 << 53 + 1), .double(0x1p53), "a", "A",
        "", .null, .undefined, true, false, .date(milliseconds: 0), .timestamp(0), .minKey, .maxKey,
        .objectID(ObjectID(high: 1, low: 2)), .binary(subtype: 0, bytes: [1]), .binary(subtype: 5, bytes: [1]),
        .regex(pattern: "a", options: ""), .regex(pattern: "a", options: "i"), .javascript("a"),
        .javascriptWithScope("a", ["b": 1]), .javascriptWithScope("a", ["b": 1.0]), [:], ["a": 1, "b": 2],
        ["b": 2, "a": 1], ["a": 1.0, "b": .long(2)], ["a": nil], [], [[]], [nil], [.undefined], [1], [[1]], [[1.0]],
        [["a": 1, "b": 2]], ["c": ["a"]],
    ]

    private static func id(_ document: BSONDocument) -> Int { document["_id"]?.integer ?? -1 }

    private static func decimal(_ text: String) -> BSONValue { Decimal128(text).map { .decimal($0) } ?? .null }

    @Test func eachPairOfValuesIsEqualWhereTheServerSaysSo() async throws {
        let documents = Self.values.enumerated().map { BSONDocument([("_id", .integer($0)), ("v", $1)]) }
        try await Self.with(documents, Self.schema("v Json @unique")) { backfill in
            let found = try await Self.check(backfill)
            var expected: Set<Int> = []
            for left in documents {
                for right in documents where Self.id(left) < Self.id(right) {
                    _ = try? await backfill.database.run(["drop": "P"])
                    try await backfill.database.fill("P", [left, right])
                    guard try await Self.create(["v"], in: backfill.database, "P") != nil else { continue }
                    expected.formUnion([Self.id(left), Self.id(right)])
                }
            }
            #expect(found.all.subtracting(expected) == [] && expected.subtracting(found.all) == [], "\(found.output)")
        }
    }

    private struct Random: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    private static func value(_ random: inout Random, isText: Bool, depth: Int = 0) -> BSONValue {
        func value(_ random: inout Random) -> BSONValue { Self.value(&random, isText: isText, depth: depth + 1) }
        switch random.next() >> 40 % (depth < 3 ? 10 : 7) {
        case 7: return .array(of: (0..<Int(random.next() >> 40 % 4)).map { _ in value(&random) })
        case 8, 9:
            let names = ["x", "nr"].filter { _ in random.next() >> 40 % 2 == 0 }
            return .object(BSONDocument(names.map { ($0, value(&random)) }))
        case 6: return (isText ? plain : values).randomElement(using: &random) ?? .null
        default:
            let number = Int(random.next() >> 40 % 40)
            return isText ? .string(["a", "A", "á", "aa", "Aa", "b-c", "bc", "B c"][number % 8]) : .integer(number)
        }
    }

    /// The first twelve collections have no collation, the others ignore case, accents or punctuation.
    ///
    /// The index of the last twelve has a filter too.
    private static func collation(_ seed: UInt64) -> BSONDocument? {
        let all: [BSONDocument] = [
            ["locale": "en", "strength": 2], ["locale": "de", "strength": 1],
            ["locale": "en", "strength": 3, "alternate": "shifted"],
        ]
        return seed > 12 ? all[Int(seed) % 3] : nil
    }

    @Test(arguments: 1...48 as ClosedRange<UInt64>) func randomDocumentsFailWhereTheServerRefusesTheIndex(
        _ seed: UInt64
    ) async throws {
        var random = Random(state: seed)
        let collation = Self.collation(seed)
        let filter: BSONDocument? = seed > 36 ? ["b": ["$exists": true]] : nil
        let keys = [["a"], ["a.nr"], ["a.x", "b"], ["a", "b.nr"], ["a.nr", "a.x"], ["b.x", "a.x"]][Int(seed) % 6]
        let names = keys.map { $0.replacing("nr", with: "number") }
        let documents = (0..<Int(2 + random.next() >> 40 % 6)).map { id in
            let fields = ["a", "b"].filter { _ in random.next() >> 40 % 8 > 0 }
            let values = fields.map { ($0, Self.value(&random, isText: collation != nil)) }
            return BSONDocument([("_id", .integer(id))] + values)
        }
        let text = Self.schema("a Address?", "b Address?", "@@unique([\(names.joined(separator: ", "))])")
        try await Mongod.shared.withBackfill { backfill in
            func fill(_ name: String, _ documents: [BSONDocument]) async throws {
                let options = collation.map { BSONDocument([("collation", .object($0))]) } ?? [:]
                let command: [(String, BSONValue)] = [("create", .string(name))]
                _ = try await backfill.database.run(BSONDocument(command + options.elements()))
                try await backfill.database.fill(name, documents)
            }
            try await fill("U", documents)
            try backfill.write("s.prisma", text)
            try backfill.write("v.json", #"{"$jsonSchema": {"bsonType": "object"}}"#)
            let name = "\(backfill.database.name).U"
            let stated =
                "unique: [{collection: \(name), fields: [\(keys.joined(separator: ", "))], "
                + "partialFilterExpression: {b: {$exists: true}}}]"
            try backfill.write("c.yml", stated)
            let flags = ["--collection", name, "SHIPSHAPE_CONFIG=\(backfill.folder.appending("c.yml").string)"]
            let live = try await filter == nil ? Self.check(backfill) : Self.check(backfill, "v.json", flags)
            #expect(!live.output.contains("were not compared"), "\(live.output)")
            let found = ["unique-duplicate", "unique-null", "unique-arrays"].reduce(into: Set<Int>()) {
                $0.formUnion(live.failing[$1] ?? [])
            }
            var expected: Set<Int> = []
            // Two documents that an index refuses together, or one alone, are refused in every collection.
            for left in documents {
                for right in documents where Self.id(left) <= Self.id(right) {
                    _ = try? await backfill.database.run(["drop": "P"])
                    try await fill("P", left == right ? [left] : [left, right])
                    let code = try await Self.create(keys, in: backfill.database, "P", filter: filter)
                    if code == 171, left != right { continue }
                    if code != nil { expected.formUnion([Self.id(left), Self.id(right)]) }
                }
            }
            #expect(found == expected, "\(live.output)")
            let code = try await Self.create(keys, in: backfill.database, filter: filter)
            #expect((code == nil) == found.isEmpty)
            guard collation == nil else { return }
            let dump = backfill.folder.appending("U.bson").string
            try Data(documents.flatMap(\.bytes)).write(to: URL(filePath: dump))
            let offline = try await Self.check(
                backfill, "s.prisma", ["--source", dump, "--collection", "\(backfill.database.name).U"])
            #expect(offline.failing == live.failing, "\(offline.output)")
            #expect(offline.collection["groups"] == live.collection["groups"])
        }
    }
}
