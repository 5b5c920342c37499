import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests the decisions that a plan asks for, and the jobs that it writes.
@Suite struct PlanDecisionTests {
    private func property(_ name: String, _ type: String) -> String { "\"\(name)\": {\"bsonType\": \"\(type)\"}" }

    private func schema(_ title: String, _ required: [String], _ properties: [String]) -> String {
        """
        {"title": "\(title)", "bsonType": "object", "required": \(["_id"] + required),
         "properties": {\((["\"_id\": {\"bsonType\": \"int\"}"] + properties).joined(separator: ", "))}}
        """
    }

    private func plan(_ old: String, _ new: String, _ flags: String..., test: BackfillCase) async throws -> ProgramRun {
        try test.write("v1.json", old)
        try test.write("v2.json", new)
        let folder = test.folder
        return try await Program.run(
            [
                "plan", folder.appending("v1.json").string, folder.appending("v2.json").string, "--collection",
                "\(test.database.name).people", "--out", folder.appending("jobs").string,
            ] + flags)
    }

    private func run(_ file: String, _ flags: String..., test: BackfillCase) async throws -> ProgramRun {
        try await Program.run(
            [
                "backfill", test.folder.appending("jobs").string + "/" + file, "--yes", "--reviewed", "--uri", test.uri,
                "SHIPSHAPE_STATE_DATABASE=\(test.state.name)", "SHIPSHAPE_LEDGER=none", "--output", "json",
            ] + flags)
    }

    @Test func aZeroNextToALikelyRenameNeedsADecision() async throws {
        try await Mongod.shared.withBackfill { test in
            let old = schema(
                "Person", [], [property("firstName", "string"), property("lastName", "string"), property("age", "int")])
            let new = schema(
                "Person", ["fullName", "yearsSinceBirth"],
                [property("fullName", "string"), property("yearsSinceBirth", "int")])
            let planned = try await plan(old, new, test: test)
            #expect(planned.exitCode == 0, "\(planned.errors)")
            #expect(planned.output.contains("\nTo decide\n"), "\(planned.output)")
            #expect(
                planned.output.contains("\(test.database.name).people.age=yearsSinceBirth in renames of shipshape.yml"),
                "\(planned.output)")
            #expect(
                planned.output.contains(
                    "plan again with --combine \(test.database.name).people.firstName,lastName,age=fullName"),
                "\(planned.output)")
            #expect(try await plan(old, new, "--force", test: test).exitCode == 0)
            #expect(
                try await plan(
                    old, new, "--force", "SHIPSHAPE_RENAMES=Person.age=yearsSinceBirth", "--default",
                    "Person.fullName=\"\"", test: test
                ).exitCode == 0)
        }
    }

    @Test func acceptedStepsRunBeforeTheFieldsAreFilled() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill(
                "people",
                [
                    ["_id": 1, "firstName": "Ada", "lastName": "King", "place": "Oslo Norway"],
                    ["_id": 2, "firstName": "Bo"],
                ])
            let old = schema(
                "Person", [],
                [property("firstName", "string"), property("lastName", "string"), property("place", "string")])
            let new = schema(
                "Person", ["fullName"],
                [property("fullName", "string"), property("city", "string"), property("country", "string")])
            let flags = ["Person.firstName,lastName=fullName", "Person.place=city,country"]
            let planned = try await plan(
                old, new, "--combine", flags[0], "--split", flags[1], test: test)
            #expect(planned.exitCode == 0, "\(planned.errors)")
            #expect(!planned.output.contains("To decide"), "\(planned.output)")
            // Person 2 has no last name, so the job combines nothing for this person, and fills in the default.
            _ = try await run("\(test.database.name).people.yml", test: test)
            let people = try await test.database.documents("people")
            #expect(people.map { $0["fullName"] } == ["Ada King", ""])
            #expect(people[0]["city"] == "Oslo" && people[0]["country"] == "Norway")
            let wrong = try await plan(old, new, "--combine", "Person.firstName,lastNam=fullName", test: test)
            #expect(wrong.exitCode == 64)
            #expect(wrong.errors.contains("(did you mean \"lastName\"?)"), "\(wrong.errors)")
            let malformed = try await plan(old, new, "--split", "Person.place", test: test)
            #expect(malformed.exitCode == 64)
            #expect(malformed.errors.contains("write TYPE.field=NEW,NEW"), "\(malformed.errors)")
        }
    }

    /// For each change without a step, the plan shows how many documents fail because of the change, and a filter that
    /// finds these documents.
    @Test func changesWithoutAStepAreCounted() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 10) { number in
                number < 7 ? ["_id": .integer(number)] : ["_id": .integer(number), "level": "high"]
            }
            let level = "\"level\": {\"bsonType\": \"string\", \"enum\": [\"low\", \"high\"]}"
            let (old, new) = (schema("Person", [], [level]), schema("Person", ["level"], [level]))
            let counted = try await plan(old, new, "--uri", test.uri, test: test)
            #expect(counted.exitCode == 1, "\(counted.errors)")
            #expect(
                counted.output.contains("required-missing: level, 7 documents, expected string, found missing"),
                "\(counted.output)")
            let bare = try await plan(old, new, "--force", test: test)
            #expect(!bare.output.contains("7 documents"), "\(bare.output)")
        }
    }

    /// The jobs for a rename move every value of the field, even a value that fits neither schema.
    ///
    /// In the test, every fifth document has such a value, namely an int. At the end, no document has the old field.
    @Test func aPlannedRenameOfMixedTypesIsCleanToItsEnd() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 100) {
                ["_id": .integer($0), "phone": $0 % 5 == 0 ? .integer($0) : .string("p\($0)")]
            }
            let planned = try await plan(
                schema("Ren", [], [property("phone", "string")]),
                schema("Ren", [], [property("phoneNumber", "string")]),
                "SHIPSHAPE_RENAMES=Ren.phone=phoneNumber", test: test)
            #expect(planned.exitCode == 0, "\(planned.errors)")
            let name = "\(test.database.name).people"
            let early = try await run("\(name).yml", test: test)
            #expect(early.exitCode == 0, "\(early.output)")
            #expect(!early.output.contains("stale"))
            try await test.database.set("people", 7, ["phone": "new"])
            #expect(try await run("\(name).yml", test: test).exitCode == 0)
            #expect(try await run("after-deploy/\(name)-after-deploy.yml", "--deployed", test: test).exitCode == 0)
            #expect(try await test.database.count("people", ["phone": ["$exists": true]]) == 0)
            #expect(try await test.database.documents("people", ["_id": 7]).first?["phoneNumber"] == "new")
        }
    }

    @Test func aNullInAFieldThatBecomesRequiredLosesNothing() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", [["_id": 1, "nick": "Ada", "nickname": nil], ["_id": 2]])
            let planned = try await plan(
                schema("Person", [], [property("nick", "string")]),
                schema("Person", ["nickname"], [property("nickname", "string")]),
                "SHIPSHAPE_RENAMES=Person.nick=nickname", test: test)
            #expect(planned.exitCode == 0, "\(planned.errors)")
            let run = try await run("\(test.database.name).people.yml", test: test)
            #expect(run.exitCode == 0, "\(run.output)")
            #expect(try await test.database.documents("people").map { $0["nickname"] } == ["Ada", ""])
        }
    }

    @Test func oneValueBecomesADictionaryOfOne() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", [["_id": 1, "score": 5]])
            let map = "\"score\": {\"bsonType\": \"object\", \"additionalProperties\": {\"bsonType\": \"int\"}}"
            let planned = try await plan(
                schema("Person", [], [property("score", "int")]), schema("Person", [], [map]),
                test: test)
            #expect(planned.output.contains("wrap: {field: score, under: value}"), "\(planned.output)")
            let run = try await run(
                "after-deploy/\(test.database.name).people-after-deploy.yml", "--deployed", test: test)
            #expect(run.exitCode == 0, "\(run.output) \(run.errors)")
            #expect(try await test.database.documents("people").first?["score"] == ["value": 5])
        }
    }

    @Test func sixteenBytesBecomeAUUID() async throws {
        try await Mongod.shared.withBackfill { test in
            let bytes = (0..<16).map { UInt8($0) }
            try await test.database.fill(
                "people",
                [
                    ["_id": 1, "key": .binary(subtype: 0, bytes: bytes)],
                    ["_id": 2, "key": .binary(subtype: 0, bytes: [1])],
                ])
            try test.job(steps: ["convert: {field: key, to: uuid}"])
            #expect(try await test.backfill().exitCode == 1)
            #expect(
                try await test.database.documents("people").map { $0["key"] }
                    == [.binary(subtype: 4, bytes: bytes), .binary(subtype: 0, bytes: [1])])
            #expect(try await test.steer("undo", "job", "--yes").exitCode == 0)
            #expect(try await test.database.documents("people").first?["key"] == .binary(subtype: 0, bytes: bytes))
        }
    }

    /// Writes the schema of one collection of an app.
    ///
    /// If `field` is given, that field links to the collection `target`.
    private func write(
        _ name: String, _ schema: String, linking field: String? = nil, to target: String = "", version: String,
        test: BackfillCase
    ) throws {
        let folder = test.folder.appending(version).appending(test.database.name).appending(name).string
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try schema.write(toFile: "\(folder)/schema.json", atomically: true, encoding: .utf8)
        guard let field else { return }
        let ref = "#/relationship/mongodb-atlas/\(test.database.name)/\(target)"
        try "{\"\(field)\": {\"ref\": \"\(ref)\", \"foreign_key\": \"_id\", \"is_list\": false}}".write(
            toFile: "\(folder)/relationships.json", atomically: true, encoding: .utf8)
    }

    private func planFolders(_ test: BackfillCase, _ flags: String...) async throws -> ProgramRun {
        try await Program.run(
            [
                "plan", test.folder.appending("old").string, test.folder.appending("new").string, "--out",
                test.folder.appending("jobs").string,
            ] + flags)
    }

    @Test func anEmbeddingThatNeedsADecisionIsADraft() async throws {
        try await Mongod.shared.withBackfill { test in
            let dog = schema("Dog", [], [property("name", "string")])
            let link = schema("Person", [], [property("dog", "int")])
            let embedded = schema(
                "Person", [],
                [
                    "\"dog\": {\"title\": \"Dog\", \"bsonType\": \"object\", \"properties\": "
                        + "{\(property("name", "string"))}}"
                ])
            try write("Person", link, linking: "dog", to: "Dog", version: "old", test: test)
            try write("Dog", dog, version: "old", test: test)
            try write("Person", embedded, version: "new", test: test)
            let planned = try await planFolders(test)
            #expect(planned.exitCode == 1, "\(planned.errors)")
            #expect(!planned.output.contains("No job is needed"), "\(planned.output)")
            #expect(planned.output.contains("a draft, commented out"), "\(planned.output)")
            let file = test.folder.appending("jobs/after-deploy/\(test.database.name).Person-after-deploy.yml").string
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.contains("# - embed: {field: dog, from: \(test.database.name).Dog}"), "\(text)")
            #expect(text.split(separator: "\n").allSatisfy { $0.drop { $0 == " " }.hasPrefix("#") }, "\(text)")
            #expect(text.contains("--embed \(test.database.name).Person.dog"), "\(text)")

            try await test.database.fill("Dog", [["_id": 1, "name": "Rex"]])
            try await test.database.fill("Person", [["_id": 7, "dog": 1], ["_id": 8]])
            let accepted = try await planFolders(test, "--force", "--embed", "Person.dog")
            #expect([0, 1].contains(accepted.exitCode), "\(accepted.output)\(accepted.errors)")
            let name = "after-deploy/\(test.database.name).Person-after-deploy.yml"
            #expect(try await run(name, test: test).exitCode == 75)
            let run = try await run(name, "--deployed", test: test)
            #expect(run.exitCode == 0, "\(run.output)\(run.errors)")
            #expect(try await test.database.documents("Person", ["_id": 7]).first?["dog"] == ["name": "Rex"])
        }
    }

    @Test func aLinkIsConvertedOnlyTogetherWithTheKeysOfItsTarget() async throws {
        try await Mongod.shared.withBackfill { test in
            let dog = schema("Dog", [], [property("name", "string")])
            for (version, type) in [("old", "int"), ("new", "string")] {
                let person = schema("Person", [], [property("dog", type)])
                try write("Person", person, linking: "dog", to: "Dog", version: version, test: test)
                try write("Dog", dog, version: version, test: test)
            }
            let planned = try await planFolders(test)
            #expect(planned.exitCode == 1, "\(planned.errors)")
            #expect(planned.output.contains("whose _id keeps its type"), "\(planned.output)")
            #expect(!planned.output.contains("No job is needed"), "\(planned.output)")
        }
    }

    @Test func documentsThatAStepCannotChangeAreCounted() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 10) {
                $0 < 4 ? ["_id": .integer($0), "a": "x", "b": "x"] : ["_id": .integer($0), "a": "1", "b": "2"]
            }
            let planned = try await plan(
                schema("Task", [], [property("a", "string"), property("b", "string")]),
                schema("Task", [], [property("a", "int"), property("b", "int")]), "--uri", test.uri, test: test)
            #expect(planned.exitCode == 1)
            #expect(planned.output.contains("4 documents that a step cannot change"), "\(planned.output)")
        }
    }
}
