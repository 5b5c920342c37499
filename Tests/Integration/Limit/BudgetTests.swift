import BSON
import TestSupport
import Testing

/// Tests the limit of unsynced documents with whole runs: the number of unsynced documents always stays below it.
@Suite struct BudgetTests {
    @Test func aJobThatTheHeadroomHasNoRoomForIsRefusedWithTheNumbers() async throws {
        try await BudgetCase.withTasks(ledger: 20) { test in
            let run = try await BudgetCase.run(test)
            #expect(run.exitCode == 1)
            for text in [
                "would make 200 documents unsyncable", "room for 79", "20 in the ledger", "stops at 100",
                "--allow-unsync 200",
            ] { #expect(run.errors.contains(text), "\(run.errors)") }
            #expect(try await !test.hasState())
            #expect(try await BudgetCase.unsyncable(test) == [])
            #expect(try await BudgetCase.run(test, "--allow-unsync", "199").exitCode == 1)
        }
    }

    @Test func aJobThatFitsRunsToItsEnd() async throws {
        try await BudgetCase.withTasks { test in
            try await test.database.run(["delete": "tasks", "deletes": [["q": ["_id": ["$gte": 99]], "limit": 0]]])
            let run = try await BudgetCase.run(test)
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await BudgetCase.unsyncable(test).count == 99)
            try await BudgetCase.expectUnderCeiling(test)
        }
    }

    @Test(arguments: [nil, 20]) func anAcceptedJobStopsBelowTheCeiling(_ ledger: Int?) async throws {
        try await BudgetCase.withTasks(ledger: ledger) { test in
            let room = BudgetCase.ceiling - 1 - (ledger ?? 0)
            let stopped = try await BudgetCase.run(test, "--allow-unsync", "200")
            #expect(stopped.exitCode == 75, "\(stopped.errors)")
            let sum = ledger.map { "\($0) in the ledger" } ?? "no ledger"
            #expect(stopped.output.contains("\(sum) and \(room) pending; the job stops at 100"), "\(stopped.output)")
            #expect(try await BudgetCase.unsyncable(test).count == room)
            try await BudgetCase.expectUnderCeiling(test)

            let again = try await BudgetCase.run(test, "--allow-unsync", "200")
            #expect(again.exitCode == 75)
            #expect(try await BudgetCase.unsyncable(test).count == room)
        }
    }

    @Test func documentsThatTheLedgerShowsAreNotCountedTwice() async throws {
        try await BudgetCase.withTasks(ledger: 20) { test in
            #expect(try await BudgetCase.run(test, "--allow-unsync", "200").exitCode == 75)
            // The ledger now has 99 entries, which include the 79 documents that the job made unsyncable. The job's
            // reservations of these documents no longer count, so the total is still 99, and the limit of 100 allows no
            // more documents.
            try await BudgetCase.unsync(try await BudgetCase.unsyncable(test), in: test)
            let again = try await BudgetCase.run(test, "--allow-unsync", "200")
            #expect(again.exitCode == 75)
            #expect(again.output.contains("99 in the ledger and 0 pending"), "\(again.output)")
            #expect(try await BudgetCase.unsyncable(test).count == 79)
            // The ledger loses the twenty entries from before the job, as if users had repaired these documents. The
            // limit then allows twenty more documents.
            try await test.database.run([
                "delete": "ledger", "deletes": [["q": ["documentId": ["$gte": 1_000]], "limit": 0]],
            ])
            #expect(try await BudgetCase.run(test, "--allow-unsync", "200").exitCode == 75)
            #expect(try await BudgetCase.unsyncable(test).count == 99)
            try await BudgetCase.expectUnderCeiling(test)
        }
    }

    @Test func withoutALedgerOnlyTheJobsOwnDocumentsCount() async throws {
        try await BudgetCase.withTasks(ledger: 50) { test in
            let stopped = try await BudgetCase.run(test, "SHIPSHAPE_LEDGER=none", "--allow-unsync", "200")
            #expect(stopped.exitCode == 75)
            #expect(stopped.output.contains("no ledger and 99 pending"))
            #expect(try await BudgetCase.unsyncable(test).count == 99)
        }
    }

    @Test func aLedgerThatMayNotBeReadIsNotPermitted() async throws {
        try await BudgetCase.withTasks(on: .withAuthentication, ledger: 5) { test in
            let state: BSONValue = ["role": "readWrite", "db": .string(test.state.name)]
            let tasks: BSONValue = [
                "resource": ["db": .string(test.database.name), "collection": "tasks"],
                "actions": ["find", "update", "collStats"],
            ]
            let list: BSONValue = [
                "resource": ["db": .string(test.database.name), "collection": ""], "actions": ["listCollections"],
            ]
            let name = "blind-\(test.database.name)"
            try await test.mongod.admin(["createRole": .string(name), "privileges": [tasks, list], "roles": [state]])
            let user = try await test.mongod.addUser(name, roles: [.string(name)])
            for ledger in ["\(test.database.name).ledger", "elsewhere.ledger"] {
                let run = try await test.backfill("job", "SHIPSHAPE_LEDGER=\(ledger)", uri: user)
                #expect(run.exitCode == 77, "\(run.errors)")
                #expect(run.errors.contains("missing find on \(ledger) ("), "\(run.errors)")
            }
            #expect(try await BudgetCase.unsyncable(test) == [])
        }
    }
}
