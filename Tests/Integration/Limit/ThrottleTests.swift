import BSON
import Foundation
import TestSupport
import Testing

/// Tests the throttle rules that can be tested on a server that other tests use at the same time.
///
/// A run waits, reports the reason, and continues once the reason ends.
@Suite struct ThrottleTests {
    @Test func aPauseWindowHoldsUntilItIsTakenOff() async throws {
        try await ThrottleCase.withPeople(on: try await .shared, limits: #"pause: "00:00-24:00 Europe/Madrid""#) {
            test in
            try await ThrottleCase.expectWait("pauseWindow", "time", test) {
                let tuned = try await ThrottleCase.steer("tune", test, "pause=off")
                #expect(tuned.exitCode == 0, "\(tuned.errors)")
            }
        }
    }

    @Test func anOperatorsPauseHoldsUntilResume() async throws {
        try await ThrottleCase.withPeople(on: try await .shared, limits: "nice: 0") { test in
            let flags = ["SHIPSHAPE_LEASE_TTL=60s"]
            let run = try await test.backfill(flags: flags, fault: "before-write:2") { program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                #expect(try await ThrottleCase.steer("pause", test).exitCode == 0)
                program.send(SIGCONT)
                try await ThrottleCase.waitForThrottle("operatorPause", test)
                #expect(try await test.database.count("people", ["email": "none"]) < ThrottleCase.people)
                #expect(try await ThrottleCase.steer("resume", test).exitCode == 0)
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.errors.contains("waiting: paused by"), "\(run.errors)")
        }
    }

    @Test func aWaitObeysASignal() async throws {
        try await ThrottleCase.withPeople(on: try await .shared, limits: #"pause: "00:00-24:00 UTC""#) { test in
            let run = try await test.backfill { program in
                try await ThrottleCase.waitForThrottle("pauseWindow", test)
                program.send(SIGTERM)
            }
            #expect(run.exitCode == 75, "\(run.errors)")
            #expect(run.output.contains("stopped by a signal"), "\(run.output)")
            #expect(try await test.database.count("people", ["email": "none"]) == 0)
            #expect(try await ThrottleCase.waiting(test).isEmpty)
        }
    }

    @Test func aWaitObeysTheTimeBudget() async throws {
        try await ThrottleCase.withPeople(on: try await .shared, limits: #"pause: "00:00-24:00 UTC""#) { test in
            let run = try await test.backfill("job", "--max-runtime", "5s")
            #expect(run.exitCode == 75, "\(run.errors)")
            #expect(run.output.contains("--max-runtime"), "\(run.output)")
            #expect(run.output.contains("outside 00:00-24:00 UTC"), "\(run.output)")
        }
    }

    @Test func aReadingThatFailsHolds() async throws {
        try await ThrottleCase.withPeople(on: try await .shared, limits: "") { test in
            try await test.mongod.failing(.error(8, "serverStatus", appName: test.appName)) {
                // The run cannot read the server metrics. It reports this in its plan, and again while it waits.
                let run = try await test.backfill { program in
                    try await ThrottleCase.waitForThrottle("reading", test)
                    program.send(SIGTERM)
                }
                #expect(run.exitCode == 75, "\(run.errors)")
                #expect(run.errors.contains("a run would wait now: server status: unreadable"), "\(run.errors)")
                #expect(run.errors.contains("waiting: server status: unreadable"), "\(run.errors)")
                #expect(try await test.database.count("people", ["email": "none"]) == 0)
            }
            #expect(try await test.backfill().exitCode == 0)
        }
    }

    @Test func unreadableMetricsAreAMissingGuarantee() async throws {
        try await ThrottleCase.withPeople(on: try await .withAuthentication, limits: "") { test in
            let roles = [test.database.name, test.state.name].map { name -> BSONValue in
                ["role": "readWrite", "db": .string(name)]
            }
            let user = try await test.mongod.addUser("plain-\(test.database.name)", roles: roles)
            let run = try await test.backfill("job", uri: user)
            #expect(run.exitCode == 0, "\(run.errors)")
            for note in [
                "no throttle on the lag of single secondaries: replSetGetStatus is not allowed",
                "no throttle on flow control, tickets and cache: serverStatus is not allowed",
                "no throttle on the oplog window",
            ] { #expect(run.errors.contains(note), "\(run.errors)") }
            let monitor = try await test.mongod.addUser(
                "monitor-\(test.database.name)", roles: roles + [["role": "clusterMonitor", "db": "admin"]])
            let dry = try await test.backfill("job", "--dry-run", uri: monitor)
            #expect(!dry.output.contains("no throttle"), "\(dry.output)")
        }
    }

    @Test func aReserveThatLeavesNothingIsABadConfiguration() async throws {
        try await ThrottleCase.withPeople(on: try await .shared, limits: "unsynced: 100, reserve: 100") { test in
            let run = try await test.backfill()
            #expect(run.exitCode == 78, "\(run.errors)")
            #expect(run.errors.contains("job.yml:5:"), "\(run.errors)")
        }
    }
}
