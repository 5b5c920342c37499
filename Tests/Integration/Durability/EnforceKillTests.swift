import BSON
import JobState
import TestSupport
import Testing

/// Tests that `enforce` and `enforce --abort` can be killed at any fault point, and that the next run finishes the
/// work.
@Suite struct EnforceKillTests {
    /// Kills `enforce` at its first fault point, another run at the second, and so on until a run ends by itself.
    ///
    /// Each run has a new collection.
    ///
    /// - Parameters:
    ///   - flags: `["--abort"]` to kill an abort; empty to kill the enforcement.
    ///   - prepare: runs before the run that is to be killed.
    ///   - after: runs after each killed run, and receives the number of the fault point.
    private func killing(
        _ flags: [String], _ prepare: (BackfillCase) async throws -> Void,
        after: (BackfillCase, _ visit: Int) async throws -> Void
    ) async throws {
        var (deaths, isOver) = (0, false)
        while !isOver {
            let visit = deaths + 1
            try await Mongod.shared.withBackfill { test in
                try await test.preparePath(under: BackfillCase.earlier)
                try await prepare(test)
                let run =
                    flags == ["--abort"]
                    ? try await test.enforce("--abort", "--yes", fault: "any:\(visit):kill")
                    : try await test.enforce("--yes", fault: "any:\(visit):kill")
                guard run.wasKilled else {
                    #expect(run.exitCode == 0, "\(run.errors)")
                    return isOver = true
                }
                deaths = visit
                try await after(test, visit)
            }
        }
        #expect(deaths >= 6)
        FaultTable.note("enforce", "kill -9 at a fault point", tries: deaths, continued: 0)
    }

    @Test(.timeLimit(.minutes(60))) func anEnforcementThatIsKilledAnywhereEndsLikeOneThatWasNot() async throws {
        try await killing([]) { _ in
        } after: { test, visit in
            let status = try await test.enforce("--status")
            #expect(status.exitCode == 0, "visit \(visit): \(status.errors)")
            let rest = try await test.enforce("--yes")
            #expect(rest.exitCode == 0, "visit \(visit): \(rest.errors)")
            #expect(try await test.isEnforced("error"), "visit \(visit)")
        }
    }

    @Test(.timeLimit(.minutes(60))) func anEnforcementThatIsKilledAnywhereCanBeAborted() async throws {
        try await killing([]) { _ in
        } after: { test, visit in
            let back = try await test.enforce("--abort", "--yes")
            // If the run was killed before it recorded which validator the collection had, the abort has nothing to
            // restore.
            #expect(back.exitCode == 0 || visit <= 2 && back.exitCode == 65, "visit \(visit): \(back.errors)")
            let before = Validation(BackfillCase.earlier, level: "moderate")
            #expect(try await test.validation().isSame(as: before), "visit \(visit)")
        }
    }

    @Test(.timeLimit(.minutes(60))) func anAbortThatIsKilledAnywhereIsEndedByTheNext() async throws {
        try await killing(["--abort"]) { test in
            let run = try await test.enforce("--yes")
            #expect(run.exitCode == 0, "\(run.errors)")
        } after: { test, visit in
            let half = try await test.enforce("--yes", "--dry-run")
            #expect([0, 65].contains(half.exitCode), "visit \(visit): \(half.errors)")
            let rest = try await test.enforce("--abort", "--yes")
            // At the last fault point, the killed abort had already recorded that it restored the earlier validator.
            #expect(rest.exitCode == 0 || rest.errors.contains("nothing to restore"), "visit \(visit): \(rest.errors)")
            let before = Validation(BackfillCase.earlier, level: "moderate")
            #expect(try await test.validation().isSame(as: before), "visit \(visit)")
        }
    }
}
