import BSON
import Glibc
import TestSupport
import Testing

/// Undo, like a run, reserves the documents that it makes unsyncable before it writes them.
@Suite struct UndoUnsyncableTests {
    /// Runs a test with tasks that undo makes unsyncable.
    ///
    /// A job has converted the priority of the tasks to a number, which the active schema requires. Task 3 lacks a
    /// required name, so it does not fit the active schema with any priority.
    private func withRepairedTasks(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("tasks", count: 10) {
                let task: BSONDocument = ["_id": .integer($0), "priority": .string("\($0)")]
                return $0 == 3 ? task : task.appending("name", "x")
            }
            try BudgetCase.writeSchemas(retyping: "priority", requiring: "name", in: test)
            try test.job(
                on: "tasks", steps: ["convert: {field: priority, to: int}"], limits: "{unsynced: 1000, ledgerLag: 3s}",
                more: "schema: {active: next.json}")
            let run = try await test.backfill("job", "SHIPSHAPE_LEDGER=\(test.database.name).ledger")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await BudgetCase.unsyncable(test).count == 10)
            try await body(test)
        }
    }

    /// Undoes the job.
    ///
    /// A user repairs task 3 after the undo has checked all tasks, and before the undo writes any.
    private func undoWhileOneIsRepaired(_ test: BackfillCase) async throws -> ProgramRun {
        let ledger = ["SHIPSHAPE_LEDGER=\(test.database.name).ledger", "SHIPSHAPE_LEASE_TTL=60s"]
        return try await test.undo(flags: ledger, fault: "before-write:1:stop") { program in
            try await waitUntil("the undo stands before its write") { try program.isStopped }
            // Task 3 did not fit the active schema before the undo either, so it has no reservation.
            #expect(try await !BudgetCase.recorded(test).contains(3))
            try await test.database.set("tasks", 3, ["name": "repaired"])
            program.send(SIGCONT)
        }
    }

    @Test func aDocumentRepairedBeforeTheWriteIsReserved() async throws {
        try await withRepairedTasks { test in
            let undone = try await undoWhileOneIsRepaired(test)
            #expect(undone.exitCode == 0, "\(undone.errors)")
            #expect(try await BudgetCase.unsyncable(test).isEmpty)
            #expect(try await BudgetCase.recorded(test).sorted() == Array(0..<10))
        }
    }

    /// The server refuses task 7, so the undo reads the other tasks of the batch again, and writes each separately.
    ///
    /// Before these writes, the undo also reserves task 3, because a user has repaired the task after the undo's first
    /// check.
    @Test func theOthersOfABatchWithARefusedDocumentToo() async throws {
        try await withRepairedTasks { test in
            let keepsOne: BSONValue = ["$or": [["_id": ["$ne": 7]], ["priority": ["$type": "int"]]]]
            try await test.database.run(["collMod": "tasks", "validator": keepsOne])
            let undone = try await undoWhileOneIsRepaired(test)
            #expect(undone.exitCode == 1, "\(undone.errors)")
            #expect(try await BudgetCase.unsyncable(test) == [7])
            #expect(try await Set(BudgetCase.recorded(test)).isSuperset(of: (0..<10).filter { $0 != 7 }))
        }
    }

    @Test func documentsThatFailForAnotherReasonAreNotReserved() async throws {
        try await withRepairedTasks { test in
            let undone = try await test.undo(flags: ["SHIPSHAPE_LEDGER=\(test.database.name).ledger"])
            #expect(undone.exitCode == 0, "\(undone.errors)")
            #expect(try await BudgetCase.recorded(test).sorted() == (0..<10).filter { $0 != 3 })
        }
    }
}
