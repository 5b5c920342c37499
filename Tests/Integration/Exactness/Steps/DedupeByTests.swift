import BSON
import TestSupport
import Testing

/// Tests of `dedupe` with `by`.
@Suite struct DedupeByTests {
    private static let examples = [
        StepsExample(
            steps: ["dedupe: {field: l, by: s, keep: last}"],
            before: [
                ["l": [["s": 1, "v": 1], ["s": 1.0, "v": 2], ["s": 2], ["v": 9], ["v": 9], 5, 5]],
                ["l": [["s": nil], ["s": nil]]], ["l": "x"], [:],
            ],
            after: [
                ["l": [["s": 1.0, "v": 2], ["s": 2], ["v": 9], ["v": 9], 5, 5]], ["l": [["s": nil], ["s": nil]]],
                ["l": "x"], [:],
            ], reports: true),
        StepsExample(
            steps: ["dedupe: {field: 'o.[].l', by: k.id}"],
            before: [["o": [["l": [["k": ["id": "a"]], ["k": ["id": "A"]], ["k": ["id": "a"], "n": 1]]], [:]]]],
            after: [["o": [["l": [["k": ["id": "a"]], ["k": ["id": "A"]]]], [:]]]]),
    ]

    @Test(arguments: examples) func oneElementOfEachKeyStays(_ example: StepsExample) async throws {
        try await example.check()
    }

    /// The server judges by `uniqueItems` which lists have equal elements, and that none of the kept ones are equal.
    @Test func whatUniqueItemsRefusesIsRemoved() async throws {
        let odd: [BSONValue] = [
            1, 1.0, .long(1), ["x": 1], ["x": 1.0], ["a": 1, "b": 2], ["b": 2, "a": 1], [1], [1.0], [[1]], nil, "a",
            "A", true, .double(-0.0), 0, .double(.nan), ["x": .double(.nan)], [:], [], ["x": ["y": [1, 2]]],
            ["x": ["y": [1.0, 2]]], .date(milliseconds: 1), ["x": .date(milliseconds: 1)],
        ]
        var lists: [BSONValue] = [.array(of: odd), .array(of: odd + odd)]
        for left in odd { for right in odd { lists.append([left, right]) } }
        let unique: BSONDocument = ["$jsonSchema": ["properties": ["l": ["uniqueItems": true]]]]
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill(
                "people", lists.enumerated().map { ["_id": .integer($0.offset), "l": $0.element] })
            let fitting = try await test.database.count("people", unique)
            try test.job(steps: ["dedupe: {field: l, by: equal}"])
            let run = try await test.backfill("job", "-o", "json")
            #expect(run.exitCode == 0, "\(run.output)\(run.errors)")
            let report = try BSONDocument(extendedJSON: run.output)
            #expect(report["changed"]?.integer == lists.count - fitting)
            #expect(try await test.database.count("people", unique) == lists.count)
            // No list became shorter than it must be: two elements of a pair stay if the server finds them different.
            let kept = try await test.database.documents("people").compactMap { $0["l"]?.document?.values.count }
            #expect(kept.dropFirst(2).count { $0 == 2 } == fitting)
        }
    }
}
