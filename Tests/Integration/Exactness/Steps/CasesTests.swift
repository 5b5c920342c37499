import BSON
import Jobs
import TestSupport
import Testing

/// Tests of `cases`, of several pairs in one `rename`, and of steps that the client computes in lists.
@Suite struct CasesTests {
    private static let examples = [
        // Seconds and milliseconds in one field, and texts.
        StepsExample(
            steps: [
                "cases: [{where: {$lt: [$t, 100000000000]}, convert: {field: t, to: date, unit: seconds}}, "
                    + "{convert: {field: t, to: date}}]"
            ],
            before: [
                ["t": 1_500_000_000], ["t": .long(1_500_000_000_000)], ["t": "2017-07-14T02:40:00Z"], ["t": "x"], [:],
            ],
            after: [
                ["t": .date(milliseconds: 1_500_000_000_000)], ["t": .date(milliseconds: 1_500_000_000_000)],
                ["t": .date(milliseconds: 1_500_000_000_000)], ["t": "x"], [:],
            ], reports: true),
        StepsExample(
            steps: [
                "cases: [{where: {v: ''}, expression: {field: v, value: 0}}, "
                    + "{where: {v: {$type: string}}, convert: {field: v, to: int}}, {default: {field: v, value: 7}}]"
            ],
            before: [["v": ""], ["v": "5"], ["v": "x"], ["k": 1], ["v": 3]],
            after: [["v": 0], ["v": 5], ["v": "x"], ["k": 1, "v": 7], ["v": 3]], reports: true),
        // Conditions are about the document, even for a field of elements.
        StepsExample(
            steps: [
                "cases: [{where: {kind: a}, wrap: {field: 'l[].x'}}, "
                    + "{expression: {field: 'l[].x', value: {$toString: $x}}}]"
            ],
            before: [
                ["kind": "a", "l": [["x": 1], ["x": [2]]]], ["kind": "b", "l": [["x": 1], ["kind": "a", "x": 2]]],
            ],
            after: [
                ["kind": "a", "l": [["x": [1]], ["x": [2]]]],
                ["kind": "b", "l": [["x": "1"], ["kind": "a", "x": "2"]]],
            ]),
        // Each case continues from its own result, so a field marks what is done.
        StepsExample(
            steps: [
                "{cases: [{where: {kind: a}, expression: {field: n, value: {$add: [$n, 1]}}}, "
                    + "{where: {kind: b}, expression: {field: n, value: {$multiply: [$n, 2]}}}], once: _counted}"
            ],
            before: [["kind": "a", "n": 1], ["kind": "b", "n": 3], ["kind": "c", "n": 3], ["kind": "b", "n": 0]],
            after: [
                ["kind": "a", "n": 2, "_counted": true], ["kind": "b", "n": 6, "_counted": true],
                ["kind": "c", "n": 3], ["kind": "b", "n": 0],
            ]),
        StepsExample(
            steps: ["rename: {fields: {street: home.street, city: home.city}, parents: create}"],
            before: [["street": "s", "city": "c"], ["city": "c", "home": ["city": "d"]], ["street": "s"], [:]],
            after: [
                ["home": ["street": "s", "city": "c"]], ["city": "c", "home": ["city": "d"]], ["home": ["street": "s"]],
                [:],
            ], reports: true),
        StepsExample(
            steps: ["copy: {fields: {a: x, b: y}}"], before: [["a": 1, "b": 2], ["b": 3, "y": 3]],
            after: [["a": 1, "b": 2, "x": 1, "y": 2], ["b": 3, "y": 3]]),
    ]

    @Test(arguments: examples) func theFirstCaseThatHoldsChangesTheField(_ example: StepsExample) async throws {
        try await example.check()
    }

    @Test func linksInListsAreEmbedded() async throws {
        try await StepsExample(
            steps: [
                "embed: {field: 'l[].pet', from: DATABASE.pets, into: 'l[].its', orphans: leave, shared: copy}"
            ],
            before: [
                ["l": [["pet": 1], ["x": 1], ["pet": 2]]], ["l": [["pet": 9]]], ["l": [["pet": 1, "its": 5]]],
                ["l": []], ["l": [["pet": 2], 7]],
            ],
            after: [
                ["l": [["pet": 1, "its": ["n": "A"]], ["x": 1], ["pet": 2, "its": ["n": "B"]]]], ["l": [["pet": 9]]],
                ["l": [["pet": 1, "its": 5]]], ["l": []], ["l": [["pet": 2, "its": ["n": "B"]], 7]],
            ], reports: true
        ).check { test in try await test.database.fill("pets", [["_id": 1, "n": "A"], ["_id": 2, "n": "B"]]) }
    }

    @Test(arguments: ["generate: objectId", "idFrom: key"])
    func objectsInListsAreExtracted(_ id: String) async throws {
        try await Mongod.shared.withBackfill { test in
            let before: [BSONDocument] = [
                [
                    "_id": 0,
                    "l": [["o": ["key": 1, "n": 1]], ["o": [["key": 2, "n": 2], ["key": 3, "n": 1]]], ["x": 1]],
                ],
                ["_id": 1, "l": [["o": ["key": 4, "n": 1]], 7]],
            ]
            try await test.database.fill("people", before)
            try test.job(steps: ["extract: {field: 'l[].o', to: \(test.database.name).parts, \(id)}"])
            let dry = try await test.backfill("job", "--dry-run")
            let run = try await test.backfill()
            // One element is no object, which is reported.
            #expect(dry.exitCode == 1 && run.exitCode == 1, "\(dry.errors)\(run.errors)")
            let parts = try await test.database.documents("parts")
            #expect(Set(parts.map { $0["n"] }) == [1, 2] && parts.count == 4)
            let byID = Dictionary(uniqueKeysWithValues: parts.map { ($0["_id"] ?? nil, $0) })
            let after = try await test.database.documents("people")
            // The first element of the second document links to the part that it was.
            let link = try after[1].values(at: FieldPath("l[].o"))
            #expect(link.count == 1 && byID[link[0]]?["n"] == 1)
            #expect(try after[0].values(at: FieldPath("l[].o")).flatMap(\.links).count == 3)
            let undo = try await Program.run([
                "undo", "job", "--yes", "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
            ])
            #expect(undo.exitCode == 0, "\(undo.output)\(undo.errors)")
            #expect(try await test.database.documents("people") == before)
            #expect(try await test.database.documents("parts").isEmpty)
        }
    }

    /// An element keeps its ID when it moves in the list, and no later element gets the same one.
    @Test func eachElementGetsAnIDOfItsOwn() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", [["_id": 0, "l": [["n": 1], ["n": 2, "id": "own"], 5, ["n": 3]]]])
            try test.job(steps: ["default: {field: 'l[].id', generate: uuid}"])
            #expect(try await test.backfill("job", "--dry-run").exitCode == 1)
            #expect(try await test.backfill().exitCode == 1)
            let first = try await test.database.documents("people")[0].values(at: FieldPath("l[].id"))
            #expect(first.count == 3 && Set(first).count == 3 && first[1] == "own")
            // The list loses its first element, and gets another one.
            try await test.database.update("people", ["_id": 0], ["$pop": ["l": -1]])
            try await test.database.update("people", ["_id": 0], ["$push": ["l": ["n": 3]]])
            #expect(try await test.backfill().exitCode == 1)
            let second = try await test.database.documents("people")[0].values(at: FieldPath("l[].id"))
            #expect(Array(second.prefix(2)) == Array(first.dropFirst()))
            #expect(second.count == 3 && Set(second + first).count == 4)
        }
    }
}
