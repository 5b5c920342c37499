import BSON
import Glibc
import TestSupport
import Testing

@testable import Backfill
@testable import JobState
@testable import Jobs

/// Tests that the runner waits for a majority once for both the write of a chunk and its checkpoint.
///
/// The wait confirms the chunk only if there was no election between the chunk's write and the checkpoint.
@Suite(.serialized) struct ChunkTermTests {
    private static let server = Task { try await Mongod.start() }

    /// A chunk is written again if an election comes before its checkpoint.
    ///
    /// After an election, the old primary rolls back its writes that a majority had not replicated. The replica set has
    /// no other member, so the test reverts the chunk's writes itself.
    @Test func aChunkIsRunAgainWhenAnElectionComesBeforeItsCheckpoint() async throws {
        try await Self.server.value.withBackfill { test in
            try await test.database.fill("people", count: 100)
            try test.job(steps: [#"default: {field: email, value: ""}"#], limits: "{chunk: {documents: 20}}")
            let run = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s", fault: "after-write:3:stop") {
                program in
                try await waitUntil("the runner has written its third chunk") { try program.isStopped }
                try await test.mongod.stepDown()
                try await test.database.run([
                    "update": "people",
                    "updates": [
                        ["q": ["_id": ["$gte": 40, "$lt": 60]], "u": ["$unset": ["email": 1]], "multi": true]
                    ],
                ])
                program.send(SIGCONT)
            }
            #expect(run.exitCode == 0, "\(run.status): \(run.errors)")
            #expect(run.errors.contains("an election came between the writes of a chunk"), "\(run.errors)")
            #expect(try await test.database.count("people", ["email": ""]) == 100)
            // The runner wrote the chunk again in the same pass, so it needed no second pass for the documents whose
            // changes were lost.
            #expect(try await test.checkpoint()?.pass == 1)
            #expect(try await test.checkpoint()?.chunks == 5)
        }
    }

    @Test func oneTermConfirmsAll() {
        let first: BSONDocument = ["opTime": ["ts": 1, "t": 4], "electionId": 7]
        let later: BSONDocument = ["opTime": ["ts": 2, "t": 5], "electionId": 8]
        var terms = ChunkTerms()
        #expect(terms.areConfirmed(by: first))
        terms.add(first)
        terms.add(first)
        #expect(terms.areConfirmed(by: first))
        #expect(!terms.areConfirmed(by: later))
        #expect(!terms.areConfirmed(by: ["ok": 1]))
        terms.add(["ok": 1])
        #expect(!terms.areConfirmed(by: first))
    }
}
