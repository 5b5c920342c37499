import BSON
import Glibc
import TestSupport
import Testing

/// Tests that a chunk is one transaction: what a run wrote, its journal and its checkpoint are always the same.
@Suite struct FencedRunTests {
    /// A run continues from the job's record if an election undid its last chunk.
    ///
    /// After an election, the old primary rolls back the transactions that a majority had not replicated. The replica
    /// set has no other member, so the test takes back the third chunk itself: its documents, its journal entry and the
    /// checkpoint.
    @Test func aRunGoesOnFromWhatAnElectionLeft() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 100)
            try test.job(steps: [#"default: {field: email, value: ""}"#], limits: "{chunk: {documents: 20}}")
            let run = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s", fault: "before-write:4:stop") {
                program in
                try await waitUntil("the runner writes its fourth chunk") { try program.isStopped }
                try await endTransactions(of: test)
                try await takeBackChunk(3, of: 20, in: test)
                program.send(SIGCONT)
            }
            #expect(run.exitCode == 0, "\(run.status): \(run.errors)")
            #expect(run.errors.contains("an election"), "\(run.errors)")
            #expect(run.output.contains("changed 100 of 100"), "\(run.output)")
            #expect(try await test.database.count("people", ["email": ""]) == 100)
            #expect(try await test.checkpoint()?.modified == 100)
            let undo = try await test.undo()
            #expect(undo.exitCode == 0, "\(undo.output) \(undo.errors)")
            #expect(try await test.database.count("people", ["email": ["$exists": true]]) == 0)
        }
    }

    /// The run does not compare the number of its checkpoint, so it does not notice that an election undid a chunk.
    @Test func withoutTheNumberARollbackWouldNotBeSeen() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 100)
            try test.job(steps: [#"default: {field: email, value: ""}"#], limits: "{chunk: {documents: 20}}")
            let run = try await test.backfill(
                "job", flags: ["SHIPSHAPE_LEASE_TTL=60s"], fault: "before-write:4:stop", plant: "no-sequence"
            ) { program in
                try await waitUntil("the runner writes its fourth chunk") { try program.isStopped }
                try await endTransactions(of: test)
                try await takeBackChunk(3, of: 20, in: test)
                program.send(SIGCONT)
            }
            #expect(!run.output.contains("changed 100 of 100"), "\(run.output)")
        }
    }

    /// The next runner ends the transaction of a killed runner, long before the server would.
    ///
    /// Until then, users who write the same documents wait.
    @Test(arguments: [true, false])
    func aKilledRunnersDocumentsAreFreedByTheNextRunner(_ undoes: Bool) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 100)
            try test.job(steps: [#"default: {field: email, value: ""}"#], limits: "{chunk: {documents: 20}}")
            let killed = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=2s", fault: "after-write:2:kill")
            #expect(killed.exitCode != 0)
            #expect(try await test.database.count("people", ["email": ""]) == 20)
            let start = ContinuousClock.now
            async let user: Void = {
                _ = try await test.database.run([
                    "update": "people",
                    "updates": [["q": ["_id": ["$gte": 0, "$lt": 100]], "u": ["$set": ["seen": 1]], "multi": true]],
                ])
            }()
            let next = undoes ? try await test.undo() : try await test.backfill()
            #expect(next.exitCode == 0, "\(next.output) \(next.errors)")
            try await user
            #expect(start.duration(to: .now) < .seconds(30))
            #expect(try await test.database.count("people", ["seen": 1]) == 100)
            #expect(try await test.database.count("people", ["email": ""]) == (undoes ? 0 : 100))
            #expect(try await test.state.documents("sessions").isEmpty)
        }
    }

    private func endTransactions(of test: BackfillCase) async throws {
        for record in try await test.state.documents("sessions") {
            guard let id = record["lsid"]?.document?["id"] else { continue }
            try await test.state.run(["killSessions": [["id": id]]])
        }
    }

    private func takeBackChunk(_ number: Int, of size: Int, in test: BackfillCase) async throws {
        let journal = try await test.state.documents("journal", ["_id.seq": .integer(number)])
        for entry in journal {
            for group in entry["groups"]?.document?.values ?? [] {
                try await test.database.run([
                    "update": "people",
                    "updates": [
                        [
                            "q": ["_id": ["$in": group.document?["i"] ?? []]], "u": ["$unset": ["email": 1]],
                            "multi": true,
                        ]
                    ],
                ])
            }
        }
        try await test.state.run([
            "delete": "journal", "deletes": [["q": ["_id.seq": .integer(number)], "limit": 0]],
        ])
        let changes: BSONDocument = [
            "seq": .integer(number - 1), "chunks": .integer(number - 1), "journaled": .integer(number - 1),
            "modified": .integer((number - 1) * size), "updates": .integer((number - 1) * size),
        ]
        try await test.state.run([
            "update": "ranges", "updates": [["q": [:], "u": ["$set": .object(changes)]]],
        ])
    }
}
