import BSON
import DumpWriter
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests that the workflows which `init --ci` writes run as they are, step by step, in an environment without settings.
@Suite struct WrittenWorkflowTests {
    /// A project, as its repository has it: its schemas before and after a change that breaks nothing.
    enum Project: String, CaseIterable, Sendable {
        case prisma, validators, appServices

        /// The folder of the schemas, and the path of the file that changes.
        var places: (folder: String, file: String) {
            switch self {
            case .prisma: ("prisma", "prisma/schema.prisma")
            case .validators: ("validators", "validators/shop.User.json")
            case .appServices: ("app", "app/data_sources/mongodb-atlas/shop/User/schema.json")
            }
        }

        /// The text of the schema, with an optional field if `isChanged`.
        func schema(isChanged: Bool) -> String {
            let added = isChanged ? #", "nick": {"bsonType": "string"}"# : ""
            let properties = #""properties": {"_id": {"bsonType": "int"}, "name": {"bsonType": "string"}\#(added)}"#
            return switch self {
            case .prisma:
                """
                datasource db {
                  provider = "mongodb"
                  url      = env("DATABASE_URL")
                }
                model User {
                  id   Int @id @map("_id")
                  name String
                  \(isChanged ? "nick String?" : "")
                }

                """
            case .validators: #"{"$jsonSchema": {"required": ["name"], \#(properties)}}"#
            case .appServices:
                #"{"title": "User", "bsonType": "object", "required": ["_id", "name"], \#(properties)}"#
            }
        }

        /// Writes the other files of the project.
        func writeRest(to folder: CommandLineFolder) throws {
            switch self {
            case .prisma:
                // Git ignores the file, so the workflow does not have it.
                try folder.write("DATABASE_URL='mongodb://ada:secret@db1:27017/shop?retryWrites=true'\n", to: ".env")
                try folder.write(".env\n", to: ".gitignore")
            case .validators: break
            case .appServices: try folder.write("{}", to: "app/root_config.json")
            }
        }
    }

    @Test(arguments: Project.allCases, ["github", "gitlab"])
    func eachStepRunsInACleanEnvironment(_ project: Project, _ service: String) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(project.schema(isChanged: false), to: project.places.file)
        try project.writeRest(to: folder)
        let written = try await Program.run(
            ["init", "--schema", project.places.folder, "--ci", service], in: folder.path)
        try #require(written.exitCode == 0, "\(written.errors)")
        if project == .prisma {
            #expect(folder.text(of: "shipshape.yml")?.contains("\nuri: ${DATABASE_URL}\n") == true)
            #expect(folder.text(of: "shipshape.yml")?.contains("\ndatabase: \"shop\"\n") == true)
            #expect(folder.text(of: "shipshape.yml")?.contains("secret") == false)
        }
        let clone = try await pullRequest(of: project, in: folder)
        let dump = folder.path.appending("dump.archive.gz")
        try Data(Self.dump()).write(to: URL(filePath: dump.string))
        let path = service == "github" ? ".github/workflows/schemas.yml" : ".gitlab/schemas.yml"
        let text = try #require(folder.text(of: path))
        var names: [String] = []
        for step in try WrittenWorkflow(text, isGitHub: service == "github").steps {
            let run = try await shell(step.script, in: clone, folder, project, dump)
            #expect(run.status == 0, "\(step.name): \(run.output)")
            names.append(step.name)
        }
        let expected =
            service == "github"
            ? ["diff", "summary", "lint", "dump", "documents"] : ["schemas-diff", "schemas-lint", "schemas-documents"]
        #expect(names.filter(expected.contains) == expected)
    }

    /// Makes a repository of the folder, and a clone of it with a branch on which the schema has changed.
    private func pullRequest(of project: Project, in folder: CommandLineFolder) async throws -> FilePath {
        let clone = folder.path.appending("clone")
        let commit = "git -c user.name=T -c user.email=t@example.com commit --quiet --all --message change"
        try await require(
            "git init --quiet --initial-branch=main && git add . && \(commit)", in: folder.path, folder, project)
        try await require("git clone --quiet . clone", in: folder.path, folder, project)
        try folder.write(project.schema(isChanged: true), to: "clone/\(project.places.file)")
        try await require("git checkout --quiet -b change && \(commit)", in: clone, folder, project)
        return clone
    }

    /// An archive of the database `shop` with two users.
    private static func dump() -> [UInt8] {
        let users = Namespace(database: "shop", collection: "User")
        var writer = ArchiveWriter([users])
        writer.write([["_id": .int(1), "name": "Ada"], ["_id": .int(2), "name": "Bo"]], of: users)
        writer.close(users)
        return gzip(writer.bytes)
    }

    private func require(
        _ script: String, in place: FilePath, _ folder: CommandLineFolder, _ project: Project
    ) async throws {
        let run = try await shell(script, in: place, folder, project, folder.path)
        try #require(run.status == 0, "\(script): \(run.output)")
    }

    private func shell(
        _ script: String, in place: FilePath, _ folder: CommandLineFolder, _ project: Project, _ dump: FilePath
    ) async throws -> (status: Int32, output: String) {
        try await WrittenWorkflow.run(
            script, in: place, schemas: project.places.folder, home: folder.path, dump: dump)
    }
}
