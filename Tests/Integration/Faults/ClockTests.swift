import BSON
import Foundation
import Glibc
import Subprocess
import TestSupport
import Testing

/// Commands run on a machine whose clock is hours fast or slow.
///
/// Leases, fences, `$now` and reported times must follow the server's clock.
@Suite(.enabled(if: FakeClock.library != nil, "scripts/setup --tests installs libfaketime"))
struct ClockTests {
    private static let hours = [5, -5]
    private static let subjects: [FaultSubject] = TestScale.pick(
        [.backfill, .mirror], full: FaultSubject.all, torture: FaultSubject.all)

    @Test(.fencedDeletes, arguments: subjects, hours)
    func aCommandWhoseClockIsHoursApartEndsLikeAnyOther(_ subject: FaultSubject, _ hours: Int) async throws {
        let mongod = try await Mongod.shared
        let expected = try await subject.undisturbed(on: mongod)
        try await subject.trial(mongod) { trial in
            try await FakeClock.lend { clock in
                let run = try await trial.run(environment: clock.hours(hours))
                #expect([0, 1].contains(run.exitCode), "\(run.status): \(run.errors)")
                let end = try await trial.outcome(run)
                #expect(end == expected, "\(hours) h: \(difference(end, expected)); \(run.status): \(run.errors)")
            }
        }
        FaultTable.note(subject, "the client's clock is five hours apart", tries: 1, continued: 1)
    }

    /// A lease lasts by the server's clock, although the clocks of the two runners differ by ten hours.
    ///
    /// If the second runner used its own clock, it would take the first runner's lease at once, or only after hours.
    @Test(arguments: hours) func aLeaseLastsByTheServersClock(_ hours: Int) async throws {
        try await FakeClock.lend { early in
            try await FakeClock.lend { late in try await aLeaseLasts(early.hours(-hours), late.hours(hours)) }
        }
        FaultTable.note(.backfill, "SIGSTOP past the lease, which another takes", tries: 1, continued: 0)
    }

    private func aLeaseLasts(_ held: [Environment.Key: String?], _ wanted: [Environment.Key: String?]) async throws {
        try await FaultSubject.backfill.trial(try await Mongod.shared) { trial in
            var before: [BSONDocument] = []
            let first = try await trial.run(environment: held, fault: "before-write:2:stop") { program in
                try await waitUntil("the first sleeps") { try program.isStopped }
                before = try await trial.database.documents("tasks")
                let second = try await trial.run(["SHIPSHAPE_LEASE_WAIT=0s"], environment: wanted, endsLeases: false)
                #expect(second.exitCode == 76, "\(second.status): \(second.errors)")
                #expect(try await trial.database.documents("tasks") == before)
                // The test ends the lease by the server's clock, so the next runner takes it.
                try await trial.endLeases()
                let third = try await trial.run(environment: wanted)
                #expect(third.exitCode == 0, "\(third.status): \(third.errors)")
                before = try await trial.database.documents("tasks")
                program.send(SIGCONT)
            }
            #expect(first.exitCode == 76, "\(first.status): \(first.errors)")
            #expect(try await trial.database.documents("tasks") == before)
        }
    }

    /// The time that a job writes is the server's time at the start of the job.
    @Test(arguments: hours) func nowIsTheServersTime(_ hours: Int) async throws {
        try await FakeClock.lend { clock in
            try await Mongod.shared.withBackfill { test in
                try await test.database.fill("people", count: 3)
                try test.job(steps: ["default: {field: at, value: $now}"])
                let before = try await serverTime(test.mongod)
                let run = try await Program.run(
                    [
                        "backfill", test.path(), "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
                        "--yes",
                    ],
                    environment: clock.hours(hours))
                let after = try await serverTime(test.mongod)
                #expect(run.exitCode == 0, "\(run.errors)")
                for document in try await test.database.documents("people") {
                    guard case .date(let time)? = document["at"] else {
                        Issue.record("no time in \(document.json)")
                        continue
                    }
                    #expect((before...after).contains(time))
                }
            }
        }
    }

    private func serverTime(_ mongod: Mongod) async throws -> Int64 {
        guard case .date(let time)? = try await mongod.admin(["hello": 1])["localTime"] else { return 0 }
        return time
    }
}

extension FakeClock {
    /// Returns the environment of a program whose clock is this many hours ahead; a negative number sets it back.
    fileprivate func hours(_ hours: Int) -> [Environment.Key: String?] {
        Dictionary(
            uniqueKeysWithValues: variables("\(hours)h").map { (Environment.Key(stringLiteral: $0.key), $0.value) })
    }
}
