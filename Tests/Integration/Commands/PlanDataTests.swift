import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests which facts about the documents `plan --uri` finds and writes into the jobs.
@Suite struct PlanDataTests {
    private static let documents: [BSONDocument] = [
        ["_id": 1, "level": "3"], ["_id": 2, "level": "high"], ["_id": 3, "level": "99999999999"],
        ["_id": 4, "level": "3.5"], ["_id": 5], ["_id": 6, "level": "low"],
    ]

    /// Runs a test over the collection `Task`, whose field `level` is a string in the older schema and an int in the
    /// newer.
    private func withTask(_ body: (PlanCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { backfill in
            let plan = PlanCase(backfill: backfill, name: "task")
            for (version, type) in [("old", "string"), ("new", "int")] {
                try plan.write(
                    #"{"title":"Task","bsonType":"object","required":["_id"\#(version == "new" ? #","name""# : "")],"#
                        + #""properties":{"_id":{"bsonType":"int"},"name":{"bsonType":"string"},"level":{"bsonType":"\#(type)"},"extra\#(version)":{"bsonType":"string"}}}"#,
                    to: "\(version)/\(plan.database.name)/Task/schema.json")
            }
            try await plan.database.fill("Task", Self.documents)
            try await body(plan)
        }
    }

    @Test func theValuesThatWillNotConvertAreCountedByWhatIsWrongWithThem() async throws {
        try await withTask { plan in
            let run = try await plan.plan("--uri", plan.backfill.uri, "--output", "json")
            #expect(run.exitCode == 1, "documents are left that no step can change: \(run.errors)")
            let text = try PlanCase.texts(below: plan.jobs).values.joined()
            #expect(text.contains("# 1 document needs it\n"))
            #expect(
                text.contains(
                    "# skipped: 1 document, rounded (\"onLoss: allow\" writes the nearest value), such as _id 4\n"))
            #expect(text.contains("# skipped: 1 document, out of range, such as _id 3\n"))
            #expect(text.contains("# skipped: 2 documents, not a number, date or id, such as _id 2, 6\n"))
            #expect(!text.contains("high"), "no value is shown")

            let shown = try await plan.plan(
                "--uri", plan.backfill.uri, "--show-values", "--force")
            #expect(shown.exitCode == 1, "some values convert only with a decision")
            #expect(try PlanCase.texts(below: plan.jobs).values.contains { $0.contains("such as _id 2 with \"high\"") })
        }
    }

    @Test func theNumbersAreThoseOfADryRun() async throws {
        try await withTask { plan in
            let planned = try await plan.plan("--uri", plan.backfill.uri, "--output", "json")
            let report = try #require(try BSONValue(extendedJSON: planned.output).document)
            let job = try #require(
                report["jobs"]?.document?.values.compactMap(\.document).first { $0["stage"] == "after-deploy" })
            let file = try #require(job["file"]?.text)
            let dry = try await Program.run([
                "backfill", "--dry-run", file, "--uri", plan.backfill.uri, "SHIPSHAPE_LEDGER=none", "--output", "json",
            ])
            let step = try #require(
                try BSONValue(extendedJSON: dry.output).document?["steps"]?.document?.values.first?.document)
            let entry = try #require(
                job["entries"]?.document?.values.compactMap(\.document).first { $0["active"] == true })
            #expect(entry["needing"] == step["needing_before"])
            let left = { (value: BSONValue?, key: String) in
                value?.document?.values.reduce(0) { $0 + ($1.document?[key]?.integer ?? 0) }
            }
            #expect(left(entry["left_alone"], "count") == left(step["left_alone"], "documents"))
            #expect(try await !plan.backfill.hasState(), "planning leaves no state")
        }
    }

    @Test func aStepForStrayValuesThatNoDocumentHoldsBecomesAComment() async throws {
        try await withTask { plan in
            _ = try await plan.plan("--uri", plan.backfill.uri)
            let all = try PlanCase.texts(below: plan.jobs).values.joined()
            #expect(
                all.contains(
                    "# no document needs it (0 of 6 documents):\n  # - convert: {field: extranew, to: string}\n"))
        }
    }

    @Test func liveIsAnOldSchemaLikeAnyOther() async throws {
        try await PlanCase.with("validator") { plan in
            let file = plan.folder.appending("old").appending(plan.database.name).appending("Task/schema.json")
            let validator = try BSONDocument(extendedJSON: String(contentsOfFile: file.string, encoding: .utf8))
            try await plan.database.run([
                "collMod": "Task", "validator": .object(validator), "validationAction": "warn",
            ])
            let new = plan.new + "/\(plan.database.name)/Task/schema.json"
            let run = try await Program.run([
                "plan", "live", new, "--collection", "\(plan.database.name).Task", "--uri", plan.backfill.uri, "--out",
                plan.jobs.string, "SHIPSHAPE_RENAMES=\(plan.database.name).Task.who=person",
            ])
            #expect([0, 1].contains(run.exitCode), "\(run.errors)")
            let text = try #require(try PlanCase.texts(below: plan.jobs).values.first)
            #expect(text.contains(/\nschema: {next: schemas\/[0-9a-f]{16}\/schema.json}\n/), "\(text)")
            for run in try await plan.run(plan.jobs) { #expect(run.exitCode == 0, "\(run.output)\(run.errors)") }
            let check = try await Program.run([
                "check", new, "--collection", "\(plan.database.name).Task", "--uri", plan.backfill.uri,
                "SHIPSHAPE_LEDGER=none",
            ])
            #expect(check.exitCode == 0, "\(check.output)")
        }
    }
}
