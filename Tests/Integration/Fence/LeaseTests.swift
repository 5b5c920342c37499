import BSON
import Glibc
import TestSupport
import Testing

/// Only one runner at a time holds a job, and the next runner waits no longer than necessary.
@Suite struct LeaseTests {
    private static let documents = 400
    private static let slow = "{chunk: {documents: 10}, nice: 4}"

    private func withPeople(
        documents: Int = documents, limits: String = slow, _ body: (BackfillCase) async throws -> Void
    ) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: documents)
            try test.job(steps: [#"default: {field: email, value: ""}"#], limits: limits)
            try await body(test)
        }
    }

    private func isDone(_ test: BackfillCase) async throws -> Bool {
        try await test.database.count("people", ["email": ""]) == Self.documents
    }

    @Test func aSecondRunnerIsTurnedAwayWhileTheFirstLives() async throws {
        try await withPeople { test in
            let first = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=30s", held: true) { program in
                try await test.slowly(program) {
                    try await test.waitForChunks(2)
                    program.send(SIGSTOP)
                }
                defer { program.send(SIGCONT) }
                // The test waits until the server has finished all commands that the first runner sent before it was
                // stopped.
                try await waitUntil("the first is stopped") { try program.isStopped }
                try await test.mongod.waitForNoCommand(of: test.appName)
                let people = try await test.database.documents("people")
                let checkpoint = try await test.state.documents("ranges")
                let second = try await test.backfill()
                #expect(second.exitCode == 76)
                let host = try #require(checkpoint.first?["lease"]?.document?["host"]?.text)
                #expect(second.errors.contains("is held by process \(program.process) on host \(host)"))
                #expect(second.errors.contains("SHIPSHAPE_LEASE_WAIT=10m"))
                #expect(second.output == "")
                #expect(try await test.database.documents("people") == people)
                #expect(try await test.state.documents("ranges") == checkpoint)
            }
            #expect(first.exitCode == 0, "\(first.errors)")
            #expect(try await isDone(test))
        }
    }

    @Test func withLeaseWaitASecondRunnerContinuesWhenTheFirstEnds() async throws {
        try await withPeople { test in
            var second: ProgramRun?
            let first = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s", held: true) { program in
                try await test.slowly(program) {
                    try await test.waitForChunks(1)
                    program.send(SIGSTOP)
                }
                let name = "\(test.appName)_second"
                try await test.state.run(["profile": 2])
                second = try await test.backfill("job", "SHIPSHAPE_LEASE_WAIT=60s", uri: test.uri(appName: name)) { _ in
                    defer {
                        program.send(SIGTERM)
                        program.send(SIGCONT)
                    }
                    try await test.waitForLeaseAttempt(by: name)
                }
                let waited = "waiting up to 60 s for the lease of process \(program.process)"
                #expect(second?.errors.contains(waited) == true, "\(second?.errors ?? "")")
            }
            #expect(first.exitCode == 75, "\(first.errors)")
            #expect(second?.exitCode == 0, "\(second?.errors ?? "")")
            #expect(try await isDone(test))
        }
    }

    @Test func leaseWaitEndsToo() async throws {
        try await withPeople { test in
            try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=30s", held: true) { program in
                try await test.slowly(program) {
                    try await test.waitForChunks(1)
                    program.send(SIGSTOP)
                }
                defer { program.send(SIGCONT) }
                let second = try await test.backfill("job", "SHIPSHAPE_LEASE_WAIT=500ms")
                #expect(second.exitCode == 76)
            }
        }
    }

    @Test func aDeadRunnersLeaseIsWaitedFor() async throws {
        try await withPeople { test in
            let dead = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=10s", fault: "after-checkpoint:2")
            #expect(dead.wasKilled)
            let next = try await test.backfill()
            #expect(next.exitCode == 0, "\(next.errors)")
            #expect(next.errors.contains("for the lease of process"))
            #expect(try await isDone(test))
        }
    }

    @Test func theLeaseIsReleasedAtANormalEnd() async throws {
        try await withPeople(limits: "{chunk: {documents: 100}}") { test in
            #expect(try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s").exitCode == 0)
            #expect(try await test.checkpoint()?.holder?["end"] == .date(milliseconds: 0))
            try await test.database.fill("people", [["_id": "later"]])
            #expect(try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s").exitCode == 0)
            #expect(try await test.database.count("people", ["email": ""]) == Self.documents + 1)
        }
    }

    @Test(arguments: [SIGTERM, SIGINT]) func afterASignalTheRunIsResumableAtOnce(_ signal: Int32) async throws {
        try await withPeople { test in
            let stopped = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s", held: true) { program in
                try await test.slowly(program) {
                    try await test.waitForChunks(2)
                    program.send(signal)
                }
            }
            #expect(stopped.exitCode == 75, "\(stopped.errors)")
            #expect(stopped.output.contains("stopped by a signal"))
            #expect(try #require(try await test.checkpoint()).isInside)
            let next = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s")
            #expect(next.exitCode == 0, "\(next.errors)")
            #expect(next.errors.contains("resuming after"))
            #expect(try await isDone(test))
        }
    }

    @Test func afterItsTimeBudgetTheRunIsResumableAtOnce() async throws {
        try await withPeople(limits: "{chunk: {documents: 4}, nice: 4}") { test in
            let stopped = try await test.slowly {
                try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s", "--max-runtime", "5s")
            }
            #expect(stopped.exitCode == 75, "\(stopped.errors)")
            #expect(stopped.output.contains("--max-runtime"))
            #expect(try #require(try await test.checkpoint()).isInside)
            let next = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s")
            #expect(next.exitCode == 0, "\(next.errors)")
            #expect(try await isDone(test))
        }
    }

    @Test func aRunnerThatRestsLongerThanItsLeaseKeepsIt() async throws {
        // `nice: 100` makes the runner rest, after each chunk, for a hundred times as long as the chunk took.
        try await withPeople(documents: 8_000, limits: "{chunk: {documents: 4000}, nice: 100}") { test in
            let run = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=6s") { program in
                try await test.waitForChunks(1)
                let start = ContinuousClock.now
                while start.duration(to: .now) < .seconds(9) {
                    let isHeld = try await test.state.count("ranges", ["$expr": ["$gt": ["$lease.end", "$$NOW"]]]) == 1
                    let isDone = try await test.checkpoint()?.state == "done"
                    #expect(isHeld || isDone)
                    try await Task.sleep(for: .milliseconds(250))
                }
                program.send(SIGTERM)
            }
            #expect([0, 75].contains(run.exitCode), "\(run.errors)")
        }
    }
}
