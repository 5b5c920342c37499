import BSON
import TestSupport
import Testing

/// Tests that a backfill's reports count each document once and name its problems in plain text.
@Suite struct BackfillReportTests {
    @Test func aDocumentThatTwoPhasesChangeIsOneDocument() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 80) { ["_id": .integer($0), "surname": "x"] }
            try test.job(
                steps: ["rename: {from: surname, to: lastName}", "default: {field: key, generate: uuid}"],
                limits: "{chunk: {documents: 30}}")
            let dry = try test.report(try await test.backfill(flags: ["--dry-run", "--output", "json"], yes: false))
            let run = try test.report(try await test.backfill("job", "--output", "json"))
            for report in [dry, run] {
                #expect(report["changed"] == 80)
                #expect(report["updates"] == 160)
            }
            #expect(try await test.status()["changed"] == 80)
        }
    }

    @Test func aRunEndsWithWhatIsStillUnsyncableUnderTheNextSchema() async throws {
        try await Mongod.shared.withBackfill { test in
            try test.write(
                "next.json",
                #"""
                {"title": "Person", "bsonType": "object", "required": ["_id", "age", "name"],
                 "properties": {"_id": {"bsonType": "int"}, "age": {"bsonType": "int"}, "name": {"bsonType": "string"}}}
                """#)
            // The job does not fix the documents without a name: the run leaves them as they are, and reports them.
            try await test.database.fill("people", count: 20) {
                $0 < 3 ? ["_id": .integer($0)] : ["_id": .integer($0), "name": "x"]
            }
            try test.job(steps: ["default: {field: age, value: 0}"], more: "schema: {next: next.json}")
            let dry = try await test.backfill(flags: ["--dry-run", "--output", "json"], yes: false)
            let run = try await test.backfill("job", "--output", "json")
            #expect(dry.exitCode == 1 && run.exitCode == 1)
            #expect(try test.report(dry)["unsyncable_after"] == 3)
            #expect(try test.report(run)["unsyncable_after"] == 3)
            let text = try await test.backfill()
            #expect(text.output.contains("still unsyncable under the next schema: 3 documents"), "\(text.output)")
            for id in 0..<3 { try await test.database.set("people", .integer(id), ["name": "y"]) }
            #expect(try await test.backfill().exitCode == 0)
        }
    }

    @Test func aPriceWithAZeroAtItsEndIsTheSameNumber() async throws {
        try await Mongod.shared.withBackfill { test in
            let texts: [BSONValue] = ["120.40", "5.0", "0.00", "7", "007.50", "1.5x", "0.1000000000000000055"]
            try await test.database.fill("prices", texts.enumerated().map { ["_id": .integer($0), "price": $1] })
            try test.job(on: "prices", steps: ["convert: {field: price, to: double}"])
            let run = try await test.backfill()
            #expect(run.exitCode == 1)
            #expect(run.output.contains("skipped, rounded: 2, such as _id 4, 6"), "\(run.output)")
            #expect(run.output.contains("skipped, not a number, date or id: 1, such as _id 5"), "\(run.output)")
            #expect(run.output.contains("onLoss: allow"), "\(run.output)")
            let after = try await test.database.documents("prices").map { $0["price"] }
            #expect(after == [120.4, 5.0, 0.0, 7.0] + texts[4...].map { $0 })
            #expect(try await test.steer("undo", "job", "--yes").exitCode == 0)
            #expect(try await test.database.documents("prices").map { $0["price"] } == texts)
        }
    }

    @Test func aStepThatAllowsALossIsNotAdvisedToAllowIt() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("prices", [["_id": 1, "price": "x"], ["_id": 2, "price": 1.5]])
            try test.job(on: "prices", steps: ["convert: {field: price, to: int, onLoss: allow}"])
            let run = try await test.backfill(flags: ["--dry-run"], yes: false)
            #expect(run.output.contains("skipped, not a number, date or id: 1"), "\(run.output)")
            #expect(!run.output.contains("\"onLoss: allow\""), "\(run.output)")
            #expect(run.output.contains("what int cannot hold of it (onLoss: allow)"), "\(run.output)")
        }
    }

    @Test func obstaclesOfAJobAreShownWithoutEscapes() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("dogs", [["_id": "a", "name": "Rex"], ["_id": "b", "name": "Pluto"]])
            try await test.database.fill(
                "people", [["_id": 1, "dog": "a"], ["_id": 2, "dog": "a"], ["_id": 3, "dog": nil]])
            try test.job(steps: ["embed: {field: dog, from: \(test.database.name).dogs}"])
            let run = try await test.backfill()
            #expect(run.exitCode == 1)
            #expect(
                run.errors.contains("does not have a backlink") && run.errors.contains("multiple backlinks"),
                "\(run.errors)")
            #expect(!run.errors.contains("\\n") && !run.errors.contains("\\\""), "\(run.errors)")
        }
    }
}
