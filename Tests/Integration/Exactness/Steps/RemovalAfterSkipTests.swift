import BSON
import TestSupport
import Testing

/// Tests that an `unset` destroys no value that an earlier step of the job takes over, but skipped.
///
/// The expected documents follow from the definitions of the steps.
@Suite struct RemovalAfterSkipTests {
    private static let examples = [
        // A list has no gaps, so no step removes an element by its number.
        StepsExample(
            steps: ["unset: {field: a.0}"], before: [["a": [1, 2]], ["a": ["0": 1]], ["a": 5]],
            after: [["a": [1, 2]], ["a": [:]], ["a": 5]], reports: true),
        StepsExample(
            steps: ["rename: {from: a.x, to: x}", "unset: {field: a}"],
            before: [["a": ["x": 1], "x": 5], ["a": ["x": 1]], ["a": [:]]],
            after: [["a": ["x": 1], "x": 5], ["x": 1], [:]], reports: true),
        StepsExample(
            steps: [
                "combine: {into: name, template: '{first} {last}'}", "unset: {field: first}", "unset: {field: last}",
            ],
            before: [
                ["first": "A", "last": "B"], ["first": "A"], ["last": "B"], ["first": "A", "last": "B", "name": "Z"],
            ],
            after: [["name": "A B"], ["first": "A"], ["last": "B"], ["first": "A", "last": "B", "name": "Z"]],
            reports: true),
        StepsExample(
            steps: ["convert: {field: n, to: int, into: m}", "unset: {field: n}"],
            before: [["n": "5"], ["n": "x"], ["n": 7]], after: [["m": 5], ["n": "x"], ["m": 7]], reports: true),
        StepsExample(
            steps: ["split: {field: name, by: ' ', into: [first, last]}", "unset: {field: name}"],
            before: [["name": "A B"], ["name": "ABC"]], after: [["first": "A", "last": "B"], ["name": "ABC"]],
            reports: true),
        StepsExample(
            steps: ["copy: {from: a, to: b}", "convert: {field: b, to: string}", "unset: {field: a}"],
            before: [["a": 1], ["a": 1, "b": 2]], after: [["b": "1"], ["a": 1, "b": "2"]], reports: true),
        StepsExample(
            steps: ["copy: {from: 'l.[].a', to: 'l.[].b'}", "unset: {field: 'l.[].a'}"],
            before: [["l": [["a": 1]]], ["l": [["a": 1, "b": 2], ["a": 3]]]],
            after: [["l": [["b": 1]]], ["l": [["a": 1, "b": 2], ["a": 3, "b": 3]]]], reports: true),
        // A target that another value occupies holds no part that is no text.
        StepsExample(
            steps: ["combine: {into: c, template: '<{a}>'}", "unset: {field: a}"],
            before: [["a": ["x"], "c": "o"], ["a": "x"], ["a": 5]],
            after: [["a": ["x"], "c": "o"], ["c": "<x>"], ["c": "<5>"]]),
        // A missing parent of the target is not reported.
        StepsExample(
            steps: ["copy: {from: a, to: b.c}", "unset: {field: a}"], before: [["a": 1], ["a": 1, "b": [:]]],
            after: [["a": 1], ["b": ["c": 1]]]),
        // The job says that the target keeps its value, and that the source goes.
        StepsExample(
            steps: ["copy: {from: a, to: b, whenPresent: keep}", "unset: {field: a}"],
            before: [["a": 1], ["a": 1, "b": 2]], after: [["b": 1], ["b": 2]]),
    ]

    @Test(arguments: examples) func noValueThatAStepSkippedIsRemoved(_ example: StepsExample) async throws {
        try await example.check()
    }
}
