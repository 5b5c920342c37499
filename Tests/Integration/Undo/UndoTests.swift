import BSON
import Glibc
import TestSupport
import Testing

/// Undo restores the documents that a job changed, byte for byte, unless another client has changed them since.
@Suite struct UndoTests {
    private static let documents = 600

    /// The steps of the jobs that the tests undo.
    ///
    /// In the documents, the fields of these steps are missing, null, or of several types. The `_id`s have many types.
    private static let kinds: [[String]] = [
        [#"default: {field: email, value: "none", when: missingOrNull}"#],
        [#"default: {field: address.country, value: "US"}"#],
        ["copy: {from: age, to: yearsSinceBirth}"],
        ["convert: {field: age, to: string}"],
        ["convert: {field: score, to: string, into: scoreText}"],
        KillDocuments.steps,
    ]

    private func withPeople(
        _ steps: [String] = KillDocuments.steps, more: String = "", _ body: (BackfillCase) async throws -> Void
    ) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: Self.documents, KillDocuments.document)
            try test.job(steps: steps, limits: "{chunk: {documents: 50}}", more: more)
            try await body(test)
        }
    }

    @Test(arguments: kinds) func everyKindIsUndoneByteForByte(_ steps: [String]) async throws {
        try await withPeople(steps) { test in
            let original = try await test.database.documents("people")
            let run = try await test.backfill(flags: ["--output", "json"])
            let changed = try #require(try test.report(run)["changed"]?.integer)
            #expect(changed > 0)
            let written = try await test.database.documents("people")
            #expect(zip(written, original).count { $0 != $1 } == changed)

            let dry = try test.report(try await test.undo(flags: ["--dry-run", "--output", "json"], yes: false))
            #expect(try await test.database.documents("people") == written)
            let undone = try await test.undo(flags: ["--output", "json"])
            #expect(undone.exitCode == 0, "\(undone.errors)")
            let real = try test.report(undone)
            #expect(try await test.database.documents("people") == original)
            for report in [dry, real] {
                #expect(report["restored"]?.integer == changed)
                #expect(report["changes"]?.integer == changed)
                #expect(report["left_alone"]?.document?.values.isEmpty == true)
            }
            #expect(try await test.checkpoint()?.state == "undone")
        }
    }

    @Test func laterEditsAreKeptAndListed() async throws {
        try await withPeople([#"default: {field: address.country, value: "US"}"#, "convert: {field: age, to: string}"])
        {
            test in
            let original = try await test.database.documents("people")
            try await test.backfill()
            let ages = try await test.database.documents("people").filter { $0["age"]?.type == .string }
            let ids = zip(original, try await test.database.documents("people")).filter { $0 != $1 }
                .compactMap { before, after in before["age"] == after["age"] ? nil : before["_id"] }
            #expect(ages.count >= ids.count)
            // A user changes a field that the job wrote in one document, changes another field in a second document,
            // and deletes a third one.
            try await test.database.set("people", ids[0], ["age": "changed"])
            try await test.database.set("people", ids[1], ["name": "renamed"])
            try await test.database.run(["delete": "people", "deletes": [["q": ["_id": ids[2]], "limit": 1]]])

            let run = try await test.undo(flags: ["--output", "json"])
            #expect(run.exitCode == 1, "\(run.errors)")
            let report = try test.report(run)
            #expect(report.left("changed") == [ids[0]])
            // The report's JSON does not distinguish a long from an int, so only the integers are compared.
            #expect(report.left("gone").map(\.integer) == [ids[2].integer])
            let after = try await test.database.documents("people")
            for document in original {
                let id = try #require(document["_id"])
                let now = after.first { $0["_id"] == id }
                if id == ids[0] {
                    #expect(now?["age"] == "changed")
                } else if id == ids[1] {
                    #expect(now == (try document.replacing("name", with: "renamed")))
                } else if id != ids[2] {
                    #expect(now == document)
                }
            }
        }
    }

    @Test func anUndoneJobIsNeitherUndoneNorRunAgain() async throws {
        try await withPeople { test in
            try await test.backfill()
            try await test.undo()
            let original = try await test.database.documents("people")
            // After the undo, a user makes the same change as the job. A second undo must keep the user's change.
            try await test.database.set("people", .minKey, ["email": "none"])
            let second = try await test.undo(flags: ["--output", "json"])
            #expect(second.exitCode == 0, "\(second.errors)")
            #expect(try test.report(second)["outcome"]?.text == "undone_before")
            let run = try await test.backfill()
            #expect(run.exitCode == 65)
            #expect(run.errors.contains("was undone"), "\(run.errors)")
            let after = try await test.database.documents("people")
            #expect(zip(original, after).count { $0 != $1 } == 1)
        }
    }

    @Test func ofAJobThatAFolderAppliedItIsSaid() async throws {
        try await withPeople { test in
            try await test.backfill()
            let before = try await test.undo(flags: ["--dry-run"], yes: false)
            #expect(!before.output.contains("backfill has recorded"), "\(before.output)")
            try await test.state.fill("migrations", [["_id": "job", "digest": "0"]])
            let undone = try await test.undo()
            #expect(undone.exitCode == 0, "\(undone.errors)")
            #expect(undone.output.contains("backfill has recorded the job as applied"), "\(undone.output)")
        }
    }

    @Test func offATerminalItNeedsAYes() async throws {
        try await withPeople { test in
            try await test.backfill()
            let written = try await test.database.documents("people")
            let run = try await test.undo(yes: false)
            #expect(run.exitCode == 64, "\(run.errors)")
            #expect(run.errors.contains("would undo"))
            #expect(try await test.database.documents("people") == written)
        }
    }

    /// No operator reads the counts before the undo, so the documents are not compared twice.
    @Test func withAYesTheDocumentsAreNotCountedFirst() async throws {
        try await withPeople { test in
            try await test.backfill()
            let run = try await test.undo()
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.errors.contains("how many can be undone was not counted, because of --yes"), "\(run.errors)")
            #expect(!run.errors.contains("would undo"))
            #expect(run.output.contains("undid"), "\(run.output)")
        }
    }

    @Test(arguments: ["--no-journal", "journal: false"]) func withoutAJournalThereIsNoUndo(_ way: String) async throws {
        let isFlag = way.hasPrefix("--")
        try await withPeople(more: isFlag ? "" : way) { test in
            let run = try await test.backfill(flags: isFlag ? [way] : [])
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.errors.contains("cannot be undone"))
            #expect(try await test.state.count("journal", [:]) == 0)
            let undo = try await test.undo()
            #expect(undo.exitCode == 65)
            #expect(undo.errors.contains("ran without a journal"), "\(undo.errors)")
        }
    }

    @Test func aLaterJobOverTheSameFieldsIsUndoneFirst() async throws {
        try await withPeople([#"default: {field: email, value: ""}"#]) { test in
            let original = try await test.database.documents("people")
            try await test.backfill()
            try test.job("other", steps: ["copy: {from: age, to: years}"])
            try test.job("later", steps: [#"default: {field: email, value: "later", when: missingOrNull}"#])
            try await test.backfill("other")
            try await test.backfill("later")
            let refused = try await test.undo()
            #expect(refused.exitCode == 65)
            #expect(refused.errors.contains("the later job \"later\" wrote the same fields"), "\(refused.errors)")
            for job in ["later", "job", "other"] {
                let run = try await test.undo(job)
                #expect(run.exitCode == 0, "\(run.errors)")
            }
            #expect(try await test.database.documents("people") == original)
        }
    }

    @Test func anUndoneJobIsUndoneWhateverALaterJobWrote() async throws {
        try await withPeople([#"default: {field: email, value: ""}"#]) { test in
            try await test.backfill()
            #expect(try await test.undo().exitCode == 0)
            try test.job("later", steps: [#"default: {field: email, value: "later", when: missingOrNull}"#])
            #expect(try await test.backfill("later").exitCode == 0)
            let written = try await test.database.documents("people")
            for flags in [["--dry-run"], []] {
                let again = try await test.undo(flags: flags + ["--output", "json"], yes: flags.isEmpty)
                #expect(again.exitCode == 0, "\(again.errors)")
                #expect(try test.report(again)["outcome"]?.text == "undone_before", "\(again.errors)")
            }
            #expect(try await test.database.documents("people") == written)
        }
    }

    @Test func aRecreatedCollectionIsNotTouched() async throws {
        try await withPeople { test in
            try await test.backfill()
            try await test.database.run(["drop": "people"])
            try await test.database.fill("people", count: 5, KillDocuments.document)
            let run = try await test.undo()
            #expect(run.exitCode == 65)
            #expect(run.errors.contains("created again"), "\(run.errors)")
        }
    }

    /// The stored job uses an operator that only an earlier version of the program accepted.
    ///
    /// The job cannot run again, but `status`, `undo` and `job cleanup` work, because they do not evaluate the
    /// operator.
    @Test func aJobOfAnEarlierVersionIsUndoneAndJudgedWhateverItsOperatorsAre() async throws {
        try await BudgetCase.withTasks { test in
            let original = try await test.database.documents("tasks")
            func write(_ name: String) throws {
                try test.job(
                    on: "tasks", steps: ["expression: {field: priority, value: {\(name): {$toInt: $priority}}}"],
                    limits: "{chunk: {documents: 30}, unsynced: 1000}",
                    more: "schema: {active: active.json, next: next.json}")
            }
            try write("$abs")
            let flags = ["SHIPSHAPE_LEDGER=none", "--allow-unsync", "200", "--output", "json"]
            #expect(try await test.backfill(flags: flags).exitCode == 0)
            let text = try #require(try await test.state.documents("jobs").first?["text"]?.text)
            let old: BSONDocument = ["$set": ["text": .string(text.replacing("$abs", with: "$earlier"))]]
            try await test.state.run([
                "update": "jobs", "updates": [["q": ["_id": "job"], "u": .object(old)]],
            ])
            try write("$earlier")

            let again = try await test.backfill(flags: flags)
            #expect(again.exitCode == 65 && again.errors.contains("cannot use $earlier"), "\(again.errors)")
            let shown = try await test.steer("status", test.path())
            #expect(shown.exitCode == 0, "\(shown.errors)")
            let undone = try await test.undo(test.path(), flags: flags)
            #expect(undone.exitCode == 0, "\(undone.errors)")
            let report = try test.report(undone)
            #expect(report["restored"] == 200 && report["harm"]?.integer == 0, "\(undone.output)")
            #expect(report["notes"]?.document?.values.isEmpty == true, "\(undone.output)")
            #expect(try await test.database.documents("tasks") == original)
            let cleaned = try await test.steer("cleanup", test.path(), "--yes")
            #expect(cleaned.exitCode == 0, "\(cleaned.errors)")
        }
    }

    @Test func aFullDiskStopsTheRunBeforeTheChunk() async throws {
        try await withPeople { test in
            var point = FailPoint.error(14_031, "insert", appName: test.appName, mode: .times(1))
            point.errorCode = 14_031
            let original = try await test.database.documents("people")
            try await test.mongod.failing(point) {
                let run = try await test.backfill()
                #expect(run.exitCode == 75, "\(run.errors)")
                #expect(run.errors.contains("no room for"), "\(run.errors)")
            }
            #expect(try await test.database.documents("people") == original)
            #expect(try await test.backfill().exitCode == 0)
        }
    }
}

extension TestDatabase {
    /// Sets fields of a document, as a user does.
    func set(_ collection: String, _ id: BSONValue, _ fields: BSONDocument) async throws {
        try await run([
            "update": .string(collection), "updates": [["q": ["_id": id], "u": ["$set": .object(fields)]]],
        ])
    }
}
