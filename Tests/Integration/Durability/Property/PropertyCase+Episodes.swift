import BSON
import Glibc
import Proving
import TestSupport

/// An event that disturbs a job before its last run, such as a kill or the writes of a user.
enum PropertyDisturbance: CaseIterable, Sendable {
    case onlyTheUser, duringUserWrites, killedAtAFaultPoint, killedByTheUser, stoppedByTheUser, overtaken, staleRunner
    case twoRunners

    /// The disturbances to choose from at random.
    ///
    /// A frequent disturbance is in the list several times.
    static let mix = allCases + [.killedAtAFaultPoint, .killedAtAFaultPoint, .killedByTheUser, .overtaken, .overtaken]
}

extension PropertyCase {
    mutating func happen(_ disturbance: PropertyDisturbance) async throws {
        switch disturbance {
        case .onlyTheUser: try await onlyTheUser()
        case .duringUserWrites: try await duringUserWrites()
        case .killedAtAFaultPoint: try await killedAtAFaultPoint()
        case .killedByTheUser: try await killedByTheUser(SIGKILL)
        case .stoppedByTheUser: try await killedByTheUser(SIGTERM)
        case .overtaken: try await overtakenBetweenLookAndWrite()
        case .staleRunner: try await staleRunner()
        case .twoRunners: try await twoRunners()
        }
    }

    private mutating func onlyTheUser() async throws {
        trail.append("user writes")
        try await user.write(times: random.below(40))
    }

    private mutating func duringUserWrites() async throws {
        trail.append("a run beside the user")
        let times = random.below(60)
        let run = try await backfill(flags: ["SHIPSHAPE_LEASE_WAIT=3m"]) { _ in
            try await user.write(times: times, resting: 8)
        }
        guard let code = run.exitCode, [0, 1, 75].contains(code) else {
            throw violation(.ending, "a run ended with \(run.status): \(run.errors)")
        }
    }

    private mutating func killedAtAFaultPoint() async throws {
        let fault = "any:\(random.pick([1 + random.below(8), 1 + random.below(40), 1 + random.below(150)])):kill"
        trail.append("killed at \(fault)")
        let times = random.below(40)
        let run = try await backfill(flags: ["SHIPSHAPE_LEASE_TTL=2s", "SHIPSHAPE_LEASE_WAIT=3m"], fault: fault) { _ in
            try await user.write(times: times, resting: 8)
        }
        guard run.wasKilled || [0, 1, 75].contains(run.exitCode ?? -1) else {
            throw violation(.ending, "a run ended with \(run.status): \(run.errors)")
        }
        try await checkAcknowledged()
    }

    private mutating func killedByTheUser(_ signal: Int32) async throws {
        let times = random.below(60)
        trail.append("signal \(signal) after \(times) writes of the user")
        _ = try await backfill(flags: ["SHIPSHAPE_LEASE_TTL=1s", "SHIPSHAPE_LEASE_WAIT=3m"]) { program in
            try await waitForStart(program)
            try await user.write(times: times, resting: 8)
            program.send(signal)
        }
        try await checkAcknowledged()
    }

    /// Stops a run before one of its writes, and lets it continue after the user has written.
    ///
    /// The user writes mostly to documents that the run is about to change.
    private mutating func overtakenBetweenLookAndWrite() async throws {
        let visit = 1 + random.below(4)
        trail.append("the user overtakes write \(visit)")
        let times = 10 + random.below(80)
        let run = try await backfill(flags: ["SHIPSHAPE_LEASE_WAIT=3m"], fault: "before-write:\(visit)") { program in
            guard try await program.waitForStop() else { return }
            defer { program.send(SIGCONT) }
            try await user.write(times: times, among: try await nextIDs())
        }
        guard let code = run.exitCode, [0, 1, 75].contains(code) else {
            throw violation(.ending, "an overtaken run ended with \(run.status): \(run.errors)")
        }
    }

    /// Stops a runner before one of its writes, and lets it continue after another runner has finished the job.
    ///
    /// The first runner wakes after its lease has ended and the user has written. It must then change nothing.
    private mutating func staleRunner() async throws {
        let visit = 1 + random.below(4)
        trail.append("a runner sleeps before write \(visit) until another is done")
        let times = random.below(60)
        var left: [PropertyKey: BSONDocument]?
        let flags = ["SHIPSHAPE_LEASE_TTL=1s", "SHIPSHAPE_LEASE_WAIT=3m"]
        let run = try await backfill(flags: flags, fault: "before-write:\(visit)") { program in
            guard try await program.waitForStop() else { return }
            defer { program.send(SIGCONT) }
            let next = try await nextIDs()
            let second = try await backfill(flags: ["SHIPSHAPE_LEASE_WAIT=3m"])
            guard let code = second.exitCode, code < 2 else {
                throw violation(.ending, "the second runner ended with \(second.status): \(second.errors)")
            }
            try await user.write(times: times, among: next)
            left = try await test.database.keyed()
        }
        guard let left else { return }
        guard run.exitCode == 76 else {
            throw violation(.ending, "the stale runner ended with \(run.status): \(run.errors)")
        }
        let now = try await test.database.keyed()
        for key in Set(left.keys).union(now.keys) where left[key] != now[key] {
            throw violation(.lateWrite, "the stale runner changed _id \(key)")
        }
    }

    private mutating func twoRunners() async throws {
        trail.append("two runners at once")
        let times = random.below(40)
        async let first = backfill(flags: ["SHIPSHAPE_LEASE_WAIT=3m"])
        let second = try await backfill(flags: ["SHIPSHAPE_LEASE_WAIT=3m"]) { _ in
            try await user.write(times: times, resting: 8)
        }
        for run in [try await first, second] {
            guard let code = run.exitCode, [0, 1, 75].contains(code) else {
                throw violation(.ending, "one of two runners ended with \(run.status): \(run.errors)")
            }
        }
    }

    /// Returns the `_id`s of the first documents that still need the job, in the order in which a run reads them.
    private func nextIDs() async throws -> [BSONValue] {
        let made = try await expected(of: test.database.keyed())
        let open = try await test.database.inOrderOfRecords("c").filter { document in
            made[PropertyKey(document["_id"] ?? .null)] != document
        }
        return open.prefix(8).compactMap { $0["_id"] }
    }

    /// Waits until the program has a lease on the job, or has ended.
    private func waitForStart(_ program: LiveProgram) async throws {
        try await waitUntil("the program has begun") {
            if program.hasEnded { return true }
            return try await test.state.count("ranges", ["$expr": ["$gt": ["$lease.end", "$$NOW"]]]) > 0
        }
    }
}
