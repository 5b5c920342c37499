import BSON
import Foundation
import TestSupport
import Testing

/// An unsyncable document counts once, even if several jobs of an app made it unsyncable.
///
/// The document no longer counts once it fits the schema again.
@Suite struct BudgetDistinctTests {
    private static let unsyncable = 60

    /// Runs a test with 60 tasks, a limit that allows 99 unsyncable documents, and two jobs with the same steps.
    private func withTwoJobs(_ body: (BackfillCase) async throws -> Void) async throws {
        try await BudgetCase.withTasks { test in
            try await test.database.run([
                "delete": "tasks", "deletes": [["q": ["_id": ["$gte": .integer(Self.unsyncable)]], "limit": 0]],
            ])
            for name in ["job", "second"] {
                try test.job(
                    name, on: "tasks", steps: ["convert: {field: priority, to: int}"],
                    limits: "{chunk: {documents: 30}, unsynced: \(BudgetCase.ceiling), reserve: 0, ledgerLag: 1h}",
                    more: "schema: {active: active.json, next: next.json}")
            }
            try await body(test)
        }
    }

    private func run(_ name: String, _ test: BackfillCase) async throws -> ProgramRun {
        try await test.backfill(name, "--output", "json", "SHIPSHAPE_LEDGER=\(test.database.name).ledger")
    }

    private func restore(_ test: BackfillCase) async throws {
        for id in 0..<Self.unsyncable {
            try await test.database.set("tasks", .integer(id), ["priority": .string("\(id)")])
        }
    }

    @Test func twoJobsThatMakeTheSameDocumentsUnsyncableCountThemOnce() async throws {
        try await withTwoJobs { test in
            #expect(try await run("job", test).exitCode == 0)
            try await restore(test)
            let second = try await run("second", test)
            #expect(second.exitCode == 0, "\(second.errors)")
            #expect(try await test.state.count("harm") == 2 * Self.unsyncable)
            let report = try test.report(second)
            #expect(report["headroom"]?.document?["pending"]?.integer == Self.unsyncable)
        }
    }

    @Test func afterAnUndoTheSameStepsHaveRoomUnderANewName() async throws {
        try await withTwoJobs { test in
            #expect(try await run("job", test).exitCode == 0)
            // After restoring, the undo waits until the ledger no longer has the documents, and then releases their
            // reservations. The test stops the waiting undo, because the next run releases the reservations as well.
            let undo = try await test.undo(flags: ["SHIPSHAPE_LEDGER=\(test.database.name).ledger"]) { program in
                try await waitUntil("all documents are restored, or the undo has ended") {
                    try await BudgetCase.unsyncable(test).isEmpty || program.hasEnded
                }
                program.send(SIGTERM)
            }
            #expect([0, 75].contains(undo.exitCode), "\(undo.errors)")
            #expect(try await BudgetCase.unsyncable(test) == [])
            #expect(try await run("second", test).exitCode == 0)
        }
    }

    @Test func aDeployFreesWhatFitsTheNextSchema() async throws {
        try await withTwoJobs { test in
            #expect(try await run("job", test).exitCode == 0)
            let reported = try await test.steer("deployed", "job", "--yes")
            #expect(reported.exitCode == 0, "\(reported.errors)")
            #expect(reported.output.contains("\(Self.unsyncable) documents fit it"), "\(reported.output)")
            #expect(try await test.state.count("harm", ["repaired": ["$exists": false]]) == 0)
        }
    }

    @Test func aRefusalNamesTheRemedyAndStatusWhyAJobStopped() async throws {
        try await BudgetCase.withTasks { test in
            let refused = try await BudgetCase.run(test)
            #expect(refused.exitCode == 1)
            let remedies = [
                "shipshape job deployed job", "shipshape undo", "terminate and re-enable sync",
                "shipshape job tune job",
            ]
            for remedy in remedies { #expect(refused.errors.contains(remedy), "\(remedy): \(refused.errors)") }
            let stopped = try await BudgetCase.run(test, "--allow-unsync", "200")
            #expect(stopped.exitCode == 75)
            for remedy in remedies { #expect(stopped.output.contains(remedy), "\(remedy): \(stopped.output)") }
            #expect(stopped.output.contains("free some room first: "), "\(stopped.output)")
            let status = try await test.status()
            #expect(status["stopped_by"]?.text?.contains("the limit of unsynced documents") == true, "\(status)")
            let text = try await test.steer("status", "job")
            #expect(text.output.contains("stopped by the limit of unsynced documents"), "\(text.output)")
            #expect(text.output.contains("provisional"), "\(text.output)")
        }
    }
}
