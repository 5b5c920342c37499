import BSON
import Glibc
import TestSupport
import Testing

/// What a user brings between a chunk's journal and its write is written without a journal: undo leaves it alone and says
/// what it knows of it.
@Suite struct UndoGapTests {
    /// Runs the job over fifty numbers, while a user inserts two more documents just before the write.
    private func gap(
        of step: String, over document: @escaping (Int) -> BSONDocument, meeting more: [BSONDocument]
    ) async throws -> (told: BSONDocument?, text: String) {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 50) { document($0) }
            try test.job(steps: [step])
            let run = try await test.backfill(fault: "before-write:1:stop") { program in
                try await waitUntil("the runner stands before its write") { try program.isStopped }
                try await test.database.fill("people", more)
                program.send(SIGCONT)
            }
            #expect(run.exitCode.map { $0 < 2 } == true, "\(run.errors)")
            let text = try await test.undo(flags: ["--dry-run"], yes: false)
            let undo = try await test.undo(flags: ["--output", "json"])
            #expect(undo.exitCode == 1, "\(undo.errors)")
            let told = try test.report(undo)["written_without_journal"]?.document?.values.first?.document
            return (told, text.output)
        }
    }

    @Test func whatTheStepMayHaveWrittenIsNamed() async throws {
        let (told, text) = try await gap(
            of: "combine: {into: full, template: \"{a}-{b}\"}", over: { ["_id": .integer($0), "a": "x", "b": "y"] },
            meeting: [
                ["_id": 5.5, "a": "x", "b": "y"], ["_id": 6.5, "a": "x", "b": "y"], ["_id": 7.5, "a": ["x"], "b": 1],
                ["_id": 8.5, "a": "x", "b": "y", "full": "z"],
            ])
        #expect(told?["missing"] == 2)
        #expect(told?["candidates"] == 2)
        #expect(told?["sample_ids"]?.document?.values == [5.5, 6.5])
        #expect(text.contains("at least 2 documents"), "\(text)")
        #expect(text.contains("2 documents there look so, _id 5.5, 6.5"), "\(text)")
    }

    /// What a change in place leaves does not show that it was one, and what the step would make of it is not asked: here
    /// the server would refuse to answer.
    @Test func afterAChangeInPlaceTheDocumentsDoNotTell() async throws {
        let (told, text) = try await gap(
            of: "unwrap: {field: list}", over: { ["_id": .integer($0), "list": [1]] },
            meeting: [["_id": 5.5, "list": [1]], ["_id": 6.5, "list": 1]])
        #expect(told?["missing"] == 1)
        #expect(told?["candidates"] == .null)
        #expect(text.contains("which ones, the documents do not tell"), "\(text)")
    }
}
