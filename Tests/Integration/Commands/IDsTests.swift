import BSON
import SystemPackage
import TestSupport
import Testing

/// Tests that `backfill --ids` changes only the documents in a list of `_id`s.
@Suite struct IDsTests {
    private func withPeople(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 1_000)
            try test.job(steps: [#"default: {field: email, value: ""}"#])
            try await body(test)
        }
    }

    private func changed(_ test: BackfillCase) async throws -> [BSONValue?] {
        try await test.database.documents("people", ["email": ""]).map { $0["_id"] }
    }

    @Test func onlyTheDocumentsOfTheListAreChanged() async throws {
        try await withPeople { test in
            let ids = (0..<450).map { $0 * 2 }
            try test.write("ids.jsonl", ids.map(String.init).joined(separator: "\n") + "\n\"gone\"\n")
            let run = try await test.backfill("job", "--ids", test.folder.appending("ids.jsonl").string)
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.output.contains("changed 450 of 450 documents"))
            #expect(try await changed(test) == ids.map { .integer($0) })
            // A run without `--ids` changes the documents that the list left out.
            #expect(try await test.backfill().exitCode == 0)
            #expect(try await changed(test).count == 1_000)
            #expect(try await test.status()["state"] == "done")
        }
    }

    @Test func aJobThatWasDoneStaysDone() async throws {
        try await withPeople { test in
            try await test.backfill()
            try await test.database.fill("people", [["_id": "a"], ["_id": "b"]])
            try test.write("ids.jsonl", #"{"_id": "a"}"#)
            let run = try await test.backfill("job", "--ids", test.folder.appending("ids.jsonl").string)
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.database.documents("people", ["_id": "a"]) == [["_id": "a", "email": ""]])
            #expect(try await test.database.documents("people", ["_id": "b"]) == [["_id": "b"]])
            #expect(try await test.status()["state"] == "done")
        }
    }

    private func list(_ ids: some Sequence<Int>, in test: BackfillCase) throws -> String {
        try test.write("ids.jsonl", ids.map(String.init).joined(separator: "\n"))
        return test.folder.appending("ids.jsonl").string
    }

    @Test func itsChunksAreAsLargeAsTimeAndLimitsAllow() async throws {
        try await withPeople { test in
            try await test.database.fill("people", count: 5_000) { ["_id": .integer(10_000 + $0)] }
            let file = try list(10_000..<15_000, in: test)
            let run = try await test.backfill("job", "--ids", file)
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.output.contains("changed 5,000 of 5,000 documents in"), "\(run.output)")
        }
    }

    @Test func aRunThatDiesDuringTheListGetsItAgain() async throws {
        try await withPeople { test in
            try test.job(steps: [#"default: {field: email, value: ""}"#], limits: "{chunk: {documents: 50}}")
            let file = try list(stride(from: 0, to: 900, by: 2), in: test)
            #expect(try await test.backfill("job", "--ids", file, fault: "after-write:3").wasKilled)
            #expect(try await changed(test).count == 100)
            // A run with `--ids` stores no position in the checkpoint, so a later run without it reads the whole
            // collection.
            let checkpoint = try #require(try await test.checkpoint())
            #expect(checkpoint.chunks == 2)
            #expect(checkpoint.last == nil)
            #expect(checkpoint.upper == nil)
            let run = try await test.backfill("job", "--ids", file)
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await changed(test).count == 450)
            #expect(try await test.backfill().exitCode == 0)
            #expect(try await changed(test).count == 1_000)
        }
    }

    @Test func nearTheThresholdItStopsAndContinuesWithTheSameList() async throws {
        try await BudgetCase.withTasks { test in
            let ids = (0..<150).map { 199 - $0 }
            let flags = ["--ids", try list(ids, in: test), "SHIPSHAPE_LEDGER=none", "--allow-unsync", "200"]
            let stopped = try await test.backfill(flags: flags)
            #expect(stopped.exitCode == 75, "\(stopped.errors)")
            #expect(stopped.output.contains("no ledger and 99 pending"), "\(stopped.output)")
            #expect(try await BudgetCase.unsyncable(test).sorted() == Array(50..<149))
            let tuned = try await Program.run([
                "job", "tune", "job", "unsynced=1000", "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
            ])
            #expect(tuned.exitCode == 0, "\(tuned.errors)")
            let run = try await test.backfill(flags: flags)
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await BudgetCase.unsyncable(test).sorted() == Array(50..<200))
        }
    }

    @Test func everyPhaseRunsOverIt() async throws {
        try await Mongod.shared.withBackfill { test in
            let text = { (number: Int) in "00112233-4455-6677-8899-\(100_000_000_000 + number)" }
            let make = { (number: Int) -> BSONDocument in ["_id": .integer(number), "ref": .string(text(number))] }
            try await test.database.fill("people", count: 500, make)
            try await test.database.fill("people", [["_id": 900, "ref": "none"]])
            try test.job(steps: ["convert: {field: ref, to: uuid}", "rename: {from: ref, to: id}"])
            let ids = stride(from: 0, to: 500, by: 2)
            let run = try await test.backfill("job", "--ids", try list(Array(ids) + [900], in: test))
            #expect(run.exitCode == 0, "\(run.errors)")
            let done: BSONDocument = ["ref": ["$exists": false], "id": ["$type": "binData"]]
            #expect(try await test.database.documents("people", done).map { $0["_id"]?.integer } == Array(ids))
            #expect(try await test.database.documents("people", ["_id": 900]) == [["_id": 900, "id": "none"]])
            #expect(Set(try await test.state.documents("journal").compactMap { $0["phase"]?.integer }) == [0, 1])
            let undone = try await Program.run([
                "undo", "job", "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)", "--yes",
            ])
            #expect(undone.exitCode == 0, "\(undone.errors)")
            #expect(try await test.database.documents("people", ["_id": ["$lt": 500]]) == (0..<500).map(make))
        }
    }

    @Test func withADryRunItIsWrongUsage() async throws {
        try await withPeople { test in
            let run = try await test.backfill("job", "--dry-run", "--ids", try list([1], in: test))
            #expect(run.exitCode == 64)
            #expect(run.errors.contains("--dry-run excludes --ids"))
        }
    }

    @Test func aListOfAnotherFormIsRefusedWithItsLine() async throws {
        try await withPeople { test in
            try test.write("ids.jsonl", "1\nid 2\n")
            let run = try await test.backfill("job", "--ids", test.folder.appending("ids.jsonl").string)
            #expect(run.exitCode == 65)
            #expect(run.errors.contains("ids.jsonl:2:1: not a line of extended JSON"))
            #expect(try await changed(test) == [])
        }
    }
}
