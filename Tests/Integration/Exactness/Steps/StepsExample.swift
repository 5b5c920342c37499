import BSON
import TestSupport
import Testing

/// Steps of a job with documents before and after it, which follow from the definitions of the steps.
struct StepsExample: CustomTestStringConvertible, Sendable {
    var steps: [String]
    var before: [BSONDocument]
    var after: [BSONDocument]
    /// Whether a step reports a document that it skips.
    var reports = false

    var testDescription: String { steps.joined(separator: ", ") }

    /// Checks that the dry run, the run and a second run end alike, and that `undo` restores each document.
    /// - Parameter prepare: puts more documents into the database.
    func check(preparing prepare: (BackfillCase) async throws -> Void = { _ in }) async throws {
        func numbered(_ documents: [BSONDocument]) throws -> [BSONDocument] {
            try documents.enumerated().map { number, document in
                BSONDocument([("_id", .integer(number))] + (try document.elements()).map { ($0.name, $0.value) })
            }
        }
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", try numbered(before))
            try await prepare(test)
            try test.job(steps: steps.map { $0.replacing("DATABASE", with: test.database.name) })
            let dryRun = try await test.backfill("job", "--dry-run")
            #expect(dryRun.exitCode == (reports ? 1 : 0), "\(dryRun.output)\(dryRun.errors)")
            // The second run finds what the first one left.
            for _ in 1...2 {
                let run = try await test.backfill()
                #expect(run.exitCode == dryRun.exitCode, "\(run.output)\(run.errors)")
                if !reports { #expect(!run.output.contains("changed after the copy"), "\(run.output)") }
                #expect(try await test.database.documents("people") == numbered(after))
            }
            let undo = try await Program.run([
                "undo", "job", "--yes", "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
            ])
            #expect(undo.exitCode == 0, "\(undo.output)\(undo.errors)")
            #expect(try await test.database.documents("people") == numbered(before))
        }
    }
}
