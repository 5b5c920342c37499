import BSON
import Glibc
import TestSupport
import Testing

/// The threshold brake where others work at the same time.
@Suite struct GateSharedTests {
    @Test func twoJobsAtOnceShareTheCeiling() async throws {
        try await GateCase.withTasks { test in
            // A second collection with a job of its own, in the same state database.
            try await test.database.fill("chores", count: 200) {
                ["_id": .integer($0), "priority": .string("\($0)")]
            }
            try test.job(
                "chores", on: "chores", steps: ["convert: {field: priority, to: int}"],
                limits: "{chunk: {documents: 30}, unsynced: \(GateCase.ceiling), reserve: 0}",
                more: "schema: {active: chores-active.json, next: chores-next.json}")
            for (name, type) in [("chores-active", "string"), ("chores-next", "int")] {
                try test.write(
                    "\(name).json",
                    """
                    {"title": "Chore", "bsonType": "object", "required": ["_id", "priority"],
                     "properties": {"_id": {"bsonType": "int"}, "priority": {"bsonType": "\(type)"}}}
                    """)
            }
            let flags = ["--allow-unsync", "200", "--ledger", "none"]
            async let first = test.backfill(flags: flags)
            async let second = test.backfill("chores", flags: flags)
            #expect(try await [first.exitCode, second.exitCode] == [75, 75])
            let harmed: BSONDocument = ["priority": ["$type": "int"]]
            let tasks = try await test.database.count("tasks", harmed)
            let chores = try await test.database.count("chores", harmed)
            #expect(tasks + chores < GateCase.ceiling, "\(tasks) and \(chores)")
            #expect(tasks + chores > 0)
        }
    }

    @Test func aDocumentThatTheGateDidNotJudgeIsNotWritten() async throws {
        try await GateCase.withTasks { test in
            let others: BSONValue = ["$or": [["_id": ["$gte": 100]], ["_id": ["$mod": [2, 1]]]]]
            try await test.database.run(["delete": "tasks", "deletes": [["q": others, "limit": 0]]])
            let run = try await test.backfill(
                flags: ["--ledger", "none"], fault: "before-write:1"
            ) { program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                defer { program.send(SIGCONT) }
                // Within the range of the chunk that was judged and is about to be written.
                try await test.database.fill(
                    "tasks", (0..<50).map { ["_id": .integer(2 * $0 + 1), "priority": "1"] })
            }
            // The latecomers are judged in a pass of their own, where only some have room.
            #expect(run.exitCode == 75, "\(run.errors)")
            let harmed = try await test.database.documents("tasks", ["priority": ["$type": "int"]])
            #expect(harmed.count == GateCase.ceiling - 1)
        }
    }

    @Test(arguments: ["507f1f77bcf86cd799439011"]) func anAppIsFoundHoweverTheLedgerSpellsItsID(_ app: String)
        async throws
    {
        try await GateCase.withTasks { test in
            let id = try #require(ObjectID(app))
            try await test.database.fill(
                "ledger",
                (0..<40).map { number in
                    [
                        "appId": number % 2 == 0 ? .objectID(id) : .string(app), "documentId": .integer(1_000 + number),
                        "ns": ["db": .string(test.database.name), "coll": "tasks"],
                    ]
                })
            let run = try await GateCase.run(test, "--allow-unsync", "200", "--app-id", app)
            #expect(run.exitCode == 75)
            #expect(run.output.contains("40 in the ledger"), "\(run.output)")
            #expect(try await GateCase.harmed(test).count == 59)
        }
    }
}
