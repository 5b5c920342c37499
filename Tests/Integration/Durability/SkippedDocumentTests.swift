import BSON
import TestSupport
import Testing

/// Tests that a run skips single documents that cannot be written, with their error code, and writes all others.
@Suite struct SkippedDocumentTests {
    private static let documents = 300
    /// The `_id`s of the documents that the server refuses: in the middle, next to each other, and at both ends.
    private static let odd = [0, 77, 78, 150, 299]

    private func withPeople(
        limits: String? = nil, steps: [String] = ["copy: {from: n, to: m}"],
        _ body: (BackfillCase) async throws -> Void
    ) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: Self.documents) {
                ["_id": .integer($0), "n": Self.odd.contains($0) ? -1 : .integer($0)]
            }
            try test.job(steps: steps, limits: limits)
            try await body(test)
        }
    }

    private func refuseNegative(_ test: BackfillCase) async throws {
        try await test.database.run([
            "collMod": "people", "validator": ["$jsonSchema": ["properties": ["m": ["minimum": 0]]]],
        ])
    }

    private func recorded(_ test: BackfillCase) async throws -> [Int] {
        try await test.state.documents("failed").compactMap { $0["_id"]?.document?["id"]?.integer }
    }

    private func expectOthersWritten(_ test: BackfillCase) async throws {
        let without = try await test.database.documents("people", ["m": ["$exists": false]])
        #expect(without.compactMap { $0["_id"]?.integer } == Self.odd)
    }

    @Test(arguments: [nil, "{chunk: {documents: 20}}", "{chunk: {documents: 1}}"])
    func documentsThatAValidatorRefuses(_ limits: String?) async throws {
        try await withPeople(limits: limits) { test in
            try await refuseNegative(test)
            let run = try await test.backfill("job", "--output", "json")
            #expect(run.exitCode == 1, "\(run.status): \(run.errors)")
            try await expectOthersWritten(test)
            #expect(try await recorded(test) == Self.odd)
            let record = try #require(try await test.state.documents("failed").first)
            #expect(record["code"]?.integer == 121)
            #expect(record["name"]?.text == "refused by the collection's validator")
            let report = try #require(try BSONValue(extendedJSON: run.output).document)
            let group = try #require(report["failures"]?.document?.values.first?.document)
            #expect(group["code"]?.integer == 121)
            #expect(group["documents"]?.integer == Self.odd.count)
            #expect(try await test.checkpoint()?.state == "done")
        }
    }

    /// One update command writes documents that the job may make unsyncable, and documents that stay syncable.
    ///
    /// The server refuses only document 600. Documents with lower `_id`s may still need the job, so the runner searches
    /// for the refused document by halving the chunk.
    @Test func possiblyUnsyncableDocumentsAmongOthersAreFoundByHalves() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("tasks", count: 800) { number in
                ["_id": .integer(number), "p": number % 2 == 0 ? "1" : "high"]
            }
            try BudgetCase.writeSchemas(retyping: "p", requiring: "q", in: test)
            try test.job(
                on: "tasks", steps: [#"default: {field: q, value: ""}"#, "convert: {field: p, to: int}"],
                more: "schema: {active: active.json, next: next.json}")
            let isRefused: BSONValue = ["$and": [["$eq": ["$_id", 600]], ["$eq": [["$type": "$p"], "int"]]]]
            try await test.database.run(["collMod": "tasks", "validator": ["$expr": ["$not": [isRefused]]]])
            let run = try await test.backfill(flags: ["SHIPSHAPE_LEDGER=none"])
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(try await recorded(test) == [600])
            #expect(try await test.database.count("tasks", ["q": ""]) == 799)
            #expect(try await test.database.count("tasks", ["p": 1]) == 399)
            #expect(try await test.state.count("journal") < 40)
        }
    }

    @Test func aLaterRunTriesThemAgainAndTakesTheirRecordsAway() async throws {
        try await withPeople { test in
            try await refuseNegative(test)
            #expect(try await test.backfill().exitCode == 1)
            try await test.database.run(["collMod": "people", "validationAction": "warn"])
            try await test.database.run(["delete": "people", "deletes": [["q": ["_id": 77], "limit": 1]]])
            let run = try await test.backfill()
            #expect(run.exitCode == 0, "\(run.errors)\(run.output)")
            #expect(try await recorded(test) == [])
            #expect(try await test.database.count("people", ["m": ["$exists": false]]) == 0)
        }
    }

    /// If several documents have the same value in a unique index, the first is written, and the others are skipped.
    ///
    /// The concurrency is 1, because otherwise any of them could be the first.
    @Test func documentsThatAUniqueIndexRefuses() async throws {
        try await withPeople(limits: "{concurrency: 1}") { test in
            try await test.database.run([
                "createIndexes": "people", "indexes": [["key": ["m": 1], "name": "m", "unique": true, "sparse": true]],
            ])
            let run = try await test.backfill()
            #expect(run.exitCode == 1, "\(run.status): \(run.errors)")
            #expect(try await recorded(test) == [77, 78, 150, 299])
            #expect(
                run.output.contains("skipped, would be twice in a unique index (code 11000): 4, such as _id 77, 78"))
            #expect(try await test.database.count("people", ["m": ["$exists": true]]) == Self.documents - 4)
        }
    }

    @Test func documentsThatGrowTooLarge() async throws {
        try await withPeople(steps: ["copy: {from: blob, to: twin}"]) { test in
            let blob = BSONValue.string(String(repeating: "x", count: 9 << 20))
            try await test.database.run([
                "update": "people", "updates": [["q": ["_id": 150], "u": ["$set": ["blob": blob]]]],
            ])
            try await test.database.run([
                "update": "people",
                "updates": [["q": ["_id": ["$lt": 10]], "u": ["$set": ["blob": "small"]], "multi": true]],
            ])
            let dry = try await test.backfill("job", "--dry-run", yes: false)
            #expect(dry.output.contains("too large for MongoDB"), "\(dry.output)\(dry.errors)")
            let run = try await test.backfill()
            #expect(run.exitCode == 1, "\(run.status): \(run.errors)")
            #expect(try await recorded(test) == [150])
            #expect(run.output.contains("too large for MongoDB"), "\(run.output)")
            #expect(try await test.database.count("people", ["twin": "small"]) == 10)
        }
    }

    @Test func moreThanMaxErrorsStopTheRunAndTheNextContinues() async throws {
        try await withPeople(limits: "{chunk: {documents: 20}}") { test in
            try await refuseNegative(test)
            let run = try await test.backfill("job", "--max-errors", "2")
            #expect(run.exitCode == 75, "\(run.status): \(run.errors)")
            #expect(run.output.contains("3 documents that cannot be written (--max-errors allows 2)"))
            #expect(try await recorded(test) == [0, 77])
            #expect(try await test.database.count("people", ["_id": ["$gt": 78], "m": ["$exists": true]]) == 0)
            #expect(try await test.backfill("job", "--max-errors", "2").exitCode == 75)
            #expect(try await test.backfill("job", "--max-errors", "5").exitCode == 1)
            #expect(try await recorded(test) == Self.odd)
            try await expectOthersWritten(test)
        }
    }

    @Test func repairedDocumentsNoLongerCount() async throws {
        try await withPeople(limits: "{chunk: {documents: 20}}") { test in
            try await refuseNegative(test)
            #expect(try await test.backfill("job", "--max-errors", "2").exitCode == 75)
            #expect(try await recorded(test) == [0, 77])
            try await test.database.run([
                "update": "people",
                "updates": [["q": ["_id": ["$in": [0, 77]]], "u": [["$set": ["n": 1, "m": 1]]], "multi": true]],
            ])
            let run = try await test.backfill("job", "--max-errors", "2")
            #expect(run.exitCode == 75)
            #expect(run.output.contains("3 documents that cannot be written"), "\(run.output)")
            #expect(try await recorded(test) == [78, 150])
        }
    }

    @Test func noValueIsShownOrKept() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 3) { ["_id": .integer($0), "mail": "secret-word"] }
            try test.job(steps: ["copy: {from: mail, to: email}"])
            try await test.database.run([
                "createIndexes": "people",
                "indexes": [["key": ["email": 1], "name": "email", "unique": true, "sparse": true]],
            ])
            let run = try await test.backfill()
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(!(run.output + run.errors).contains("secret-word"))
            for document in try await test.state.documents("failed") {
                #expect(!(try document.extendedJSON()).contains("secret-word"))
            }
        }
    }

    @Test(arguments: ["after-write:3", "before-state-write:8", "after-state-write:8", "after-state-write:9"])
    func aRunThatDiesBetweenContinues(_ fault: String) async throws {
        try await withPeople(limits: "{chunk: {documents: 50}}") { test in
            try await refuseNegative(test)
            #expect(try await test.backfill(fault: fault).wasKilled)
            let run = try await test.backfill()
            #expect(run.exitCode == 1, "\(run.status): \(run.errors)")
            try await expectOthersWritten(test)
            #expect(try await recorded(test) == Self.odd)
        }
    }
}
