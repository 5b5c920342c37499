import BSON
import TestSupport
import Testing

/// Tests that a dry run counts the documents that a unique index refuses in the run.
@Suite struct UniqueDryRunTests {
    private struct Case: CustomTestStringConvertible, Sendable {
        var steps: [String]
        var index: BSONDocument
        var documents: [BSONDocument]
        /// The number of documents that the run skips.
        var refused: Int
        var testDescription: String { steps.joined(separator: ", ") }
    }

    private static let lower =
        "expression: {field: email, value: {$toLower: $email}, when: {$eq: [{$type: $email}, string]}}"

    private static let cases = [
        Case(
            steps: [lower], index: ["email": 1],
            documents: ["a@x", "A@x", "B@x", "b@X", "C@x", "c"].map { ["email": $0] }, refused: 2),
        Case(steps: [lower], index: ["email": 1], documents: [["email": "A"], ["email": "B"], [:]], refused: 0),
        Case(
            steps: ["unset: {field: t.k}"], index: ["t.k": 1, "n": 1],
            documents: [["t": ["k": 1], "n": 1], ["t": ["k": 2], "n": 1], ["t": ["k": 3], "n": 2]], refused: 1),
        // The elements of a list are keys, and a key of one document counts once.
        Case(
            steps: ["convert: {field: 'l.[]', to: string}"], index: ["l": 1],
            documents: [["l": [1, "1"]], ["l": [2]], ["l": ["2", "3"]]], refused: 1),
        // The client computes the step.
        Case(
            steps: ["map: {field: who, lookup: DATABASE.names, value: name}"], index: ["who": 1],
            documents: [["who": 1], ["who": 2], ["who": "Ann"]], refused: 1),
        // No index has the field.
        Case(steps: ["default: {field: x, value: 1}"], index: ["email": 1], documents: [["email": 1]], refused: 0),
    ]

    @Test(arguments: cases) private func itCountsWhatTheRunSkips(_ example: Case) async throws {
        try await Mongod.shared.withBackfill { test in
            let documents = example.documents.enumerated().map { number, document in
                BSONDocument(
                    [("_id", .integer(number))] + ((try? document.elements()) ?? []).map { ($0.name, $0.value) })
            }
            try await test.database.fill("people", documents)
            try await test.database.fill("names", [["_id": 1, "name": "Ann"], ["_id": 2, "name": "Bob"]])
            try await test.database.run([
                "createIndexes": "people",
                "indexes": [["key": .object(example.index), "name": "own", "unique": true]],
            ])
            try test.job(steps: example.steps.map { $0.replacing("DATABASE", with: test.database.name) })
            let before = try await test.database.documents("people")
            var (skipped, changed) = ([Int](), Set<Int?>())
            for flags in [["--dry-run"], []] {
                let run = try await test.backfill(flags: flags + ["-o", "json"])
                #expect(run.exitCode == (example.refused == 0 ? 0 : 1), "\(run.output)\(run.errors)")
                let report = try BSONDocument(extendedJSON: run.output)
                let failures = report["failures"]?.document?.values ?? []
                changed.insert(report["changed"]?.integer)
                #expect(failures.allSatisfy { $0.document?["code"]?.integer == 11_000 }, "\(run.output)")
                skipped.append(failures.reduce(0) { $0 + ($1.document?["documents"]?.integer ?? 0) })
                if flags == ["--dry-run"] { #expect(try await test.database.documents("people") == before) }
            }
            #expect(skipped == [example.refused, example.refused])
            #expect(changed.count == 1)
        }
    }

    @Test func anIndexWithACollationIsNamed() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", [["_id": 1, "email": "A"]])
            try await test.database.run([
                "createIndexes": "people",
                "indexes": [["key": ["email": 1], "name": "own", "unique": true, "collation": ["locale": "en"]]],
            ])
            try test.job(steps: [Self.lower])
            let run = try await test.backfill("job", "--dry-run")
            #expect(run.exitCode == 0)
            #expect(
                (run.output + run.errors).contains("unique index own: what it would refuse is not counted"), "\(run)")
        }
    }
}
