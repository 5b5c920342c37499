import BSON
import TestSupport
import Testing

/// Tests of `map`, by a table and by another collection.
@Suite struct MapStepTests {
    private static let tables = [
        StepsExample(
            steps: [
                "map: {field: s, values: [{from: A, to: active}, {from: null, to: none}, {missing: true, to: gone}, "
                    + "{type: array, to: list}, {from: 1, to: one}], ignoreCase: true}"
            ],
            before: [
                ["s": "A"], ["s": "a"], ["s": "ä"], ["s": nil], [:], ["s": [1]], ["s": 1.0], ["s": .long(1)],
                ["s": "ACTIVE"], ["s": "active"],
            ],
            after: [
                ["s": "active"], ["s": "active"], ["s": "ä"], ["s": "none"], ["s": "gone"], ["s": "list"],
                ["s": "one"], ["s": "one"], ["s": "ACTIVE"], ["s": "active"],
            ], reports: true),
        StepsExample(
            steps: ["map: {field: s, values: {\"\": null, a: b}, unmapped: keep}"],
            before: [["s": ""], ["s": nil], [:], ["s": "x"]], after: [["s": nil], ["s": nil], [:], ["s": "x"]]),
        StepsExample(
            steps: ["map: {field: 'l.[].s', values: {a: 1}}"],
            before: [["l": [["s": "a"], ["s": "b"]]], ["l": [["s": "a"]]]],
            after: [["l": [["s": 1], ["s": "b"]]], ["l": [["s": 1]]]], reports: true),
        StepsExample(
            steps: ["map: {field: s, values: {A: 1, B: x}, into: t}"],
            before: [["s": "A"], ["s": "B", "t": "x"], ["s": nil], [:], ["s": "A", "t": 2]],
            after: [["s": "A", "t": 1], ["s": "B", "t": "x"], ["s": nil], [:], ["s": "A", "t": 2]], reports: true),
        StepsExample(
            steps: ["map: {field: s, values: {A: 1}, unmapped: keep, into: t, whenPresent: replace}"],
            before: [["s": "A", "t": 0], ["s": "Z"], ["t": 5]],
            after: [["s": "A", "t": 1], ["s": "Z", "t": "Z"], ["t": 5]]),
        StepsExample(
            steps: ["map: {field: u, values: [{type: undefined, to: null}, {type: symbol, to: text}]}"],
            before: [["u": .undefined], ["u": .symbol("x")]], after: [["u": nil], ["u": "text"]]),
    ]

    @Test(arguments: tables) func eachValueGetsTheOneOfTheTable(_ example: StepsExample) async throws {
        try await example.check()
    }

    private static let cases = [
        StepsExample(
            steps: [
                "expression: {field: e, cases: [{where: {c: EUR}, value: $a}, "
                    + "{where: {c: {$in: [USD, CAD]}, r: {$gt: 0}}, value: {$multiply: [$a, $r]}}]}"
            ],
            before: [
                ["c": "EUR", "a": 5], ["c": "USD", "a": 2, "r": 3], ["c": "USD", "a": 2], ["a": 1],
                ["c": "EUR", "e": 9],
            ],
            after: [
                ["c": "EUR", "a": 5, "e": 5], ["c": "USD", "a": 2, "r": 3, "e": 6], ["c": "USD", "a": 2], ["a": 1],
                ["c": "EUR", "e": 9],
            ]),
        StepsExample(
            steps: [
                "expression: {field: 'l.[].k', cases: [{where: {n: {$gt: 1}}, value: many}, "
                    + "{where: {n: 1}, value: one}, {value: none}]}"
            ],
            before: [["l": [["n": 2], ["n": 1], ["n": 0, "k": "x"]]]],
            after: [["l": [["n": 2, "k": "many"], ["n": 1, "k": "one"], ["n": 0, "k": "none"]]]]),
        // A case reads the field that the step writes.
        StepsExample(
            steps: [
                "expression: {field: s, cases: [{where: {s: a}, value: b}, {where: {s: {$exists: false}}, value: c}]}"
            ],
            before: [["s": "a"], ["s": "b"], [:]], after: [["s": "b"], ["s": "b"], ["s": "c"]]),
    ]

    @Test(arguments: cases) func theFirstCaseThatHoldsGivesTheValue(_ example: StepsExample) async throws {
        try await example.check()
    }

    private static let lookups = [
        StepsExample(
            steps: ["map: {field: who, lookup: DATABASE.names, into: {name: name, city: town}}"],
            before: [
                ["who": 1], ["who": 2, "name": "Bob"], ["who": 3], ["who": 1, "name": "Zed"], [:],
                ["who": nil], ["who": 4],
            ],
            after: [
                ["who": 1, "name": "Ann", "town": "Rome"], ["who": 2, "name": "Bob"], ["who": 3],
                ["who": 1, "name": "Zed"], [:], ["who": nil], ["who": 4, "name": "Eve"],
            ], reports: true),
        StepsExample(
            steps: ["map: {field: who, lookup: DATABASE.names, value: name, into: name, whenPresent: replace}"],
            before: [["who": 1, "name": "Zed"], ["who": 2]],
            after: [["who": 1, "name": "Ann"], ["who": 2, "name": "Bob"]]),
        StepsExample(
            steps: ["map: {field: 'l.[].who', lookup: DATABASE.names, value: name, into: 'l.[].name'}"],
            before: [
                ["l": [["who": 1], ["who": 2, "name": "Bob"], [:], 5]], ["l": [["who": 9], ["who": 1]]], ["l": 1],
            ],
            after: [
                ["l": [["who": 1, "name": "Ann"], ["who": 2, "name": "Bob"], [:], 5]],
                ["l": [["who": 9], ["who": 1]]], ["l": 1],
            ], reports: true),
        StepsExample(
            steps: ["map: {field: 'd.[].l.[]', lookup: DATABASE.names, key: name, value: _id}"],
            before: [["d": ["x": ["l": ["Ann", "Bob"]], "y": ["l": ["Eve"]]]]],
            after: [["d": ["x": ["l": [1, 2]], "y": ["l": [4]]]]]),
    ]

    @Test(arguments: lookups) func eachKeyGetsTheValuesOfItsDocument(_ example: StepsExample) async throws {
        try await example.check { test in
            try await test.database.fill(
                "names",
                [
                    ["_id": 1, "name": "Ann", "city": "Rome"], ["_id": 2, "name": "Bob"], ["_id": 4, "name": "Eve"],
                ])
        }
    }
}
