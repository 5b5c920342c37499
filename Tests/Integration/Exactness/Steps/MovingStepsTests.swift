import BSON
import TestSupport
import Testing

/// Tests of steps that move values: with `remove`, into missing parents, and out of objects that are then empty.
@Suite struct MovingStepsTests {
    private static let examples = [
        StepsExample(
            steps: ["combine: {into: c, template: '{a} {b}', remove: true}"],
            before: [["a": "A", "b": "B"], ["a": "A"], ["a": "x", "b": "y", "c": "other"], ["c": "q"]],
            after: [["c": "A B"], ["a": "A"], ["a": "x", "b": "y", "c": "other"], ["c": "q"]], reports: true),
        StepsExample(
            steps: ["split: {field: d, by: '-', into: [p, q], remove: true}"],
            before: [["d": "1-2"], ["d": "3"], ["d": "4-5", "p": "4", "q": "9"], ["d": "4-5", "p": "4", "q": "5"]],
            after: [["p": "1", "q": "2"], ["d": "3"], ["d": "4-5", "p": "4", "q": "9"], ["p": "4", "q": "5"]],
            reports: true),
        StepsExample(
            steps: ["convert: {field: n, to: int, into: m, remove: true}"],
            before: [["n": "1"], ["n": "x"], ["n": "2", "m": 2], ["n": "2", "m": 3], ["n": nil]],
            after: [["m": 1], ["n": "x"], ["m": 2], ["n": "2", "m": 3], ["n": nil]], reports: true),
        StepsExample(
            steps: ["map: {field: s, values: {a: 1}, into: t, remove: true}"],
            before: [["s": "a"], ["s": "b"], ["s": "a", "t": 2]], after: [["t": 1], ["s": "b"], ["s": "a", "t": 2]],
            reports: true),
        StepsExample(
            steps: ["convert: {field: 'l.[].n', to: int, into: 'l.[].m', remove: true}"],
            before: [["l": [["n": "1"], ["n": "2"]]]], after: [["l": [["m": 1], ["m": 2]]]]),
        // A later step may change what was moved.
        StepsExample(
            steps: [
                "combine: {into: c, template: '{a} {b}', remove: true}",
                "expression: {field: c, value: {$toLower: $c}}",
            ],
            before: [["a": "A", "b": "B"]], after: [["c": "a b"]]),
        StepsExample(
            steps: ["convert: {field: n, to: string, into: s, remove: true}", "wrap: {field: s}"],
            before: [["n": 1], ["n": 1, "s": ["1"]], ["n": 1, "s": "1"], ["n": 1, "s": ["2"]]],
            after: [["s": ["1"]], ["s": ["1"]], ["s": ["1"]], ["n": 1, "s": ["2"]]], reports: true),
        StepsExample(
            steps: ["rename: {from: a, to: o.a, parents: create}", "rename: {from: b, to: o.p.b, parents: create}"],
            before: [
                ["a": 1, "b": 2], ["o": nil, "a": 1], ["o": ["z": 1], "a": 1], ["a": 1, "o": 5], ["z": 1],
                ["a": 1, "o": ["a": 3]], ["b": 4],
            ],
            after: [
                ["o": ["a": 1, "p": ["b": 2]]], ["o": ["a": 1]], ["o": ["z": 1, "a": 1]], ["a": 1, "o": 5], ["z": 1],
                ["a": 1, "o": ["a": 3]], ["o": ["p": ["b": 4]]],
            ], reports: true),
        StepsExample(
            steps: ["copy: {from: _id, to: k.id, parents: create}", "convert: {field: _id, to: string, into: k.text}"],
            before: [[:]], after: [["k": ["id": 0, "text": "0"]]]),
        // A value that is in no table, and a target without a parent.
        StepsExample(
            steps: ["map: {field: a, values: {A: 1}, into: o.y}", "unset: {field: a}"],
            before: [["a": "q", "o": 5], ["a": "A", "o": 5], ["a": "A", "o": [:]]],
            after: [["a": "q", "o": 5], ["a": "A", "o": 5], ["o": ["y": 1]]], reports: true),
        StepsExample(
            steps: ["map: {field: a, values: {A: 1}, into: o.y, remove: true}"],
            before: [["a": "q"], ["a": "q", "o": nil]], after: [["a": "q"], ["a": "q", "o": nil]]),
        StepsExample(
            steps: ["rename: {from: o.x, to: x}", "unset: {field: o, when: empty}"],
            before: [["o": ["x": 1]], ["o": ["x": 1, "y": 2]], ["o": ["x": 1], "x": 5], ["o": [:]], ["o": []]],
            after: [["x": 1], ["o": ["y": 2], "x": 1], ["o": ["x": 1], "x": 5], [:], [:]], reports: true),
    ]

    @Test(arguments: examples) func aValueGoesOnlyWhereItArrived(_ example: StepsExample) async throws {
        try await example.check()
    }
}
