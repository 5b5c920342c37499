import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests the job that `partner plan` writes from two schemas, and `cutover` and `drop`, which retire the original.
@Suite(.fencedDeletes) struct PartnerSteeringTests {
    private static let old = """
        { "title": "Task", "bsonType": "object", "required": ["_id", "title"], "properties": {
          "_id": { "bsonType": "objectId" }, "title": { "bsonType": "string" }, "priority": { "bsonType": "int" },
          "parent": { "bsonType": "objectId" }, "legacy": { "bsonType": "string" },
          "tags": { "bsonType": "array", "items": { "bsonType": "mixed" } } } }
        """
    private static let new = """
        { "title": "TaskV2", "bsonType": "object", "required": ["_id", "name"], "properties": {
          "_id": { "bsonType": "string" }, "name": { "bsonType": "string" }, "priority": { "bsonType": "string" },
          "parent": { "bsonType": "string" }, "note": { "bsonType": "string" },
          "tags": { "bsonType": "array", "items": { "bsonType": "mixed" } } } }
        """

    /// Runs `partner plan` with the schemas of the documented example.
    private func plan(_ test: PartnerCase, _ flags: String...) async throws -> ProgramRun {
        let old = try test.folder.write(Self.old, to: "v1/Task.json")
        let new = try test.folder.write(Self.new, to: "v2/TaskV2.json")
        return try await Program.run(
            ["partner", "plan", old, new, "--collection", "\(test.database.name).Task"]
                + ["--out", test.folder.path.appending("tasks.yml").string] + flags)
    }

    @Test func aPlannedJobRunsAsItIs() async throws {
        try await Mongod.shared.withPartner { test in
            let planned = try await plan(test, "SHIPSHAPE_RENAMES=\(test.database.name).Task.title=name")
            #expect(planned.exitCode == 0, "\(planned.errors)")
            let text = try #require(test.folder.text(of: "tasks.yml"))
            #expect(text.contains("id: {from: objectId, to: string}"), "\(text)")
            #expect(text.contains("only: {source: [legacy], target: [note]}"))
            #expect(text.contains("schema: {source: v1/Task.json, target: v2/TaskV2.json}"))
            try await test.load(60)
            let run = try await test.run("init")
            #expect(run.exitCode == 0, "\(run.errors)\(run.output)")
            #expect(try await test.run("verify").exitCode == 0)
            #expect(try await plan(test).exitCode == 73)
            let next = try test.folder.write(Self.old.replacing("\"int\"", with: "\"string\""), to: "next.json")
            let check = try await Program.run([
                "check", next, "--active", test.folder.path.appending("v1/Task.json").string, "--collection",
                "\(test.database.name).Task", "--uri", test.uri, "SHIPSHAPE_LEDGER=none",
                "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
            ])
            let target = "\(test.database.name).TaskV2"
            // No mirror runs, so `check` reports that the partner does not serve the schema change yet.
            let reported = check.output + check.errors
            #expect(
                reported.contains("the partner \(target)") && reported.contains("serves no change yet"), "\(reported)")
        }
    }

    @Test func openQuestionsOfTheSchemasAreNamed() async throws {
        try await Mongod.shared.withPartner { test in
            let planned = try await plan(test)
            #expect(planned.exitCode == 1)
            #expect(planned.errors.contains("to decide: name is required in"), "\(planned.errors)")
            #expect(planned.errors.contains("to decide: title is required in"), "\(planned.errors)")
            #expect(test.folder.text(of: "tasks.yml")?.contains("# DECIDE: name is required") == true)
        }
    }

    @Test func theOldSideEndsOnlyWithoutObstacles() async throws {
        try await Mongod.shared.withPartner { test in
            try test.job()
            try await test.load(20)
            #expect(try await test.run("init").exitCode == 0)
            let early = try await test.run("cutover", "--yes", "--quiet-for", "0s")
            #expect(early.exitCode == 1)
            #expect(early.errors.contains("no mirror has run"), "\(early.errors)")
            #expect(early.errors.contains("it was never compared"), "\(early.errors)")
            try await test.database.update("Task", ["_id": .objectID(PartnerCase.id(1))], ["$set": ["title": "x"]])
            #expect(try await test.run("mirror", "--once").exitCode == 0)
            #expect(try await test.run("verify").exitCode == 0)
            let status = try await test.run("status")
            #expect(status.output.contains("copied, 20 documents copied"), "\(status.output)")
            #expect(status.output.contains("clients last wrote to the original at"), "\(status.output)")
            #expect(status.output.contains("0 differences"), "\(status.output)")
            let written = try await test.run("cutover", "--yes", "--quiet-for", "1h")
            #expect(written.exitCode == 1)
            #expect(written.errors.contains("clients wrote to the original"), "\(written.errors)")
            let dropped = try await test.run("drop", "--yes")
            #expect(dropped.exitCode == 1)
            #expect(dropped.errors.contains("it is not cut over"), "\(dropped.errors)")
            let cut = try await test.run("cutover", "--yes", "--quiet-for", "0s")
            #expect(cut.exitCode == 0, "\(cut.errors)")
            #expect(try await test.run("mirror", "--once").errors.contains("is cut over"))
            #expect(try await test.run("drop").exitCode == 64)
            let drop = try await test.run("drop", "--yes")
            #expect(drop.exitCode == 0, "\(drop.errors)")
            #expect(try await test.database.count("Task") == 0)
            #expect(try await test.database.count("TaskV2") == 20)
        }
    }

    /// Clients write after the last run of the mirror, and after the last `partner verify`.
    ///
    /// The cutover carries the clients' changes over to the partner collection.
    @Test func aCutoverSeesWhatClientsWroteAMomentAgo() async throws {
        try await PartnerCase.withVerified { test in
            try await test.state.run([
                "update": "streams", "updates": [["q": [:], "u": ["$set": ["begun": .date(milliseconds: 0)]]]],
            ])
            let id: BSONDocument = ["_id": .objectID(PartnerCase.id(1))]
            try await test.database.update("Task", id, ["$set": ["title": "late"]])
            let refused = try await test.run("cutover", "--yes", "--quiet-for", "1h")
            #expect(refused.exitCode == 1)
            #expect(refused.errors.contains("clients wrote to the original"), "\(refused.errors)")
            #expect(try await test.database.count("TaskV2", ["name": "late"]) == 1)
            try await test.database.update("Task", id, ["$set": ["title": "later"]])
            let cut = try await test.run("cutover", "--yes", "--quiet-for", "0s")
            #expect(cut.exitCode == 0, "\(cut.errors)")
            #expect(try await test.database.count("TaskV2", ["name": "later"]) == 1)
            #expect(try await test.run("drop", "--yes").exitCode == 0)
        }
    }

    /// The cutover tries to carry over the last changes, and is refused because one of them cannot be carried over.
    @Test func aCutoverIsRefusedForADocumentThatCannotGoOver() async throws {
        try await PartnerCase.withVerified { test in
            try await test.database.update(
                "TaskV2", ["_id": .string("\(PartnerCase.id(1))")], ["$set": ["priority": "high"]])
            let refused = try await test.run("cutover", "--yes", "--quiet-for", "0s")
            #expect(refused.exitCode == 1)
            #expect(refused.errors.contains("1 document is not on the other side"), "\(refused.errors)")
        }
    }

    @Test func anOriginalThatWasWrittenAfterTheCutoverIsNotDropped() async throws {
        try await PartnerCase.withVerified { test in
            #expect(try await test.run("cutover", "--yes", "--quiet-for", "0s").exitCode == 0)
            try await test.database.fill("Task", [PartnerCase.task(9)])
            let drop = try await test.run("drop", "--yes")
            #expect(drop.exitCode == 1)
            #expect(drop.errors.contains("clients wrote to the original after the mirror ended"), "\(drop.errors)")
            #expect(try await test.database.count("Task") == 6)
        }
    }
}
