import BSON
import Glibc
import TestSupport
import Testing

/// An undo that is killed, or that runs at the same time as another runner, loses nothing and does nothing twice.
@Suite struct UndoKillTests {
    private static let documents = 300

    private func withPeople(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: Self.documents, KillDocuments.document)
            try test.job(steps: KillDocuments.steps, limits: "{chunk: {documents: 40}, nice: 1}")
            try await body(test)
        }
    }

    @Test(arguments: [
        "before-write:2:kill", "after-restore:1", "after-restore:3", "before-state-write:2", "after-state-write:2",
        "after-state-write:4",
    ]) func anUndoThatDiesIsEndedByTheNext(_ fault: String) async throws {
        try await withPeople { test in
            let original = try await test.database.documents("people")
            try await test.backfill()
            let written = try await test.database.documents("people")
            let killed = try await test.undo(fault: fault)
            #expect(killed.wasKilled, "\(killed.status): \(killed.errors)")
            let half = try await test.database.documents("people")
            #expect(half != original)
            #expect(try await test.checkpoint()?.state == "undoing")
            // A run of the job waits until the undo's lease has ended, and is then refused, because the undo is not
            // finished.
            let run = try await test.backfill(flags: ["SHIPSHAPE_LEASE_WAIT=10s"])
            #expect(run.exitCode == 65, "\(run.errors)")
            #expect(try await test.database.documents("people") == half)
            let next = try await test.undo(flags: ["SHIPSHAPE_LEASE_WAIT=10s"])
            #expect(next.exitCode == 0, "\(next.errors)")
            #expect(try await test.database.documents("people") == original)
            #expect(written != original)
            #expect(try await test.checkpoint()?.state == "undone")
        }
    }

    @Test func aJobThatWasKilledIsUndoneAsFarAsItCame() async throws {
        try await withPeople { test in
            let original = try await test.database.documents("people")
            for fault in ["after-journal:2", "after-write:2", "after-checkpoint:1"] {
                let run = try await test.backfill(fault: fault)
                #expect(run.wasKilled, "\(run.status): \(run.errors)")
                try await test.waitForLeaseEnd()
            }
            #expect(try await test.database.documents("people") != original)
            let all = ["--output", "json"]
            let dry = try test.report(try await test.undo(flags: all + ["--dry-run"], yes: false))
            let run = try await test.undo(flags: all + ["SHIPSHAPE_LEASE_WAIT=10s"])
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.database.documents("people") == original)
            #expect(try test.report(run)["restored"] == dry["restored"], "\(run.output)\(dry)")
        }
    }

    @Test func aRunnerThatLivesKeepsTheJob() async throws {
        try await withPeople { test in
            try await test.backfill(held: true) { program in
                try await test.slowly(program) {
                    try await test.waitForChunks(1)
                    let undo = try await test.undo()
                    #expect(undo.exitCode == 76, "\(undo.errors)")
                }
            }
            #expect(try await test.checkpoint()?.state == "done")
        }
    }

    @Test func aRunnerThatWakesAfterTheUndoChangesNothing() async throws {
        try await withPeople { test in
            let original = try await test.database.documents("people")
            let first = try await test.backfill(fault: "before-write:3") { program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                defer { program.send(SIGCONT) }
                let undo = try await test.undo(flags: ["SHIPSHAPE_LEASE_WAIT=20s"])
                #expect(undo.exitCode == 0, "\(undo.errors)")
                #expect(try await test.database.documents("people") == original)
            }
            #expect(first.exitCode == 76, "\(first.status): \(first.errors)")
            #expect(try await test.database.documents("people") == original)
            #expect(try await test.checkpoint()?.state == "undone")
        }
    }

    @Test func anUndoThatWakesAfterAnotherChangesNothing() async throws {
        try await withPeople { test in
            let original = try await test.database.documents("people")
            try await test.backfill()
            let first = try await test.undo(fault: "before-write:1") { program in
                try await waitUntil("the undo sleeps") { try program.isStopped }
                defer { program.send(SIGCONT) }
                let second = try await test.undo(flags: ["SHIPSHAPE_LEASE_WAIT=20s"])
                #expect(second.exitCode == 0, "\(second.errors)")
                // While the first undo sleeps, a user makes the same change as the job. The first undo must not revert
                // it.
                try await test.database.set("people", .minKey, ["email": "none"])
            }
            #expect(first.exitCode == 76, "\(first.status): \(first.errors)")
            let after = try await test.database.documents("people")
            #expect(zip(after, original).count { $0 != $1 } == 1)
        }
    }
}
