import BSON
import Glibc
import TestSupport
import Testing

/// A user inserts documents after a job has journaled a chunk, and before the job writes the chunk.
///
/// The write of the chunk does not change the inserted documents. The job journals and changes them separately, and
/// undo restores everything that the job wrote.
@Suite struct UndoGapTests {
    /// Runs and undoes a job over fifty documents; a user changes the collection just before the job writes a chunk.
    ///
    /// - Parameters:
    ///   - more: the documents that the user inserts.
    ///   - gone: the `_id`s of the documents that the user deletes.
    private func undoing(
        _ step: String, over document: @escaping (Int) -> BSONDocument, meeting more: [BSONDocument],
        without gone: [Int]
    ) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 50) { document($0) }
            try test.job(steps: [step])
            let run = try await test.backfill(fault: "before-write:1:stop") { program in
                try await waitUntil("the runner stands before its write") { try program.isStopped }
                try await test.database.fill("people", more)
                try await test.database.run([
                    "delete": "people",
                    "deletes": [["q": ["_id": ["$in": .array(of: gone.map { .integer($0) })]], "limit": 0]],
                ])
                program.send(SIGCONT)
            }
            #expect(run.exitCode.map { $0 < 2 } == true, "\(run.errors)")
            let changed = try await test.database.documents("people")
            let undo = try await test.undo(flags: ["--output", "json"])
            let reported = try test.report(undo)
            // The job never changed the documents that the user deleted before the write of the chunk, so undo does not
            // report them.
            #expect(reported["left_alone"]?.document?.values == [])
            let original = (0..<50).filter { !gone.contains($0) }.map { document($0) } + more
            #expect(Set(try await test.database.documents("people")) == Set(original))
            #expect(Set(changed).intersection(original).count <= 2, "the job did its work on all that need it")
        }
    }

    @Test func documentsThatArriveBeforeTheWriteAreUndoneToo() async throws {
        try await undoing(
            "combine: {into: full, template: \"{a}-{b}\"}", over: { ["_id": .integer($0), "a": "x", "b": "y"] },
            meeting: [
                ["_id": 5.5, "a": "x", "b": "y"], ["_id": 6.5, "a": "x", "b": "y"], ["_id": 7.5, "a": ["x"], "b": 1],
                ["_id": 8.5, "a": "x", "b": "y", "full": "z"],
            ], without: [3])
    }

    /// A user deletes two documents and inserts two others, so the number of documents does not change.
    ///
    /// Undo still restores every value that the job changed.
    @Test func afterAChangeInPlaceToo() async throws {
        try await undoing(
            "unwrap: {field: list}", over: { ["_id": .integer($0), "list": [1]] },
            meeting: [["_id": 5.5, "list": [1]], ["_id": 6.5, "list": 1]], without: [7, 8])
    }
}
