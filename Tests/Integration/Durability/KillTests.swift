import BSON
import Glibc
import TestSupport
import Testing

/// Tests that `kill -9` at any moment of a backfill loses no document and changes none twice.
@Suite struct KillTests {
    private static let documents = TestScale.pick(3_500, full: 5_000, torture: 30_000)
    private static let rounds = TestScale.pick(15, full: 24, torture: 120)
    private static let limits = "{chunk: {documents: 20}}"

    /// The moment at which a run of the job is killed.
    private enum Death: Equatable {
        /// The run is killed after the server answered the write of a chunk, and before the commit of that chunk.
        case betweenWriteAndCheckpoint(chunk: Int)
        /// The test kills the run shortly after the given number of checkpoints, wherever the program is at that
        /// moment.
        case fromOutside(chunks: Int)
        /// The run is killed right after the checkpoint of a chunk.
        case afterCheckpoint(chunk: Int)

        static func round(_ number: Int) -> Death {
            switch number % 3 {
            case 0: .betweenWriteAndCheckpoint(chunk: 2 + number % 4)
            case 1: .fromOutside(chunks: 8 + number % 10)
            default: number % 2 == 0 ? .afterCheckpoint(chunk: 3) : .fromOutside(chunks: 12)
            }
        }
    }

    @Test(.timeLimit(.minutes(TestScale.pick(60, full: 60, torture: 120))))
    func aBackfillKilledManyTimesEndsLikeOneThatNeverStopped() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: Self.documents, KillDocuments.document)
            try await test.database.fill("whole", count: Self.documents, KillDocuments.document)
            try test.job(steps: KillDocuments.steps, limits: Self.limits)
            try test.job("whole", on: "whole", steps: KillDocuments.steps)
            let original = try await test.database.documents("people")
            let whole = try await test.backfill("whole")
            #expect(whole.exitCode == 0, "\(whole.errors)")

            var between = 0
            for number in 0..<Self.rounds {
                let death = Death.round(number)
                try await die(death, in: test)
                if case .betweenWriteAndCheckpoint = death { between += 1 }
            }
            let chunks = try #require(try await test.checkpoint()).chunks
            #expect(between >= 5)

            let last = try await test.backfill()
            #expect(last.exitCode == 0, "\(last.errors)")
            #expect(last.errors.contains("resuming after \(chunks) chunk"))
            let end = try #require(try await test.checkpoint())
            #expect(end.state == "done")
            let killed = try await test.database.documents("people")
            let expected = try await test.database.documents("whole")
            #expect(killed.count == Self.documents)
            #expect(killed == expected)
            #expect(zip(killed, original).count { $0 != $1 } == Self.documents)
            FaultTable.note("backfill", "kill -9 anywhere", tries: Self.rounds, continued: 0)
        }
    }

    /// Runs the job until it is killed at the given moment, and then checks the job's checkpoint and the documents.
    private func die(_ death: Death, in test: BackfillCase) async throws {
        let before = try await test.checkpoint()
        let start = before?.chunks ?? 0
        // The lease is long. On a loaded machine, a write and a renewal may take longer than a short lease, which would
        // end the run before the kill.
        let lease = ["SHIPSHAPE_LEASE_TTL=60s"]
        let run: ProgramRun
        switch death {
        case .betweenWriteAndCheckpoint(let chunk):
            run = try await test.backfill(flags: lease, fault: "after-write:\(chunk)")
        case .afterCheckpoint(let chunk):
            run = try await test.backfill(flags: lease, fault: "after-checkpoint:\(chunk)")
        case .fromOutside(let chunks):
            run = try await test.backfill(flags: lease, fault: "after-checkpoint:\(chunks):stop") { program in
                try await waitUntil("the program is stopped") { try program.isStopped }
                program.send(SIGCONT)
                // The test kills the program after a random pause. The pause is so short that the job cannot end in it.
                usleep(.random(in: 0..<20_000))
                program.send(SIGKILL)
            }
        }
        #expect(run.wasKilled, "\(run.status): \(run.errors)")
        // The killed runner still has its lease. The test ends that lease after the runner's last command has ended.
        try await test.mongod.waitForNoCommand(of: test.appName)
        try await test.endLease(of: "job")
        let after = try #require(try await test.checkpoint())
        #expect(after.isInside)
        #expect(after.chunks > start)
        #expect(after.modified > before?.modified ?? 0)
        if let before { #expect(run.errors.contains("resuming after \(before.chunks) chunk"), "\(run.errors)") }
        // Exactly the documents that the checkpoint counts are written, whenever the run was killed.
        let written = try await test.database.count("people", ["scoreText": ["$exists": true]])
        #expect(written == after.modified)
    }
}
