import BSON
import TestSupport
import Testing

/// Tests that an `unset` destroys no value that an earlier step of the job takes over, but skipped.
///
/// The expected documents follow from the definitions of the steps.
@Suite struct RemovalAfterSkipTests {
    private struct Case: CustomTestStringConvertible, Sendable {
        var steps: [String]
        var before: [BSONDocument]
        var after: [BSONDocument]
        /// Whether a step reports a document that it skips.
        var reports = true
        var testDescription: String { steps.joined(separator: ", ") }
    }

    private static let cases = [
        Case(
            steps: ["rename: {from: a.x, to: x}", "unset: {field: a}"],
            before: [["a": ["x": 1], "x": 5], ["a": ["x": 1]], ["a": [:]]],
            after: [["a": ["x": 1], "x": 5], ["x": 1], [:]]),
        Case(
            steps: [
                "combine: {into: name, template: '{first} {last}'}", "unset: {field: first}", "unset: {field: last}",
            ],
            before: [
                ["first": "A", "last": "B"], ["first": "A"], ["last": "B"], ["first": "A", "last": "B", "name": "Z"],
            ],
            after: [["name": "A B"], ["first": "A"], ["last": "B"], ["first": "A", "last": "B", "name": "Z"]]),
        Case(
            steps: ["convert: {field: n, to: int, into: m}", "unset: {field: n}"],
            before: [["n": "5"], ["n": "x"], ["n": 7]], after: [["m": 5], ["n": "x"], ["m": 7]]),
        Case(
            steps: ["split: {field: name, by: ' ', into: [first, last]}", "unset: {field: name}"],
            before: [["name": "A B"], ["name": "ABC"]], after: [["first": "A", "last": "B"], ["name": "ABC"]]),
        Case(
            steps: ["copy: {from: a, to: b}", "convert: {field: b, to: string}", "unset: {field: a}"],
            before: [["a": 1], ["a": 1, "b": 2]], after: [["b": "1"], ["a": 1, "b": "2"]]),
        Case(
            steps: ["copy: {from: 'l.[].a', to: 'l.[].b'}", "unset: {field: 'l.[].a'}"],
            before: [["l": [["a": 1]]], ["l": [["a": 1, "b": 2], ["a": 3]]]],
            after: [["l": [["b": 1]]], ["l": [["a": 1, "b": 2], ["a": 3, "b": 3]]]]),
        // A target that another value occupies holds no part that is no text.
        Case(
            steps: ["combine: {into: c, template: '<{a}>'}", "unset: {field: a}"],
            before: [["a": ["x"], "c": "o"], ["a": "x"], ["a": 5]],
            after: [["a": ["x"], "c": "o"], ["c": "<x>"], ["c": "<5>"]], reports: false),
        // A missing parent of the target is not reported.
        Case(
            steps: ["copy: {from: a, to: b.c}", "unset: {field: a}"], before: [["a": 1], ["a": 1, "b": [:]]],
            after: [["a": 1], ["b": ["c": 1]]], reports: false),
        // The job says that the target keeps its value, and that the source goes.
        Case(
            steps: ["copy: {from: a, to: b, whenPresent: keep}", "unset: {field: a}"],
            before: [["a": 1], ["a": 1, "b": 2]], after: [["b": 1], ["b": 2]], reports: false),
    ]

    @Test(arguments: cases) private func noValueThatAStepSkippedIsRemoved(_ example: Case) async throws {
        func numbered(_ documents: [BSONDocument]) throws -> [BSONDocument] {
            try documents.enumerated().map { number, document in
                BSONDocument([("_id", .integer(number))] + (try document.elements()).map { ($0.name, $0.value) })
            }
        }
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", try numbered(example.before))
            try test.job(steps: example.steps)
            let dryRun = try await test.backfill("job", "--dry-run")
            #expect(dryRun.exitCode == (example.reports ? 1 : 0), "\(dryRun.output)")
            // The second run finds what the first one left.
            for _ in 1...2 {
                let run = try await test.backfill()
                #expect(run.exitCode == dryRun.exitCode, "\(run.output)\(run.errors)")
                #expect(try await test.database.documents("people") == numbered(example.after))
            }
            let undo = try await Program.run([
                "undo", "job", "--yes", "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
            ])
            #expect(undo.exitCode == 0, "\(undo.output)\(undo.errors)")
            #expect(try await test.database.documents("people") == numbered(example.before))
        }
    }
}
