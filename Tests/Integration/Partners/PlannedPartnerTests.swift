import BSON
import SystemPackage
import TestSupport
import Testing

/// Tests the partner jobs that `plan` writes for changes that no backfill can make.
@Suite struct PlannedPartnerTests {
    private static func task(_ key: String, _ more: String = "") -> String {
        """
        { "title": "Task", "bsonType": "object", "required": ["_id", "title"], "properties": {
          "_id": { "bsonType": "\(key)" }, "title": { "bsonType": "string" },
          "priority": { "bsonType": "int" }, "parent": { "bsonType": "\(key)" }, \(more)
          "legacy": { "bsonType": "string" }, "tags": { "bsonType": "array", "items": { "bsonType": "mixed" } } } }
        """
    }

    private static func note(_ key: String) -> String {
        """
        { "title": "Note", "bsonType": "object", "required": ["_id"], "properties": {
          "_id": { "bsonType": "int" }, "task": { "bsonType": "\(key)" } } }
        """
    }

    /// Writes both versions of the schemas as app folders.
    ///
    /// The type of the tasks' `_id`s changes, and so does the type of the links to tasks.
    private func writeSchemas(_ test: PartnerCase, _ more: String = "") throws {
        let link = """
            { "task": { "ref": "#/relationship/main/\(test.database.name)/Task", "foreign_key": "_id", "is_list": \
            false } }
            """
        for (version, key) in [("v1", "objectId"), ("v2", "string")] {
            let folder = "\(version)/data_sources/main/\(test.database.name)"
            let isNew = version == "v2"
            try test.folder.write(Self.task(key, isNew ? more : ""), to: "\(folder)/Task/schema.json")
            try test.folder.write(Self.note(key), to: "\(folder)/Note/schema.json")
            try test.folder.write(link, to: "\(folder)/Note/relationships.json")
        }
    }

    private func plan(_ test: PartnerCase, _ flags: String...) async throws -> ProgramRun {
        let path = test.folder.path
        return try await Program.run(
            ["plan", path.appending("v1").string, path.appending("v2").string, "--out", path.appending("jobs").string]
                + flags)
    }

    private func partner(_ command: String, _ test: PartnerCase, _ collection: String) async throws -> ProgramRun {
        let file = test.folder.path.pushing(FilePath("jobs/partner/\(test.database.name).\(collection).yml"))
        return try await Program.run(
            ["partner", command, file.string, "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)"]
                + (command == "init" ? ["--yes"] : []))
    }

    @Test func aPlannedPartnerJobRunsAsItIs() async throws {
        try await Mongod.shared.withPartner { test in
            try writeSchemas(test)
            try await test.load(40)
            try await test.database.fill("Note", count: 40) { number in
                ["_id": .integer(number), "task": .objectID(PartnerCase.id(number))]
            }
            let planned = try await plan(test)
            #expect(planned.exitCode == 1, "\(planned.errors)")
            #expect(planned.output.contains("2 partner jobs to decide on"), "\(planned.output)")
            for collection in ["Task", "Note"] {
                let made = try await partner("init", test, collection)
                #expect(made.exitCode == 0, "\(made.errors)\(made.output)")
                let compared = try await partner("verify", test, collection)
                #expect(compared.exitCode == 0, "\(compared.errors)\(compared.output)")
            }
            let notes = try await test.database.documents("NoteV2", ["_id": 7])
            #expect(notes.first?["task"] == .string("\(PartnerCase.id(7))"))
            #expect(try await test.database.documents("TaskV2").count == 40)
        }
    }

    @Test func bothCommandsWriteTheSameJob() async throws {
        try await Mongod.shared.withPartner { test in
            try writeSchemas(test)
            _ = try await plan(test)
            let name = "\(test.database.name).Task"
            let path = test.folder.path
            let run = try await Program.run([
                "partner", "plan", path.appending("v1").string, path.appending("v2").string, "--collection", name,
                "--out", path.pushing(FilePath("jobs/partner/own.yml")).string,
            ])
            #expect(run.exitCode == 0, "\(run.errors)")
            let own = try #require(test.folder.text(of: "jobs/partner/own.yml"))
            // `plan` names the copies that it makes beside its jobs.
            let planned = try #require(test.folder.text(of: "jobs/partner/\(name).yml"))
            let schemas = /schema: {source: "[^"]+", target: "[^"]+"}/
            #expect(own.replacing(schemas, with: "") == planned.replacing(schemas, with: ""))
            #expect(
                planned.contains(/schema: {source: "..\/schemas\/[0-9a-f]{16}", target: "..\/schemas\//), "\(planned)")
            #expect(own.contains(#"schema: {source: "../../v1", target: "../../v2"}"#), "\(own)")
            #expect(own.contains("id: {from: objectId, to: string}"), "\(own)")
        }
    }

    @Test func openQuestionsAreCommentsFromWhichNoLineBreaksOut() async throws {
        try await Mongod.shared.withPartner { test in
            try writeSchemas(test, #""owner\nforward: []": { "bsonType": "string" },"#)
            let file = "v2/data_sources/main/\(test.database.name)/Task/schema.json"
            let schema = try #require(test.folder.text(of: file))
            try test.folder.write(
                schema.replacing(#"["_id", "title"]"#, with: #"["_id", "title", "owner\nforward: []"]"#), to: file)
            let planned = try await plan(test)
            #expect(planned.output.contains("to decide: owner"), "\(planned.output)")
            let text = try #require(test.folder.text(of: "jobs/partner/\(test.database.name).Task.yml"))
            #expect(text.split(separator: "\n").count { $0.hasPrefix("# DECIDE: owner") } == 1, "\(text)")
            #expect(text.split(separator: "\n").count { $0.hasPrefix("forward") } == 1, "\(text)")
        }
    }

    @Test func aMovedCollectionIsCopiedByAPartnerJob() async throws {
        try await Mongod.shared.withPartner { test in
            let (old, new) = (test.folder.path.appending("v1"), test.folder.path.appending("v2"))
            try test.folder.write(Self.task("objectId"), to: "v1/\(test.database.name)/Task/schema.json")
            try test.folder.write(Self.task("objectId"), to: "v2/\(test.database.name)/Chore/schema.json")
            try await test.load(25)
            let (from, to) = ("\(test.database.name).Task", "\(test.database.name).Chore")
            let planned = try await plan(test, "SHIPSHAPE_RENAMES=\(from)=\(to)")
            #expect(planned.exitCode == 1, "\(planned.errors)\(planned.output)\(old)\(new)")
            let made = try await partner("init", test, "Task")
            #expect(made.exitCode == 0, "\(made.errors)\(made.output)")
            #expect(try await test.database.count("Chore") == 25)
        }
    }
}
