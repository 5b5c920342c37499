import BSON
import TestSupport
import Testing

/// Tests that a step does not report what later steps of its job make of its value.
@Suite struct LaterStepsTests {
    private static let examples = [
        StepsExample(
            steps: ["copy: {from: a, to: b}", "expression: {field: b, value: {$toLower: $b}}"],
            before: [["a": "X"], ["a": "Y", "b": "z"], ["a": "Q", "b": "q"], ["b": "P"], ["a": "R", "b": "R"]],
            after: [
                ["a": "X", "b": "x"], ["a": "Y", "b": "z"], ["a": "Q", "b": "q"], ["b": "p"], ["a": "R", "b": "r"],
            ],
            reports: true),
        StepsExample(
            steps: ["copy: {from: a, to: b}", "expression: {field: b, value: {$toLower: $b}}"],
            before: [["a": "X"], ["a": "Q", "b": "q"]], after: [["a": "X", "b": "x"], ["a": "Q", "b": "q"]]),
        StepsExample(
            steps: ["split: {field: d, by: '-', into: [p, q]}", "convert: {field: q, to: int}"],
            before: [["d": "1-2"], ["p": "1", "q": 2, "d": "1-2"]],
            after: [["d": "1-2", "p": "1", "q": 2], ["p": "1", "q": 2, "d": "1-2"]]),
        // One part differs from what the steps make of the text.
        StepsExample(
            steps: ["split: {field: d, by: '-', into: [p, q]}", "convert: {field: q, to: int}"],
            before: [["d": "1-2", "p": "1", "q": 3]], after: [["d": "1-2", "p": "1", "q": 3]], reports: true),
        StepsExample(
            steps: [
                "combine: {into: c, template: '{a} {b}'}", "expression: {field: c, value: {$trim: {input: $c}}}",
                "map: {field: c, values: {'A B': one}, unmapped: keep}",
            ],
            before: [["a": "A", "b": "B"], ["a": " A", "b": "C "]],
            after: [["a": "A", "b": "B", "c": "one"], ["a": " A", "b": "C ", "c": "A C"]]),
        StepsExample(
            steps: ["convert: {field: n, to: string, into: m}", "wrap: {field: m}"], before: [["n": 1]],
            after: [["n": 1, "m": ["1"]]]),
        StepsExample(
            steps: ["copy: {from: n, to: m}", "default: {field: m, value: 0, when: missingOrNull}"],
            before: [["n": nil], ["n": 4], [:]], after: [["n": nil, "m": 0], ["n": 4, "m": 4], ["m": 0]]),
        // The later step has a condition, and reads another field.
        StepsExample(
            steps: [
                "copy: {from: a, to: b}", "expression: {field: b, value: {$add: [$a, $c]}}\n    where: {c: {$gt: 0}}",
            ],
            before: [["a": 1, "c": 2], ["a": 1, "c": 0]],
            after: [["a": 1, "c": 2, "b": 3], ["a": 1, "c": 0, "b": 1]]),
        StepsExample(
            steps: ["copy: {from: 'l.[].a', to: 'l.[].b'}", "convert: {field: 'l.[].b', to: string}"],
            before: [["l": [["a": 1], ["a": 2, "b": "2"]]]],
            after: [["l": [["a": 1, "b": "1"], ["a": 2, "b": "2"]]]]),
        StepsExample(
            steps: ["copy: {from: a, to: o.b}", "expression: {field: o.b, value: {$toLower: $o.b}}"],
            before: [["a": "X", "o": ["z": 1]]], after: [["a": "X", "o": ["z": 1, "b": "x"]]]),
        // With `replace`, the step writes what the later step makes of the value.
        StepsExample(
            steps: [
                "copy: {from: a, to: b, whenPresent: replace}", "expression: {field: b, value: {$toLower: $b}}",
            ],
            before: [["a": "X", "b": "y"], ["a": "X", "b": "x"]], after: [["a": "X", "b": "x"], ["a": "X", "b": "x"]]),
        // An `unset` after a change of the target removes the source only where it arrived.
        StepsExample(
            steps: [
                "copy: {from: a, to: b}", "expression: {field: b, value: {$toLower: $b}}", "unset: {field: a}",
                "expression: {field: b, value: {$concat: [$b, '.']}, when: {$eq: [{$strLenBytes: $b}, 1]}}",
            ],
            before: [["a": "X"], ["a": "X", "b": "y."]], after: [["b": "x."], ["a": "X", "b": "y."]], reports: true),
    ]

    /// The steps make the same of the target's own value and of the value that the first step has.
    private static let alike = [
        StepsExample(
            steps: [
                "copy: {from: a, to: b}", "map: {field: b, values: {A: X, B: X}, unmapped: keep}", "unset: {field: a}",
            ],
            before: [["a": "A", "b": "B"], ["a": "A"], ["a": "A", "b": "C"]],
            after: [["b": "X"], ["b": "X"], ["a": "A", "b": "C"]], reports: true),
        StepsExample(
            steps: ["rename: {from: a, to: c}", "convert: {field: c, to: int}"],
            before: [["a": 8.0, "c": 8], ["a": 8.0], ["a": 8, "c": "8"]], after: [["c": 8], ["c": 8], ["c": 8]]),
        StepsExample(
            steps: ["rename: {from: a, to: c}", "convert: {field: c, to: int}"],
            before: [["a": 8.0, "c": 9]], after: [["a": 8.0, "c": 9]], reports: true),
        StepsExample(
            steps: ["copy: {from: a, to: b}", "convert: {field: b, to: int}", "unset: {field: a}"],
            before: [["a": "5", "b": 5.0]], after: [["b": 5]]),
    ]

    @Test(arguments: alike) func aTargetThatEndsAlikeIsNoConflict(_ example: StepsExample) async throws {
        try await example.check()
    }

    /// The job wrote in the list, but another client wrote the first element.
    @Test func aRefreshLeavesTheElementsOfLists() async throws {
        try await StepsExample(
            steps: ["copy: {from: 'l.[].m', to: 'l.[].k', whenPresent: refresh}"],
            before: [["l": [["k": 1, "m": 5], ["m": 6]]]], after: [["l": [["k": 1, "m": 5], ["m": 6, "k": 6]]]],
            reports: true
        ).check()
    }

    @Test(arguments: examples) func whatTheWholeJobMakesIsNoConflict(_ example: StepsExample) async throws {
        try await example.check()
    }
}
