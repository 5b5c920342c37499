import BSON
import Mongo
import TestSupport
import Testing

/// Tests the undo of a job whose collection got a validator after the job.
///
/// Before undo writes anything, it reports the documents that the validator would refuse.
@Suite struct UndoValidatorTests {
    /// Runs a test with ages that a job converted to `int`, three of them from text.
    ///
    /// After the job, the collection gets a validator.
    private func withValidator(
        _ settings: BSONDocument, _ validator: BSONDocument = ["age": ["$not": ["$type": "string"]]],
        _ body: (BackfillCase) async throws -> Void
    ) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 9) { number in
                // The documents also have field names and values that a pipeline could misread as paths.
                [
                    "_id": .integer(number), "": "", "a.b": "$age",
                    "age": number < 3 ? .string("\(number)") : number < 6 ? .double(2) : .int(2),
                ]
            }
            try test.job(steps: ["convert: {field: age, to: int}"], limits: "{chunk: {documents: 4}}")
            #expect(try await test.backfill().exitCode == 0)
            var change = BSONBuilder()
            change.append("collMod", "people")
            change.append("validator", .object(validator))
            for (name, value) in try settings.elements() { change.append(name, value) }
            try await test.database.run(change.finish())
            try await body(test)
        }
    }

    @Test func documentsThatTheValidatorRefusesAreReportedBefore() async throws {
        try await withValidator(["validationLevel": "strict", "validationAction": "error"]) { test in
            let before = try await test.database.documents("people")
            let dry = try await test.undo(flags: ["--dry-run"], yes: false)
            #expect(dry.exitCode == 1, "\(dry.errors)")
            #expect(dry.output.contains("would undo 3 of 6 changes"), "\(dry.output)")
            #expect(
                dry.output.contains("skipped, refused by the collection's validator: 3, _id 0, 1, 2"), "\(dry.output)")
            #expect(dry.output.contains("refuses 3 documents as they were before the job"), "\(dry.output)")
            #expect(try await test.database.documents("people") == before)

            // The undo without `--dry-run` skips the three documents that the dry run reported.
            let run = try await test.undo(flags: ["--output", "json"])
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(run.errors.contains("refuses 3 documents as they were before the job"), "\(run.errors)")
            let report = try test.report(run)
            #expect(report["restored"] == 3)
            #expect(report.left("refused") == [0, 1, 2])
        }
    }

    @Test(
        arguments: [
            ["validationLevel": "strict", "validationAction": "warn"],
            ["validationLevel": "off", "validationAction": "error"],
        ] as [BSONDocument])
    func oneThatRefusesNothingKeepsNothing(_ settings: BSONDocument) async throws {
        try await withValidator(settings) { test in
            let dry = try await test.undo(flags: ["--dry-run"], yes: false)
            #expect(dry.exitCode == 0, "\(dry.errors)")
            #expect(dry.output.contains("would undo 6 of 6 changes"), "\(dry.output)")
            #expect(try await test.undo().exitCode == 0)
        }
    }

    /// Undo restores a document that does not fit the validator, because the server accepts that change at the level
    /// "moderate".
    ///
    /// At that level, the validator does not apply to changes of documents that already fail it.
    @Test func underModerateADocumentThatAlreadyFailsIsUndone() async throws {
        try await withValidator(["validationLevel": "moderate", "validationAction": "error"]) { test in
            try await test.database.run([
                "update": "people", "bypassDocumentValidation": true,
                "updates": [["q": ["_id": 1], "u": ["$set": ["name": "Ada"]]]],
            ])
            try await test.database.run([
                "collMod": "people", "validator": ["$nor": [["age": ["$type": "string"]], ["name": "Ada"]]],
            ])
            let dry = try await test.undo(flags: ["--dry-run", "--output", "json"], yes: false)
            let report = try test.report(dry)
            #expect(report["restored"] == 4, "\(dry.output)")
            #expect(report.left("refused") == [0, 2])
            let run = try test.report(try await test.undo(flags: ["--output", "json"]))
            #expect(run["restored"] == 4)
            #expect(run.left("refused") == [0, 2])
        }
    }

    /// If the validator's expression fails on a document, the server refuses that document.
    ///
    /// Undo still checks the other documents.
    @Test func documentsThatTheValidatorCannotEvaluateAreReportedBefore() async throws {
        let validator: BSONDocument = ["$expr": ["$gt": [["$add": ["$age", 1]], 0]]]
        try await withValidator(["validationLevel": "strict", "validationAction": "error"], validator) { test in
            let dry = try test.report(try await test.undo(flags: ["--dry-run", "--output", "json"], yes: false))
            #expect(dry["restored"] == 3)
            #expect(dry.left("refused") == [0, 1, 2])
            let run = try test.report(try await test.undo(flags: ["--output", "json"]))
            #expect(run["restored"] == 3)
            #expect(run.left("refused") == [0, 1, 2])
        }
    }
}
