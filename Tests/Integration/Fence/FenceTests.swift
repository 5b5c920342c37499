import BSON
import Glibc
import Mongo
import ServerSchema
import TestSupport
import Testing

@testable import Backfill
@testable import JobState
@testable import Jobs
@testable import Steps

/// A runner whose lease has ended changes nothing, no matter when its write reaches the server.
@Suite struct FenceTests {
    private static let documents = 200

    private func withPeople(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: Self.documents)
            try test.job(
                steps: [#"default: {field: email, value: ""}"#], limits: "{chunk: {documents: 5}, nice: 4}")
            try await body(test)
        }
    }

    /// Runs the job to its end with a second runner, and then reverts half of the documents as a user.
    /// - Returns: the documents after the user's change.
    private func overtake(_ test: BackfillCase) async throws -> [BSONDocument] {
        let second = try await test.backfill("job", "SHIPSHAPE_LEASE_WAIT=20s", uri: test.mongod.uri)
        #expect(second.exitCode == 0, "\(second.errors)")
        #expect(try await test.database.count("people", ["email": ""]) == Self.documents)
        try await test.database.run([
            "update": "people",
            "updates": [["q": ["_id": ["$mod": [2, 0]]], "u": ["$unset": ["email": ""]], "multi": true]],
        ])
        return try await test.database.documents("people")
    }

    private func expectFencedOff(_ run: ProgramRun, _ test: BackfillCase, asLeft people: [BSONDocument]) async throws {
        #expect(run.exitCode == 76, "\(run.status): \(run.errors)")
        #expect(run.errors.contains("took over"))
        #expect(try await test.database.documents("people") == people)
        #expect(try await test.checkpoint()?.state == "done")
        FaultTable.note("backfill", "SIGSTOP past the lease, which another takes", tries: 1, continued: 0)
    }

    @Test(arguments: [0, 80, 160]) func aRunnerThatSleptPastItsLeaseChangesNothing(_ milliseconds: Int) async throws {
        try await withPeople { test in
            var people: [BSONDocument] = []
            let first = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=2s", held: true) { program in
                try await test.slowly(program) {
                    try await test.waitForChunks(3)
                    try await Task.sleep(for: .milliseconds(milliseconds))
                    program.send(SIGSTOP)
                }
                defer { program.send(SIGCONT) }
                people = try await overtake(test)
            }
            try await expectFencedOff(first, test, asLeft: people)
        }
    }

    @Test func aWriteThatArrivesAfterTheLeaseChangesNothing() async throws {
        try await withPeople { test in
            var people: [BSONDocument] = []
            // The runner has checked its lease, and sleeps before it sends the fourth chunk.
            let first = try await test.backfill(fault: "before-write:4") { program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                let chunks = try await test.checkpoint()?.chunks
                #expect(chunks == 3)
                defer { program.send(SIGCONT) }
                people = try await overtake(test)
            }
            try await expectFencedOff(first, test, asLeft: people)
        }
    }
}
