import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests the unsync budget while another job runs or users write at the same time.
@Suite struct BudgetSharedTests {
    @Test func twoJobsAtOnceShareTheCeiling() async throws {
        try await BudgetCase.withTasks { test in
            // A second collection has a job of its own, with the same state database.
            try await test.database.fill("chores", count: 200) {
                ["_id": .integer($0), "priority": .string("\($0)")]
            }
            try test.job(
                "chores", on: "chores", steps: ["convert: {field: priority, to: int}"],
                limits: "{chunk: {documents: 30}, unsynced: \(BudgetCase.ceiling), reserve: 0}",
                more: "schema: {active: chores-active.json, next: chores-next.json}")
            try BudgetCase.writeSchemas(retyping: "priority", prefix: "chores-", in: test)
            let flags = ["--allow-unsync", "200", "SHIPSHAPE_LEDGER=none"]
            async let first = test.backfill(flags: flags)
            async let second = test.backfill("chores", flags: flags)
            #expect(try await [first.exitCode, second.exitCode] == [75, 75])
            let unsyncable: BSONDocument = ["priority": ["$type": "int"]]
            let tasks = try await test.database.count("tasks", unsyncable)
            let chores = try await test.database.count("chores", unsyncable)
            #expect(tasks + chores < BudgetCase.ceiling, "\(tasks) and \(chores)")
            #expect(tasks + chores > 0)
        }
    }

    /// Three `partner init` commands and a backfill start at the same time.
    ///
    /// The number of documents that the four commands together make unsyncable stays below the limit.
    @Test func partnersAndABackfillAtOnceShareTheLimit() async throws {
        try await BudgetCase.withTasks { test in
            try test.write(
                "partner-schema.json",
                #"{"title": "New", "bsonType": "object", "required": ["missing"], "properties": {"#
                    + #""_id": {"bsonType": "int"}, "name": {"bsonType": "string"},"#
                    + #""missing": {"bsonType": "string"}}}"#)
            func copy(_ name: String) async throws -> ProgramRun {
                try await test.database.fill(name, count: 60) { ["_id": .integer($0), "title": "a"] }
                try test.write(
                    "\(name).yml",
                    """
                    partner: \(name)
                    source: \(test.database.name).\(name)
                    target: \(test.database.name).new-\(name)
                    \(PartnerCase.renaming)
                    schema: {target: partner-schema.json}
                    limits: {unsynced: \(BudgetCase.ceiling), reserve: 0}
                    """)
                return try await Program.run([
                    "partner", "init", test.folder.appending("\(name).yml").string, "--uri", test.uri,
                    "SHIPSHAPE_STATE_DATABASE=\(test.state.name)", "SHIPSHAPE_LEDGER=none", "--yes",
                ])
            }
            async let first = copy("first")
            async let second = copy("second")
            async let third = copy("third")
            let flags = ["--allow-unsync", "200", "SHIPSHAPE_LEDGER=none"]
            async let job = test.backfill(flags: flags)
            for run in try await [first, second, third] {
                #expect([0, 1, 75].contains(run.exitCode), "\(run.errors)")
            }
            #expect(try await job.exitCode == 75)
            // If all commands reserved documents at the same moment, the limit may have stopped all of them. A backfill
            // that runs alone makes documents unsyncable until the limit stops it.
            let alone = try await test.backfill(flags: flags)
            #expect(alone.exitCode == 75, "\(alone.errors)")
            var failing = try await test.database.count("tasks", ["priority": ["$type": "int"]])
            for name in ["first", "second", "third"] { failing += try await test.database.count("new-\(name)") }
            #expect(failing == BudgetCase.ceiling - 1)
        }
    }

    @Test func aDocumentThatTheBudgetDidNotJudgeIsNotWritten() async throws {
        try await BudgetCase.withTasks { test in
            let others: BSONValue = ["$or": [["_id": ["$gte": 100]], ["_id": ["$mod": [2, 1]]]]]
            try await test.database.run(["delete": "tasks", "deletes": [["q": others, "limit": 0]]])
            let run = try await test.backfill(
                flags: ["SHIPSHAPE_LEDGER=none", "SHIPSHAPE_LEASE_TTL=60s"], fault: "before-write:1"
            ) { program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                defer { program.send(SIGCONT) }
                // The budget has checked a chunk, and the runner is about to write it. The test inserts documents whose
                // `_id`s are between the `_id`s of this chunk.
                try await test.database.fill(
                    "tasks", (0..<50).map { ["_id": .integer(2 * $0 + 1), "priority": "1"] })
            }
            // The next pass checks the 50 new documents. The limit allows 49 of them.
            #expect(run.exitCode == 75, "\(run.errors)")
            let unsyncable = try await test.database.documents("tasks", ["priority": ["$type": "int"]])
            #expect(unsyncable.count == BudgetCase.ceiling - 1)
        }
    }

    /// Runs a test with 50 tasks, a job with these steps, and a limit of 10 unsynced documents.
    ///
    /// The active schema requires `p` as text, and the next schema requires it as a number. Both require `q` as text.
    private func withPairs(
        _ make: @escaping (Int) -> BSONDocument, steps: [String], _ body: (BackfillCase) async throws -> Void
    ) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("tasks", count: 50, make)
            try BudgetCase.writeSchemas(retyping: "p", requiring: "q", in: test)
            try test.job(
                on: "tasks", steps: steps, limits: "{unsynced: 10, reserve: 0}",
                more: "schema: {active: active.json, next: next.json}")
            try await body(test)
        }
    }

    /// Runs the job.
    ///
    /// A user changes all documents after the budget has checked them, and before the first write.
    private func runOvertaken(_ test: BackfillCase, by change: BSONDocument) async throws -> ProgramRun {
        try await test.backfill(flags: ["SHIPSHAPE_LEDGER=none", "SHIPSHAPE_LEASE_TTL=60s"], fault: "before-write:1") {
            program in
            try await waitUntil("the runner sleeps") { try program.isStopped }
            defer { program.send(SIGCONT) }
            try await test.database.run([
                "update": "tasks", "updates": [["q": [:], "u": ["$set": .object(change)], "multi": true]],
            ])
        }
    }

    private func expectReservations(_ run: ProgramRun, _ test: BackfillCase) async throws {
        #expect(run.exitCode == 75, "\(run.errors)")
        let unsyncable = try await test.database.documents("tasks", ["p": ["$type": "int"], "q": ["$exists": true]])
        #expect(unsyncable.count == 9)
        #expect(try await Set(BudgetCase.recorded(test)) == Set(unsyncable.compactMap { $0["_id"]?.integer }))
    }

    @Test func aDocumentThatIsRepairedBeforeTheWriteIsNotMadeUnsyncableUncounted() async throws {
        // Without `q` the documents do not sync, so the conversion of `p` makes none of them unsyncable. Then a user
        // adds `q`.
        let make = { (number: Int) -> BSONDocument in ["_id": .integer(number), "p": .string("\(number)")] }
        try await withPairs(make, steps: ["convert: {field: p, to: int}"]) { test in
            try await expectReservations(try await runOvertaken(test, by: ["q": ""]), test)
        }
    }

    @Test func aStepThatBecomesDueBeforeTheWriteMakesNothingUnsyncableUncounted() async throws {
        // The text `high` cannot be converted, so only the `default` step is needed. Then a user writes a text that can
        // be converted.
        let make = { (number: Int) -> BSONDocument in ["_id": .integer(number), "p": "high"] }
        let steps = [#"default: {field: q, value: ""}"#, "convert: {field: p, to: int}"]
        try await withPairs(make, steps: steps) { test in
            try await expectReservations(try await runOvertaken(test, by: ["p": "3"]), test)
            // A document is written as a whole or not at all, so the others wait for room with both steps.
            #expect(try await test.database.count("tasks", ["q": ""]) == 9)
        }
    }

    /// The job changes 50 documents that are already unsyncable, so the limit of 10 does not stop it.
    ///
    /// The budget reserves a few documents at a time, and releases their reservations after the write.
    @Test func documentsThatFailAlreadyTakeNoRoomForGood() async throws {
        let make = { (number: Int) -> BSONDocument in ["_id": .integer(number), "p": .string("\(number)")] }
        try await withPairs(make, steps: ["convert: {field: p, to: int}"]) { test in
            let run = try await test.backfill(flags: ["SHIPSHAPE_LEDGER=none"])
            // The documents fail under the next schema as well, because they lack `q`, which the job does not fill.
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(run.output.contains("still unsyncable under the next schema: 50 documents"), "\(run.output)")
            #expect(run.output.contains("made 0 documents unsyncable"), "\(run.output)")
            #expect(try await test.database.count("tasks", ["p": ["$type": "int"]]) == 50)
            #expect(try await BudgetCase.recorded(test).isEmpty)
        }
    }

    @Test func documentsThatFailAlreadyAndThatTheLedgerShowsTakeNoRoomAtAll() async throws {
        let make = { (number: Int) -> BSONDocument in ["_id": .integer(number), "p": .string("\(number)")] }
        try await withPairs(make, steps: ["convert: {field: p, to: int}"]) { test in
            // The ledger alone has 50 documents, which is more than the limit of 10 allows.
            try await BudgetCase.unsync(Array(0..<50), in: test)
            let run = try await BudgetCase.run(test)
            #expect(run.exitCode == 75, "\(run.errors)")
            try test.job(
                "more", on: "tasks", steps: ["convert: {field: p, to: int}"], limits: "{unsynced: 51, reserve: 0}",
                more: "schema: {active: active.json, next: next.json}")
            let more = try await test.backfill("more", flags: ["SHIPSHAPE_LEDGER=\(test.database.name).ledger"])
            #expect(more.exitCode == 1, "\(more.errors)")
            #expect(more.output.contains("still unsyncable under the next schema: 50 documents"), "\(more.output)")
            #expect(more.output.contains(" in 1 chunk,"), "\(more.output)")
        }
    }

    @Test func longIDsAreSentInSeveralCommands() async throws {
        try await BudgetCase.withTasks { test in
            try await test.database.run(["delete": "tasks", "deletes": [["q": [:], "limit": 0]]])
            let long = String(repeating: "x", count: 20_000)
            try await test.database.fill("tasks", count: 600) {
                ["_id": .string("\($0) " + long), "priority": $0 % 2 == 0 ? "1" : 5]
            }
            try test.job(
                on: "tasks", steps: ["convert: {field: priority, to: int}"],
                more: "schema: {active: active.json, next: next.json}")
            let run = try await test.backfill(flags: ["SHIPSHAPE_LEDGER=none"])
            // All documents fail, because the schema requires an `int` as `_id`.
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(run.output.contains("still unsyncable under the next schema: 600 documents"), "\(run.output)")
            #expect(try await test.database.count("tasks", ["priority": 1]) == 300)
        }
    }

    @Test func aJobThatAnotherLeavesNoRoomSaysWhich() async throws {
        try await BudgetCase.withTasks { test in
            #expect(try await BudgetCase.run(test, "--allow-unsync", "200").exitCode == 75)
            let job = try String(contentsOfFile: test.path(), encoding: .utf8)
            try test.write("other.yml", job.replacing("job: job", with: "job: other"))
            let flags = ["SHIPSHAPE_LEDGER=none", "--dry-run"]
            let other = try await test.backfill("other", flags: flags)
            #expect(other.exitCode == 1, "\(other.errors)")
            #expect(
                other.output.contains("job \"job\" reserves room for 99 documents that it makes unsyncable"),
                "\(other.output)")
        }
    }

    @Test(arguments: ["507f1f77bcf86cd799439011"]) func anAppIsFoundHoweverTheLedgerSpellsItsID(_ app: String)
        async throws
    {
        try await BudgetCase.withTasks { test in
            let id = try #require(ObjectID(app))
            try await test.database.fill(
                "ledger",
                (0..<40).map { number in
                    [
                        "appId": number % 2 == 0 ? .objectID(id) : .string(app), "documentId": .integer(1_000 + number),
                        "ns": ["db": .string(test.database.name), "coll": "tasks"],
                    ]
                })
            let run = try await BudgetCase.run(test, "--allow-unsync", "200", "SHIPSHAPE_APP_ID=\(app)")
            #expect(run.exitCode == 75)
            #expect(run.output.contains("40 in the ledger"), "\(run.output)")
            #expect(try await BudgetCase.unsyncable(test).count == 59)
        }
    }
}
