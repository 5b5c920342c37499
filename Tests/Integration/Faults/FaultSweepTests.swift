import BSON
import Concurrency
import TestSupport
import Testing

/// A command that is killed at a fault point, and run again, ends like an uninterrupted run.
///
/// Examples of fault points: between a write and its checkpoint, when the lease is renewed, and at each change of
/// state.
@Suite struct FaultSweepTests {
    /// The commands that this suite kills at their fault points.
    ///
    /// `enforce` also has fault points, but ``EnforceKillTests`` kills it there.
    private static let subjects: [FaultSubject] = [
        .backfill, .clientBackfill, .undo, .folder, .partnerInit, .mirror, .watch,
    ]

    @Test(.fencedDeletes, .timeLimit(.minutes(60)), arguments: subjects)
    func aCommandKilledAnywhereEndsLikeOneThatWasNot(_ subject: FaultSubject) async throws {
        let mongod = try await Mongod.shared
        let expected = try await subject.undisturbed(on: mongod)
        // A watch reaches six fault points. If the test tries only every fifth fault point, it kills the watch at the
        // first one and at the sixth.
        let step = TestScale.pick(5, full: 1, torture: 1)
        let deaths = try await FaultSweep.visits(step: step) { visit in
            try await subject.dies(at: "any", visit: visit, on: mongod)
        }
        #expect(deaths.count >= 2)
        for death in deaths {
            #expect(death.end == expected, "killed at \(death.place): \(difference(death.end, expected))")
        }
        FaultTable.note(subject, "kill -9 at a fault point", tries: deaths.count, continued: 0)
    }

    /// An undo without a fault restores the documents as they were before the job.
    @Test func anUndoGivesTheOriginalBack() async throws {
        let mongod = try await Mongod.shared
        let original = try await mongod.withBackfill { test in
            try await FaultSubject.prepareUnsyncable(test)
            return try await test.database.documents("tasks")
        }
        #expect(try await FaultSubject.undo.undisturbed(on: mongod) == original)
    }

    /// A command is killed at each fault point, and its next run gives the result of an undisturbed run.
    ///
    /// For most fault points, the command is a backfill, which must reach the point at least twice. If a backfill does
    /// not reach a fault point, the `switch` below needs a case with another command.
    @Test(.fencedDeletes) func everyFaultPointIsReachedAndChangesNoResult() async throws {
        let mongod = try await Mongod.shared
        let points = FaultInjection.Point.allCases
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, point) in points.enumerated() {
                if index >= FaultSweep.atOnce { try await group.next() }
                group.addTask {
                    let (subject, visit): (FaultSubject, Int) =
                        switch point {
                        case .afterRestore: (.undo, 1)
                        case .afterCreation: (.clientBackfill, 1)
                        case .beforeCommit: (.mirror, 1)
                        default: (.backfill, 2)
                        }
                    let expected = try await subject.undisturbed(on: mongod)
                    let death = try await subject.dies(at: point.rawValue, visit: visit, on: mongod)
                    #expect(death?.place == point.rawValue, "no command comes to \(point.rawValue)")
                    let end = try #require(death?.end)
                    #expect(end == expected, "killed at \(point.rawValue): \(difference(end, expected))")
                }
            }
            try await group.waitForAll()
        }
    }
}
