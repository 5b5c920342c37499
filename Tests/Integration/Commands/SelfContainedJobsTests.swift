import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests that the jobs that `plan` writes stay as they were planned, whatever the application's schema becomes.
@Suite struct SelfContainedJobsTests {
    private static let old = """
        datasource db {
          provider = "mongodb"
          url      = env("DATABASE_URL")
        }
        model User {
          id   String @id @map("_id")
          name String
        }

        """
    private static let new = old.replacing("name String", with: "name String\n  age Int")

    /// A Prisma project whose plan fills `age`: its folder, its database, and a command with its settings.
    private struct Project {
        let backfill: BackfillCase
        var jobs: FilePath { backfill.folder.appending("jobs") }

        func write(_ schema: String) throws {
            let folder = backfill.folder.appending("prisma")
            try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
            try schema.write(toFile: folder.appending("schema.prisma").string, atomically: true, encoding: .utf8)
        }

        func run(_ words: String...) async throws -> ProgramRun {
            try await Program.run(
                words + [
                    "--uri", backfill.uri, "SHIPSHAPE_DATABASE=\(backfill.database.name)",
                    "SHIPSHAPE_STATE_DATABASE=\(backfill.state.name)",
                ], in: backfill.folder)
        }

        func runFolder() async throws -> ProgramRun { try await run("backfill", "jobs", "--yes", "--reviewed") }

        /// Returns the only file of the kind in the folder of the copies.
        func copy() throws -> FilePath {
            let names = try FileManager.default.subpathsOfDirectory(atPath: jobs.appending("schemas").string)
            let files = names.filter { $0.hasSuffix(".prisma") && $0.contains("/") }
            return jobs.appending("schemas").pushing(FilePath(try #require(files.sorted().last)))
        }
    }

    private func withProject(_ body: (Project) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { backfill in
            let project = Project(backfill: backfill)
            try await backfill.database.fill("User", [["_id": "a", "name": "Ada"], ["_id": "b", "name": "Bo"]])
            try project.write(Self.old)
            let before = project.backfill.folder.appending("old.prisma")
            try Self.old.write(toFile: before.string, atomically: true, encoding: .utf8)
            try project.write(Self.new)
            let plan = try await project.run("plan", "old.prisma", "prisma", "--out", "jobs", "--default", "User.age=0")
            #expect(plan.exitCode == 0, "\(plan.output)\(plan.errors)")
            try await body(project)
        }
    }

    @Test func anAppliedJobIsSkippedWhateverItsSchemaBecame() async throws {
        try await withProject { project in
            let first = try await project.runFolder()
            #expect(first.exitCode == 0, "\(first.output)\(first.errors)")
            #expect(try await project.backfill.database.count("User", ["age": 0]) == 2)
            for schema in [Self.new + "// A comment.\n", Self.new.replacing("age Int", with: "age String")] {
                try project.write(schema)
                let again = try await project.runFolder()
                #expect(again.exitCode == 0, "\(again.errors)")
                #expect(again.output == "Nothing to do: every job was applied.\n")
            }
            // The copy is needed no more, either.
            try FileManager.default.removeItem(atPath: project.jobs.appending("schemas").string)
            #expect(try await project.runFolder().exitCode == 0)
        }
    }

    @Test func aPendingJobRunsWithTheSchemaThatItWasPlannedFor() async throws {
        try await withProject { project in
            try project.write("// The schema of tomorrow.\n" + Self.new.replacing("age Int", with: "age String"))
            let run = try await project.runFolder()
            #expect(run.exitCode == 0, "\(run.output)\(run.errors)")
            #expect(try await project.backfill.database.count("User", ["age": ["$type": "number"]]) == 2)
        }
    }

    @Test func aCopyThatWasEditedOrIsGoneIsNamed() async throws {
        try await withProject { project in
            let copy = try project.copy()
            let text = try String(contentsOfFile: copy.string, encoding: .utf8)
            try (text + "// edited\n").write(toFile: copy.string, atomically: true, encoding: .utf8)
            let edited = try await project.runFolder()
            #expect(edited.exitCode == 65)
            #expect(
                edited.errors.contains(
                    ", the schema as shipshape plan read it, was changed since: restore it, for example by git "
                        + "checkout, or write the jobs again with shipshape plan"), "\(edited.errors)")
            try FileManager.default.removeItem(atPath: copy.removingLastComponent().string)
            let gone = try await project.runFolder()
            #expect(gone.exitCode == 65)
            #expect(gone.errors.contains("read it, is missing: restore it"), "\(gone.errors)")
            #expect(try await project.backfill.database.count("User", ["age": ["$exists": true]]) == 0)
        }
    }

    @Test func aContentIsCopiedOnce() async throws {
        try await withProject { project in
            let before = try FileManager.default.contentsOfDirectory(atPath: project.jobs.appending("schemas").string)
            #expect(before.count == 2)
            let again = try await project.run(
                "plan", "old.prisma", "prisma", "--out", "jobs", "--default", "User.age=0", "--force")
            #expect(again.exitCode == 0, "\(again.errors)")
            let after = try FileManager.default.contentsOfDirectory(atPath: project.jobs.appending("schemas").string)
            #expect(Set(after) == Set(before))
        }
    }
}
