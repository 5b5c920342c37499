import BSON
import TestSupport
import Testing

@testable import Jobs

/// Tests that a `where` in the form of a filter matches the same documents as a query with that filter.
///
/// The server evaluates both the `where` and the query.
@Suite struct ConditionFilterTests {
    static let filters: [(yaml: String, query: BSONDocument)] = [
        ("{a: 3}", ["a": 3]), ("{a: null}", ["a": nil]), ("{a: {$eq: text}}", ["a": "text"]),
        ("{a: {b: 1}}", ["a": ["b": 1]]),
        ("{a: [1, 2]}", ["a": [1, 2]]), ("{a: {$ne: 3}}", ["a": ["$ne": 3]]), ("{a: {$ne: null}}", ["a": ["$ne": nil]]),
        ("{a: {$in: [3, text, null]}}", ["a": ["$in": [3, "text", nil]]]),
        ("{a: {$nin: [3, null]}}", ["a": ["$nin": [3, nil]]]),
        ("{a: {$lt: 3}}", ["a": ["$lt": 3]]), ("{a: {$lte: 3.0}}", ["a": ["$lte": 3.0]]),
        ("{a: {$gt: 3}}", ["a": ["$gt": 3]]),
        ("{a: {$gte: 3, $lt: 5}}", ["a": ["$gte": 3, "$lt": 5]]), ("{a: {$gte: b}}", ["a": ["$gte": "b"]]),
        (#"{a: {$lt: {$date: "2020-01-01T00:00:00Z"}}}"#, ["a": ["$lt": .date(milliseconds: 1_577_836_800_000)]]),
        ("{a: {$gt: false}}", ["a": ["$gt": false]]), ("{a: {$exists: true}}", ["a": ["$exists": true]]),
        ("{a: {$exists: false}}", ["a": ["$exists": false]]), ("{a: {$type: number}}", ["a": ["$type": "number"]]),
        ("{a: {$type: [string, array]}}", ["a": ["$type": ["string", "array"]]]),
        ("{a: {$not: {$gt: 3}}}", ["a": ["$not": ["$gt": 3]]]),
        ("{a: 3, b: {$exists: true}}", ["a": 3, "b": ["$exists": true]]),
        ("{$or: [{a: 3}, {b: {$lt: 2}}]}", ["$or": [["a": 3], ["b": ["$lt": 2]]]]),
        ("{$nor: [{a: 3}, {b: 1}]}", ["$nor": [["a": 3], ["b": 1]]]),
        ("{$and: [{a: 3}, {a: 4}]}", ["$and": [["a": 3], ["a": 4]]]),
        ("{a.b: 3}", ["a.b": 3]), ("{a.b: null}", ["a.b": nil]), ("{a.b: {$ne: null}}", ["a.b": ["$ne": nil]]),
        ("{a.b: {$exists: false}}", ["a.b": ["$exists": false]]),
        ("{a.b: {$exists: true}}", ["a.b": ["$exists": true]]),
        ("{a.b: {$lt: 3}}", ["a.b": ["$lt": 3]]), ("{a.b.c: 3}", ["a.b.c": 3]), ("{a.b.c: null}", ["a.b.c": nil]),
        ("{a.b: {$type: int}}", ["a.b": ["$type": "int"]]), ("{_id: {$lt: 10}}", ["_id": ["$lt": 10]]),
    ]

    private static let scalars: [BSONValue] = [
        nil, 1, 2, 3, 4, 5, .long(3), 3.0, 3.5, .double(.nan), .double(-.infinity), .decimal(Decimal128(Int64(3))),
        "text", "b", "a",
        .symbol("b"), true, false, .date(milliseconds: 0), .date(milliseconds: 1_600_000_000_000), .undefined, .minKey,
        .maxKey,
        .timestamp(1 << 32 | 1), .binary(subtype: 0, bytes: [3]),
    ]

    /// Documents with each value alone, in arrays, in arrays of arrays, in objects, in objects of arrays, and deeper.
    private static let documents: [BSONDocument] = {
        var values = scalars + [[], [[]], [:], [[:]], [1, 2], [1, [1, 2]], ["b": []], ["b": [[:]]], [["b": [[]]]]]
        for value in scalars {
            values += [
                .array(of: [value]), .array(of: [value, 9]), .array(of: [.array(of: [value])]), .object(["b": value]),
                .array(of: [.object(["b": value])]), .array(of: [.object(["b": value]), .object(["c": 1])]),
                .array(of: [7, .object(["b": value])]), .array(of: [.array(of: [.object(["b": value])])]),
                .object(["b": .array(of: [value])]), .object(["b": .object(["c": value])]),
                .object(["b": .array(of: [.object(["c": value])])]),
                .array(of: [.object(["b": .array(of: [.object(["c": value])])])]),
            ]
        }
        let all =
            values.map { BSONDocument([("a", $0)]) } + [
                [:], ["b": 1], ["a": 3, "b": 1], ["a": 4, "b": 3], ["a": [3, 4]],
            ]
        return all.enumerated().map {
            BSONDocument([("_id", .integer($0))] + ((try? $1.elements()) ?? []).map { ($0.name, $0.value) })
        }
    }()

    @Test(.server(from: 5, for: "$in with null that finds no undefined")) func itHoldsOfWhatAQueryFinds() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("mixed", Self.documents)
            for (yaml, query) in Self.filters {
                let job = try JobFile.parse(
                    "job: j\ncollection: d.c\nwhere: \(yaml)\nsteps:\n  - unset: {field: z}\n", path: "job.yml")
                let condition = try #require(job.steps.first?.step.condition)
                let wanted = try await test.database.documents("mixed", query).map { $0["_id"] }
                let found = try await test.database.documents("mixed", condition.filter).map { $0["_id"] }
                let other = Set(found).symmetricDifference(Set(wanted)).compactMap { $0?.integer }
                #expect(other.prefix(3).map { try? Self.documents[$0].extendedJSON(.relaxed) } == [], "\(yaml)")
                #expect(!wanted.isEmpty && wanted.count < Self.documents.count, "\(yaml)")
            }
        }
    }

    @Test func aJobRunsForWhatItsFilterFinds() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill(
                "people", (1...4).map { ["_id": .integer($0), "schemaVersion": .integer($0)] })
            try test.job(
                steps: ["default: {field: email, value: \"\"}", "expression: {field: schemaVersion, value: 3}"],
                more: "where: {schemaVersion: {$lt: 3}}")
            let run = try await test.backfill()
            #expect(run.exitCode == 0, "\(run.errors)")
            let people = try await test.database.documents("people", ["email": ""])
            #expect(Set(people.map { $0["_id"] }) == [1, 2])
        }
    }

    @Test(arguments: [
        ("{a: {$regex: x}}", "a filter cannot use $regex"),
        ("{a: {$lt: null}}", "$lt compares with a number"),
        ("{a.0: 1}", "name no position in them"), ("{a: {$type: strin}}", "$type must be the name of a BSON type"),
        ("{a: {$exists: maybe}}", "$exists must be true or false"),
        ("{a: 1, $expr: {$eq: [1, 1]}}", "cannot use $expr here"),
        ("{$or: [{a: 1}, 2]}", "a filter must be a mapping"),
    ])
    func anOperatorThatNoFilterHasIsRefused(_ yaml: String, _ message: String) throws {
        let error = #expect(throws: JobError.self) {
            try JobFile.parse(
                "job: j\ncollection: d.c\nwhere: \(yaml)\nsteps:\n  - unset: {field: z}\n", path: "job.yml")
        }
        #expect(error.map { "\($0)" }?.contains(message) == true, "\(error.map { "\($0)" } ?? "")")
    }
}
