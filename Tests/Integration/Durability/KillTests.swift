import BSON
import Glibc
import TestSupport
import Testing

/// The promise that everything else rests on: `kill -9` at any moment loses nothing and does nothing twice.
@Suite struct KillTests {
    private static let documents = TestScale.pick(3_500, full: 5_000, torture: 30_000)
    private static let rounds = TestScale.pick(15, full: 24, torture: 120)
    private static let limits = "{chunk: {documents: 20}}"

    /// How a round of the loop dies.
    private enum Death: Equatable {
        /// Between an acknowledged write and its checkpoint.
        case betweenWriteAndCheckpoint(chunk: Int)
        /// From outside, a moment after so many more checkpoints, wherever it is then.
        case fromOutside(chunks: Int)
        /// Right behind a checkpoint.
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
            FaultTable.tell("backfill", "kill -9 anywhere", tries: Self.rounds, wentOn: 0)
        }
    }

    /// Runs until that death, and looks at what the dead left.
    private func die(_ death: Death, in test: BackfillCase) async throws {
        let before = try await test.checkpoint()
        let start = before?.chunks ?? 0
        // A short lease may be lost before the kill: it leaves a write and a renewal too little time on a loaded
        // machine.
        let lease = ["--lease-ttl", "60s"]
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
                // The pause chooses the place of the death. It is too short for the rest of the job.
                usleep(.random(in: 0..<20_000))
                program.send(SIGKILL)
            }
        }
        #expect(run.wasKilled, "\(run.status): \(run.errors)")
        // A lease outlives the last write of its runner.
        try await test.mongod.waitForNoCommand(of: test.appName)
        try await test.endLease(of: "job")
        let after = try #require(try await test.checkpoint())
        #expect(after.isInside)
        #expect(after.chunks > start)
        #expect(after.modified > before?.modified ?? 0)
        if let before { #expect(run.errors.contains("resuming after \(before.chunks) chunk"), "\(run.errors)") }
        // What the checkpoint counts is written; behind a death between the two more is, and the checkpoint does not know it.
        let written = try await test.database.count("people", ["scoreText": ["$exists": true]])
        #expect(written >= after.modified)
        if case .betweenWriteAndCheckpoint = death { #expect(written > after.modified) }
    }
}
