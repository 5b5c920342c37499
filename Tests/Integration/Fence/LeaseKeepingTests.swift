import BSON
import Foundation
import TestSupport
import Testing

/// Tests how long a runner keeps its lease: during long operations, after a lost reply, and when its run is refused.
@Suite(.serialized) struct LeaseKeepingTests {
    /// A server for this suite alone, because a server has only one fail point at a time.
    ///
    /// On a shared server, these tests would have to wait for other suites' fail points.
    private static let server = Task { try await Mongod.start() }

    private func withPeople(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Self.server.value.withBackfill { test in
            try await test.database.fill("people", count: 100)
            try test.job(steps: [#"default: {field: email, value: ""}"#])
            try await body(test)
        }
    }

    /// Runs `body` while each read of the collection, such as the final count, takes this long.
    private func slowly(_ time: Duration, _ test: BackfillCase, _ body: () async throws -> Void) async throws {
        var point = FailPoint("find", "aggregate", appName: test.appName)
        point.blockTime = time
        point.namespace = "\(test.database.name).people"
        try await test.mongod.failing(point, during: body)
    }

    private func isHeld(_ test: BackfillCase) async throws -> Bool {
        try await test.state.count("ranges", ["$expr": ["$gt": ["$lease.end", "$$NOW"]]]) == 1
    }

    @Test func aSurveyThatTakesLongerThanTheLeaseKeepsIt() async throws {
        try await withPeople { test in
            let run = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=4s", fault: "after-checkpoint:1:stop") {
                program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                // Each read takes longer than the following steps of the test, even on a slow machine.
                try await slowly(.seconds(30), test) {
                    program.send(SIGCONT)
                    try await test.mongod.waitForCommand("find", of: test.appName)
                    for _ in 0..<24 {
                        try await Task.sleep(for: .milliseconds(250))
                        #expect(try await isHeld(test))
                    }
                    let second = try await test.backfill("job", uri: test.uri(appName: "second"))
                    #expect(second.exitCode == 76, "\(second.errors)")
                }
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.checkpoint()?.state == "done")
        }
    }

    @Test func aSignalIsObeyedDuringALongSurvey() async throws {
        try await withPeople { test in
            let run = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=4s", fault: "after-checkpoint:1:stop") {
                program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                try await slowly(.seconds(170), test) {
                    program.send(SIGCONT)
                    try await test.mongod.waitForCommand("find", of: test.appName)
                    program.send(SIGTERM)
                    try await waitUntil("the program ends") { program.hasEnded }
                    // The program has ended without waiting for its read, which still runs on the server.
                    #expect(try await test.mongod.killCommands("find", of: test.appName) > 0)
                }
            }
            #expect(run.exitCode == 75, "\(run.errors)")
            #expect(run.output.contains("stopped by a signal"), "\(run.output)")
            #expect(run.output.contains("the remaining documents were not counted"), "\(run.output)")
            #expect(try await !isHeld(test))
        }
    }

    /// The server may still execute a write whose reply was lost, but the write belongs to a transaction that is over.
    @Test func aWriteWhoseReplyWasLostIsRepeatedAndTheLeaseReleased() async throws {
        try await withPeople { test in
            var point = FailPoint("update", appName: test.appName, mode: .times(1))
            point.closesConnection = true
            let run = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=20s", fault: "before-write:1") { program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                try await test.mongod.failing(point) {
                    program.send(SIGCONT)
                    try await waitUntil("the write is repeated") {
                        let isDone = try await test.database.count("people", ["email": ""]) == 100
                        return program.hasEnded || isDone
                    }
                }
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.output.contains("changed 100 of 100"), "\(run.output)")
            #expect(try await test.checkpoint()?.state == "done")
            #expect(try await !isHeld(test))
        }
    }

    @Test func aLostReplyOfUndoReleasesTheLeaseToo() async throws {
        try await withPeople { test in
            try await test.backfill("job")
            var point = FailPoint("update", appName: test.appName, mode: .times(1))
            point.closesConnection = true
            let run = try await test.undo(flags: ["SHIPSHAPE_LEASE_TTL=20s"], fault: "before-write:1") { program in
                try await waitUntil("undo sleeps") { try program.isStopped }
                try await test.mongod.failing(point) {
                    program.send(SIGCONT)
                    try await waitUntil("the write is repeated") {
                        let isDone = try await test.database.count("people", ["email": ["$exists": true]]) == 0
                        return program.hasEnded || isDone
                    }
                }
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.output.contains("undid 100 of 100"), "\(run.output)")
            #expect(try await !isHeld(test))
        }
    }

    @Test func aRunThatIsRefusedAfterTakingTheLeaseReleasesIt() async throws {
        try await withPeople { test in
            // The runner's first two state writes are for its `_id` range and for the job. The third one, before which
            // the runner sleeps, takes the lease.
            let run = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s", fault: "before-state-write:3:stop") {
                program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                defer { program.send(SIGCONT) }
                try await test.state.run([
                    "update": "jobs", "updates": [["q": ["_id": "job"], "u": ["$set": ["text": "another"]]]],
                ])
            }
            #expect(run.exitCode == 65, "\(run.errors)")
            #expect(run.errors.contains("the job file's text changed"), "\(run.errors)")
            #expect(try await test.checkpoint()?.holder?["end"] == .date(milliseconds: 0))
        }
    }

    @Test func aStateThatIsDroppedDuringARunMakesANewJob() async throws {
        try await withPeople { test in
            let run = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s", fault: "before-write:1") { program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                defer { program.send(SIGCONT) }
                try await test.state.run(["dropDatabase": 1])
            }
            #expect(run.exitCode == 65, "\(run.errors)")
            #expect(run.errors.contains("run it again: it is a new job then"), "\(run.errors)")
            let next = try await test.backfill()
            #expect(next.exitCode == 0, "\(next.errors)")
        }
    }

    @Test func aRangeThatIsDeletedDuringARunIsNotBegunAgain() async throws {
        try await withPeople { test in
            let run = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s", fault: "before-write:1") { program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                defer { program.send(SIGCONT) }
                try await test.state.run(["drop": "ranges"])
            }
            #expect(run.exitCode == 65, "\(run.errors)")
            #expect(run.errors.contains("start over with --restart"), "\(run.errors)")
            #expect(try await test.backfill().exitCode == 65)
            #expect(try await test.backfill("job", "--restart").exitCode == 0)
        }
    }
}
