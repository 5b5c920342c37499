import Subprocess
import SystemPackage
import TestSupport
import Testing

/// Tests that the errors for likely mistakes, on the command line and in files, suggest the fix.
@Suite struct HintTests {
    private static let nowhere = ["--uri", "mongodb://127.0.0.1:1/"]

    private func run(_ arguments: [String], in folder: FilePath? = nil) async throws -> ProgramRun {
        try await Program.run(arguments, in: folder)
    }

    @Test func checkWithTwoSchemasNamesTheFlagForTheOther() async throws {
        let run = try await run(["check", "v2", "v1"])
        #expect(run.exitCode == 64)
        #expect(run.errors.contains("check v2 --active v1"), "\(run.errors)")
        #expect(run.errors.contains("diff and plan take OLD NEW"))
    }

    @Test(arguments: ["check", "lint"]) func withoutASchemaTheConfigurationIsNamed(_ command: String) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let run = try await run([command], in: folder.path)
        #expect(run.exitCode == 64)
        #expect(
            run.errors.contains("or write schema: PATH into shipshape.yml (shipshape init writes it)"),
            "\(run.errors)")
    }

    @Test func aFolderAboveTheAppNamesTheAppsFolder() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(CommandLineFolder.person, to: "backend/export/app.person.json")
        let run = try await run(["check", folder.path.string] + Self.nowhere)
        #expect(run.exitCode == 65)
        #expect(
            run.errors.contains(
                "the folder itself holds no schema (\(folder.path)/backend/export does: name that folder)"),
            "\(run.errors)")
        try folder.write(CommandLineFolder.person, to: "other/app.person.json")
        let both = try await self.run(["lint", folder.path.string])
        #expect(
            both.errors.contains("(these do: \(folder.path)/other, \(folder.path)/backend/export)"), "\(both.errors)")
    }

    /// A configured deployment is asked.
    ///
    /// One whose variable is not set is not asked, and neither is one with `--offline`; a note says so.
    @Test(arguments: ["plan", "diff"]) func aDeploymentThatIsNotAskedIsNamed(_ command: String) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(CommandLineFolder.person, to: "old/app.person.json")
        try folder.write(CommandLineFolder.person, to: "new/app.person.json")
        let variables: [Environment.Key: String?] = ["SHIPSHAPE_URI": "mongodb://127.0.0.1:1/"]
        let asked = try await Program.run([command, "old", "new"], environment: variables, in: folder.path)
        #expect(asked.exitCode == 69, "\(asked.errors)")
        let run = try await Program.run([command, "old", "new", "--offline"], environment: variables, in: folder.path)
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.errors.contains("Note: the deployment was not asked: leave out --offline to "), "\(run.errors)")
        for flags in [["--quiet"], ["-o", "json"]] {
            let silent = try await Program.run(
                [command, "old", "new", "--offline"] + flags, environment: variables, in: folder.path)
            #expect(silent.errors == "", "\(silent.errors)")
        }
        try folder.write("uri: ${MONGODB_URI}\n", to: "shipshape.yml")
        let unset = try await Program.run([command, "old", "new"], in: folder.path)
        #expect(unset.exitCode == 0, "\(unset.errors)")
        #expect(
            unset.errors.contains("Note: the deployment was not asked, because MONGODB_URI is not set: set it to "),
            "\(unset.errors)")
        let file = try await Program.run(
            [command, "old", "new"], environment: ["MONGODB_URI": "mongodb://127.0.0.1:1/"], in: folder.path)
        #expect(file.exitCode == 69, "\(file.errors)")
    }

    @Test func aPlanBetweenEqualSchemasNamesTheOneForDocumentsThatFailAlready() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        for name in ["old", "new"] { try folder.write(CommandLineFolder.person, to: "\(name)/app.person.json") }
        let run = try await run(["plan", "old", "new"], in: folder.path)
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(
            run.output.contains("Note: for documents that fail the schema already: shipshape plan new\n"),
            "\(run.output)")
    }

    // MARK: paths through the elements of a list

    private static let conversations = """
        {"title": "Person", "bsonType": "object", "properties": {
            "_id": {"bsonType": "int"},
            "conversations": {"bsonType": "array", "items": {"bsonType": "object", "title": "Conversation",
                "properties": {"muted": {"bsonType": "bool"}}}}
        }}
        """

    @Test(arguments: [("conversations[].muted", 69), ("conversations.[].muted", 69), ("conversations.muted", 65)])
    func aPathThroughAListIsWrittenWithBrackets(_ path: String, _ status: Int32) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(Self.conversations, to: "schemas/app.person.json")
        try folder.write(
            """
            job: a
            collection: app.person
            schema: {next: schemas}
            steps:
              - convert: {field: "\(path)", to: bool}

            """, to: "job.yml")
        let job = try await run(
            ["backfill", "job.yml", "--dry-run"] + Self.nowhere, in: folder.path)
        #expect(job.exitCode == status, "\(job.errors)")
        try folder.write(
            "- {collection: app.person, path: \"\(path)\", rule: type-mismatch, reason: r, owner: o}\n",
            to: "shipshape.exceptions.yml")
        let check = try await run(["check", "schemas"] + Self.nowhere, in: folder.path)
        #expect(check.exitCode == status, "\(check.errors)")
        guard status == 65 else { return }
        for run in [job, check] {
            #expect(run.errors.contains("(did you mean \"conversations[].muted\"?)"), "\(run.errors)")
        }
    }
}
