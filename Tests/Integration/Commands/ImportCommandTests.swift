import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests `shipshape schema import` as a user runs it, on the command line.
@Suite struct ImportCommandTests {
    private static let user = """
        { "title": "User", "type": "object", "required": ["name"], "additionalProperties": false, "properties": {
          "name": { "type": "string", "format": "email" }, "born": { "type": "string", "format": "date" } } }
        """
    private static let validator = """
        {
          "$jsonSchema": {
            "title": "User",
            "bsonType": "object",
            "required": [
              "name"
            ],
            "properties": {
              "name": {
                "bsonType": "string"
              },
              "born": {
                "bsonType": "date"
              },
              "_id": {}
            },
            "additionalProperties": false
          }
        }

        """

    private func inFolder(_ body: (CommandLineFolder, ([String]) async throws -> ProgramRun) async throws -> Void)
        async throws
    {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(Self.user, to: "user.schema.json")
        try await body(folder) { try await Program.run(["schema", "import"] + $0, in: folder.path) }
    }

    @Test func withoutAFileTheValidatorIsTheOutputAndNotesAreNot() async throws {
        try await inFolder { _, run in
            for arguments in [["user.schema.json"], ["user.schema.json", "--out", "-"]] {
                let result = try await run(arguments)
                #expect(result.exitCode == 0)
                #expect(result.output == Self.validator)
                #expect(
                    result.errors == """
                        Validator of user.schema.json (User): 2 decisions, 1 left out.

                        user.schema.json
                          note      line  path  what
                          decision  2     born  format date is stored as date
                          decision  1     _id   _id is allowed: every document has one, and the schema does not name it
                          left out  2     name  format email is not checked

                        Note: --keep-strings is for code that stores dates and UUIDs as strings, such as Zod's \
                        and TypeBox's.

                        """)
            }
            let strings = try await run(["user.schema.json", "--keep-strings", "--quiet"])
            #expect(strings.output.contains(#""born": {\#n        "bsonType": "string""#))
            #expect(strings.errors.isEmpty)
        }
    }

    @Test func theWrittenValidatorIsOneThatCheckTakes() async throws {
        try await inFolder { folder, run in
            let result = try await run(["user.schema.json", "--collection", "app.users", "--out", "validators"])
            #expect(result.exitCode == 0, "\(result.errors)")
            #expect(
                result.output.contains(
                    "shipshape check validators/app.users.json --collection app.users"), "\(result.output)")
            #expect(folder.text(of: "validators/app.users.json") == Self.validator)
            try folder.write(
                """
                {"_id": 1, "name": "a@b.c"}
                {"_id": 2, "name": "a@b.c", "born": "2024-01-01"}

                """, to: "users.jsonl")
            for schema in [["validators"], ["validators/app.users.json", "--collection", "app.users"]] {
                let check = try await Program.run(
                    ["check"] + schema + ["--source", "users.jsonl"]
                        + (schema.count == 1 ? ["--collection", "app.users"] : []),
                    in: folder.path)
                #expect(check.exitCode == 1, "\(check.errors)")
                #expect(check.output.hasPrefix("1 document does not fit.\n"), "\(check.output)")
            }
        }
    }

    @Test func anExistingFileIsReplacedOnlyWithForce() async throws {
        try await inFolder { folder, run in
            try folder.write("mine", to: "user.json")
            let arguments = ["user.schema.json", "--out", "user.json"]
            let refused = try await run(arguments)
            #expect(refused.exitCode == 73)
            #expect(refused.errors.contains("user.json exists already: name another place, or replace it with --force"))
            #expect(folder.text(of: "user.json") == "mine")
            #expect(try await run(arguments + ["--force"]).exitCode == 0)
            #expect(folder.text(of: "user.json") == Self.validator)
            #expect(folder.names == ["user.json", "user.schema.json"])
            let onItself = try await run(["user.schema.json", "--out", "user.schema.json", "--force"])
            #expect(onItself.exitCode == 64)
            #expect(folder.text(of: "user.schema.json") == Self.user)
        }
    }

    @Test func reportsAreWrittenInTheFormOfTheirEnding() async throws {
        try await inFolder { folder, run in
            let result = try await run(["user.schema.json", "-o", "json", "--report", "notes.md"])
            let json = try JSONValue(result.output)
            #expect(json["schema"] == .string("User"))
            #expect(json["validator"]?["$jsonSchema"]?["required"] == .array([.string("name")]))
            #expect(
                json["notes"]?.elements.map { $0["code"]?.text } == ["format-left-out", "format-type", "id-allowed"])
            let notes = try #require(folder.text(of: "notes.md"))
            #expect(notes.contains("| `user.schema.json` |"), "\(notes)")
            #expect(notes.contains("format date is stored as date"), "\(notes)")
        }
    }

    @Test func errorsSayWhereAndHowToFix() async throws {
        try await inFolder { folder, run in
            try folder.write(
                "openapi: 3.1.0\ncomponents:\n  schemas:\n    A: {type: object}\n    B: {type: strng}\n", to: "api.yml")
            for (arguments, code, message) in [
                (["api.yml"], 65 as Int32, "api.yml:1:1: the file holds 2 schemas (choose one with --schema: A, B)"),
                (["api.yml", "--schema", "B"], 65, "api.yml:5:15: unknown type \"strng\" (did you mean \"string\"?)"),
                (["api.yml", "--schema", "C"], 65, "api.yml:1:1: there is no schema \"C\" here"),
                (["none.json"], 65, "none.json: there is no such file or folder (check the path)"),
                (["user.schema.json", "--out", "folder"], 64, "name the collection with --collection"),
                (["user.schema.json", "--collection", "users"], 64, "\"users\" is not DATABASE.COLLECTION"),
                (["user.schema.json", "--force"], 64, "--force needs --out"),
            ] {
                let result = try await run(arguments)
                #expect(result.exitCode == code, "\(arguments)")
                #expect(result.errors.contains(message), "\(result.errors)")
                #expect(result.output.isEmpty)
            }
            #expect(folder.names == ["api.yml", "user.schema.json"])
        }
    }

    /// Mongoose's `schema.toJSONSchema({useBsonType: true})` needs no import, only `$jsonSchema` around it.
    @Test func aMongooseSchemaIsAValidatorAlready() async throws {
        let schema = try String(
            contentsOfFile: Repository.path("Tests/ImportingTests/Fixtures/mongoose-user.json").string, encoding: .utf8)
        try await inFolder { folder, run in
            try folder.write(schema, to: "validators/app.users.json")
            try folder.write(
                """
                {"_id": {"$oid": "65a000000000000000000001"}, "name": "Ada", "age": null, "tags": ["a"]}
                {"_id": {"$oid": "65a000000000000000000002"}, "name": "Bob", "age": "31"}

                """, to: "users.jsonl")
            let check = try await Program.run(
                ["check", "validators", "--source", "users.jsonl", "--collection", "app.users"], in: folder.path)
            #expect(check.output.hasPrefix("1 document does not fit.\n"), "\(check.output) \(check.errors)")
            #expect(check.output.contains("age"))
            let refused = try await run(["validators/app.users.json"])
            #expect(refused.exitCode == 65)
            #expect(refused.errors.contains("this is a MongoDB validator already"))
        }
    }
}
