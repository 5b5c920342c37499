import BSON
import Glibc
import TestSupport
import Testing

/// Tests that jobs are paused, resumed and tuned through the state database, and that a job's log records each request.
@Suite struct SteeringTests {
    private static let step = #"default: {field: email, value: ""}"#

    private func withPeople(
        limits: String = "{chunk: {documents: 10}, nice: 4}", _ body: (BackfillCase) async throws -> Void
    ) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 400)
            try test.job(steps: [Self.step], limits: limits)
            try await body(test)
        }
    }

    private func stopHalfway(_ test: BackfillCase) async throws {
        #expect(try await test.stoppedHalfway().exitCode == 75)
    }

    @Test func aRunOfAPausedJobEndsWith75AndWritesNothing() async throws {
        try await withPeople { test in
            try await stopHalfway(test)
            let before = try await test.database.documents("people")
            let paused = try await test.steer("pause", "job", "--note", "until the sale is over")
            #expect(paused.exitCode == 0)
            #expect(paused.output.hasPrefix("job job is paused; resume it with: shipshape job resume job"))
            #expect(try await test.status()["state"] == "paused")

            let refused = try await test.backfill()
            #expect(refused.exitCode == 75)
            #expect(refused.errors.contains("job \"job\" is paused by "))
            #expect(refused.errors.contains("(until the sale is over)"))
            #expect(refused.errors.contains("shipshape job resume job"))
            #expect(try await test.database.documents("people") == before)

            let resumed = try await test.steer("resume", test.path())
            #expect(resumed.exitCode == 0)
            #expect(try await test.backfill().exitCode == 0)
            #expect(try await test.database.count("people", ["email": ""]) == 400)
            #expect(try await test.log() == ["paused: until the sale is over", "resumed"])
        }
    }

    @Test func statusShowsThePersonAndTimeOfAPause() async throws {
        try await withPeople { test in
            try await stopHalfway(test)
            try await test.steer("pause", "job", "--note", "lunch")
            let paused = try #require(try await test.status()["paused"]?.document)
            #expect(paused["by"]?.text?.contains("@") == true)
            #expect(paused["note"] == "lunch")
            let text = try await test.steer("status", "job").output
            #expect(text.contains(": paused\n"))
            #expect(text.contains("  paused by \(paused["by"]?.text ?? "?") since "))
            #expect(text.contains(" UTC (lunch)\n"))
        }
    }

    @Test func resumingWhatIsNotPausedChangesNothing() async throws {
        try await withPeople { test in
            try await stopHalfway(test)
            let run = try await test.steer("resume", "job")
            #expect(run.exitCode == 0)
            #expect(run.output == "job job is not paused: nothing changed\n")
            #expect(try await test.log() == [])
        }
    }

    @Test func aJobThatWasNeverBegunCannotBeSteered() async throws {
        try await withPeople { test in
            try await stopHalfway(test)
            for command in [
                ["job", "pause", "jbo"], ["job", "resume", "jbo"], ["job", "tune", "jbo", "nice=1"],
                ["job", "tune", "jbo"],
            ] {
                let run = try await Program.run(
                    command + ["--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)"])
                #expect(run.exitCode == 65, "\(command)")
                #expect(run.errors.contains("no job \"jbo\" was started"), "\(run.errors)")
                #expect(run.errors.contains("did you mean \"job\"?"), "\(run.errors)")
            }
        }
    }

    @Test func aRunnerTakesNewLimitsOverWithinAChunk() async throws {
        // With these limits, the job would take longer than the time limit of the test. The time of a chunk does not
        // limit its size, because the machine may be busy.
        try await withPeople(limits: "{chunk: {documents: 1, time: 10s}, nice: 100}") { test in
            try await test.database.fill("others", count: 1)
            let run = try await test.backfill { _ in
                try await test.waitForChunks(1)
                let tuned = try await test.steer("tune", "job", "nice=0", "chunk.documents=200")
                #expect(tuned.exitCode == 0, "\(tuned.errors)")
                #expect(tuned.output == "chunk.documents=200 (set by tune)\nnice=0 (set by tune)\n")
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            let checkpoint = try #require(try await test.checkpoint())
            #expect(checkpoint.state == "done")
            // The job has 400 documents. With its own limit of one document for each chunk, it would need 400 chunks.
            #expect(checkpoint.chunks < 100)
            #expect(try await test.status()["overrides"] == ["nice": "0", "chunk.documents": "200"])
            #expect(try await test.log() == ["set nice=0 chunk.documents=200"])
        }
    }

    @Test func limitsAreReadAndWrittenAlike() async throws {
        try await withPeople { test in
            try await stopHalfway(test)
            #expect(try await test.steer("tune", "job", "nice=?").output == "nice=4\n")
            try await test.steer("tune", "job", "reserve=500")
            let all = try await test.steer("tune", "job").output.split(separator: "\n")
            #expect(all.contains("chunk.documents=10"))
            #expect(all.contains("reserve=500 (set by tune)"))
            #expect(try await test.steer("tune", "job", "reserve=").output == "reserve=10%\n")
        }
    }

    @Test(arguments: [
        ("nise=1", "there is no limit \"nise\" (did you mean \"nice\"?)"),
        ("nice=often", "\"nice\" must be a number from 0 to 100"),
        ("chunk.documents=0", "\"documents\" must be a whole number of at least 1"),
        ("reserve=100%", "the reserve is not below the limit of 100000 unsynced documents"),
        ("chunk=5", "there is no limit \"chunk\""),
        ("nice={a: 1}", "set each limit by its own name"),
        ("nice", "The value 'nice' is invalid for '<limit=value>'"),
    ])
    func aLimitThatAJobFileCouldNotStateIsRefused(_ assignment: String, _ message: String) async throws {
        try await withPeople { test in
            try await stopHalfway(test)
            let run = try await test.steer("tune", "job", "unsynced=100000", assignment)
            #expect(run.exitCode == 64)
            #expect(run.errors.contains(message), "\(run.errors)")
            #expect(try await test.log() == [])
        }
    }
}
