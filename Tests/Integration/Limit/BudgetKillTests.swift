import BSON
import TestSupport
import Testing

/// After a run was killed, its reservations also count for the next run, but each document counts only once.
@Suite struct BudgetKillTests {
    @Test func aKillBetweenTheRecordAndTheWriteCountsNothingTwice() async throws {
        try await BudgetCase.withTasks(ledger: 20) { test in
            for _ in 0..<3 {
                let dead = try await BudgetCase.run(test, "--allow-unsync", "200", fault: "after-harm:1")
                #expect(dead.wasKilled, "\(dead.errors)")
                #expect(try await BudgetCase.recorded(test).count == 30)
                #expect(try await BudgetCase.unsyncable(test) == [])
            }
            let dead = try await BudgetCase.run(test, "--allow-unsync", "200", fault: "after-harm:2")
            #expect(dead.wasKilled)
            #expect(try await BudgetCase.recorded(test).count == 60)
            try await BudgetCase.expectUnderCeiling(test)
            let stopped = try await BudgetCase.run(test, "--allow-unsync", "200")
            #expect(stopped.exitCode == 75, "\(stopped.errors)")
            #expect(try await BudgetCase.unsyncable(test).count == 79)
            try await BudgetCase.expectUnderCeiling(test)
        }
    }

    @Test func aJobThatFitsStillFitsAfterAKill() async throws {
        try await BudgetCase.withTasks { test in
            try await test.database.run(["delete": "tasks", "deletes": [["q": ["_id": ["$gte": 99]], "limit": 0]]])
            for chunk in 1...3 { #expect(try await BudgetCase.run(test, fault: "after-harm:\(chunk)").wasKilled) }
            let run = try await BudgetCase.run(test)
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await BudgetCase.unsyncable(test).count == 99)
            try await BudgetCase.expectUnderCeiling(test)
        }
    }

    @Test func aRepairedDocumentCountsAgainWhenItIsMadeUnsyncableAgain() async throws {
        try await BudgetCase.withTasks { test in
            try await test.database.run(["delete": "tasks", "deletes": [["q": ["_id": ["$gte": 110]], "limit": 0]]])
            let flags = ["--allow-unsync", "200", "SHIPSHAPE_LEDGER=\(test.database.name).ledger"]
            #expect(try await test.backfill(flags: flags, fault: "after-checkpoint:1").wasKilled)
            try await BudgetCase.unsync(try await BudgetCase.unsyncable(test), in: test)
            // The next run finds the documents of the first chunk in the ledger before it writes the second chunk, and
            // sets `seen` in their reservations.
            #expect(try await test.backfill(flags: flags, fault: "after-checkpoint:1").wasKilled)
            #expect(try await test.state.count("harm", ["seen": true]) == 30)
            try await test.database.run(["delete": "ledger", "deletes": [["q": [:], "limit": 0]]])
            try await test.database.run([
                "update": "tasks",
                "updates": [["q": ["_id": ["$lt": 30]], "u": ["$set": ["priority": "7"]], "multi": true]],
            ])
            let stopped = try await test.backfill(flags: flags)
            #expect(stopped.exitCode == 75, "\(stopped.errors)")
            #expect(try await BudgetCase.unsyncable(test).count == 99)
            try await BudgetCase.expectUnderCeiling(test)
        }
    }

    @Test func planningMarksNothing() async throws {
        try await BudgetCase.withTasks { test in
            #expect(try await BudgetCase.run(test, "--allow-unsync", "200", fault: "after-checkpoint:1").wasKilled)
            try await BudgetCase.unsync(try await BudgetCase.unsyncable(test), in: test)
            let state = try await test.state.documents("harm")
            let dry = try await BudgetCase.run(test, "--dry-run")
            #expect(dry.output.contains("30 in the ledger and 0 pending"), "\(dry.output) \(dry.errors)")
            #expect(try await test.state.documents("harm") == state)
        }
    }
}
