import BSON
import Concurrency
import TestSupport
import Testing

@testable import Backfill
@testable import JobState
@testable import Jobs

/// Killed at any fault point and run again, a command leaves what an uninterrupted run leaves.
///
/// The places are between a write and its checkpoint, at the lease's renewal, and at every change of state.
@Suite struct FaultWalkTests {
    /// A job that can do harm, in chunks of a few documents.
    private static let backfill = FaultWalk(
        prepare: { test in
            try await test.database.fill("tasks", count: 10) {
                ["_id": .integer($0), "priority": .string("\($0)"), "free": .integer($0)]
            }
            try BudgetCase.writeSchemas(retyping: "priority", in: test)
            try test.job(
                on: "tasks", steps: ["convert: {field: priority, to: int}"], limits: "{chunk: {documents: 4}}",
                more: "schema: {active: active.json, next: next.json}")
        },
        run: { test, fault in
            let flags = ["--ledger", "none", "--allow-unsync", "10", "--lease-ttl", "1s", "--lease-wait", "30s"]
            return try await test.backfill(flags: flags, fault: fault)
        },
        outcome: { test in
            let ranges = try await test.state.documents("ranges").map { range in
                BSONDocument(["pass", "state", "last", "upper"].map { ($0, range[$0] ?? .null) })
            }
            let harm = try await test.state.documents("harm").map { record in
                BSONDocument([("id", record["_id"]?.document?["id"] ?? .null), ("seen", record["seen"] ?? .null)])
            }
            return try await test.database.documents("tasks") + ranges + harm
        })

    /// The way back from that job.
    private static let undo = FaultWalk(
        prepare: { test in
            try await backfill.prepare(test)
            #expect(try await backfill.run(test, nil).exitCode == 0)
        },
        run: { test, fault in
            let flags = ["--state-database", test.state.name, "--yes", "--ledger", "none", "--allow-unsync", "10"]
            let lease = ["--lease-ttl", "1s", "--lease-wait", "30s"]
            return try await Program.run(["undo", test.path(), "--uri", test.uri] + flags + lease, fault: fault)
        },
        outcome: { test in try await test.database.documents("tasks") })

    @Test func aBackfillKilledAnywhereEndsLikeOneThatWasNot() async throws {
        try await expectSame(Self.backfill, "backfill")
    }

    @Test func anUndoKilledAnywhereEndsLikeOneThatWasNot() async throws {
        let mongod = try await Mongod.shared
        let original = try await mongod.withBackfill { test in
            try await Self.backfill.prepare(test)
            return try await test.database.documents("tasks")
        }
        #expect(try await Self.undo.undisturbed(on: mongod) == original)
        try await expectSame(Self.undo, "undo")
    }

    private func expectSame(_ walk: FaultWalk, _ command: String) async throws {
        let mongod = try await Mongod.shared
        let expected = try await walk.undisturbed(on: mongod)
        let deaths = try await walk.deaths(step: TestScale.pick(4, full: 1, torture: 1), on: mongod)
        #expect(deaths.count >= 5)
        for death in deaths {
            #expect(death.end == expected, "killed at \(death.place): \(difference(death, expected))")
        }
        print("\(command): killed at \(deaths.count) places, \(Set(deaths.map(\.place)).sorted())")
    }

    private func difference(_ death: FaultWalk.Death?, _ expected: [BSONDocument]) -> String {
        let (found, wanted) = ((death?.end ?? []).map(\.json), expected.map(\.json))
        return found.filter { !wanted.contains($0) }.joined(separator: " ") + " instead of "
            + wanted.filter { !found.contains($0) }.joined(separator: " ")
    }

    /// A new fault point that no command of this suite reaches fails here, so that none is forgotten.
    @Test func everyFaultPointIsReachedAndHarmless() async throws {
        let mongod = try await Mongod.shared
        let forth = try await Self.backfill.undisturbed(on: mongod)
        let back = try await Self.undo.undisturbed(on: mongod)
        try await withThrowingTaskGroup(of: Void.self) { group in
            // A job that makes documents in another collection has a test of its own.
            let points = FaultInjection.Point.allCases.filter { $0 != .afterCreation }
            for (index, point) in points.enumerated() {
                if index >= FaultWalk.atOnce { try await group.next() }
                group.addTask {
                    let (walk, expected) = point == .afterRestore ? (Self.undo, back) : (Self.backfill, forth)
                    let death = try await walk.dies(
                        at: point.rawValue, visit: point == .afterRestore ? 1 : 2, on: mongod)
                    #expect(death?.place == point.rawValue, "no command comes to \(point.rawValue)")
                    #expect(death?.end == expected, "killed at \(point.rawValue): \(difference(death, expected))")
                }
            }
            try await group.waitForAll()
        }
    }
}
