import Files
import Foundation
import Steps
import Subprocess
import SystemPackage
import Testing

@testable import Jobs
@testable import ServerSchema
@testable import ShipshapeCLI

/// Tests schemas that are read from a git revision, such as `HEAD~1:schemas`.
@Suite struct GitRevisionTests {
    /// Runs a test in a git repository with two commits: the first has the older schemas, the second the newer ones.
    private func withRepository(_ body: (CommandLineFolder) async throws -> Void) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let (age, years) = (#""age": { "bsonType": "int" }"#, #""age": { "bsonType": "string" }"#)
        try await git(folder, "init", "--quiet", "--initial-branch=main")
        for (properties, message) in [(age, "first: older"), (years, "second")] {
            try folder.write(DiffFolder.schema(properties), to: "app/schemas/app.Person.json")
            try folder.write(
                DiffFolder.schema(properties), to: "export/data_sources/main/app/Person/schema.json")
            try folder.write("{}", to: "export/root_config.json")
            try folder.write(Self.prisma(properties == age ? "Int" : "String"), to: "prisma/schema.prisma")
            try folder.write("model Tag {\n  id Int @id @map(\"_id\")\n}\n", to: "prisma/models/tag.prisma")
            try await git(folder, "add", ".")
            try await git(folder, "commit", "--quiet", "--message", message)
        }
        try await body(folder)
    }

    /// Returns a Prisma schema whose field `age` has the given type.
    private static func prisma(_ age: String) -> String {
        """
        datasource db {
          provider = "mongodb"
        }
        model Person {
          id Int @id @map("_id")
          age \(age)
        }
        """
    }

    private func git(_ folder: CommandLineFolder, _ arguments: String...) async throws {
        let who = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"]
        let result = try await Subprocess.run(
            .name("git"), arguments: Arguments(who + arguments), workingDirectory: folder.path,
            output: .string(limit: 1 << 16), error: .string(limit: 1 << 16))
        try #require(result.terminationStatus.isSuccess, "\(result.standardError)")
    }

    @Test(arguments: [
        ("HEAD~1:app/schemas", "app/schemas"), ("HEAD~1:app/schemas", "HEAD:app/schemas"),
        ("main~1:export", "export"), ("HEAD^{/first: older}:export", "export"),
        ("HEAD~1:export/data_sources/main/app/Person/schema.json", "export"),
        ("HEAD~1:./app/schemas/", "app/schemas"),
    ])
    func foldersAndFilesOfARevision(_ old: String, _ new: String) async throws {
        try await withRepository { folder in
            let run = try await Program.run(["diff", old, new, "-o", "json"], in: folder.path)
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(run.output.contains("\"description\": \"age: int → string\""))
            #expect(run.output.contains("\"file\": \"\(old.hasSuffix("/") ? String(old.dropLast()) : old)"))
            #expect(!run.output.contains("/tmp/"))
        }
    }

    @Test(arguments: [
        ("HEAD~1:prisma", "prisma"), ("HEAD~1:prisma", "HEAD:prisma"),
        ("HEAD~1:prisma/schema.prisma", "prisma/schema.prisma"),
    ])
    func prismaSchemasOfARevision(_ old: String, _ new: String) async throws {
        try await withRepository { folder in
            let run = try await Program.run(
                ["diff", old, new, "SHIPSHAPE_DATABASE=app", "-o", "json"], in: folder.path)
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(run.output.contains("\"description\": \"age: Int → String\""), "\(run.output)")
            let place = #/"file": "HEAD~1:prisma/schema.prisma",\s+"line": 6/#
            #expect(run.output.contains(place), "\(run.output)")
            let planned = try await Program.run(
                ["plan", old, new, "SHIPSHAPE_DATABASE=app", "--out", "jobs"], in: folder.path)
            #expect(planned.exitCode == 0, "\(planned.errors)")
            let job = try JobFile.read(
                at: folder.path.appending("jobs/after-deploy/app.Person-after-deploy.yml").string)
            let active = try #require(try job.schema(at: job.activeSchema))
            #expect(active[job.namespace]?.root.property("age")?.scalar == .int)
        }
    }

    /// `plan` copies the schemas into the folder of the jobs, also that of a revision.
    @Test(arguments: ["HEAD~1:app/schemas", "HEAD~1:app/schemas/app.Person.json"])
    func aPlannedJobKeepsTheSchemaOfARevision(_ old: String) async throws {
        try await withRepository { folder in
            let single = old.hasSuffix(".json") ? ["--collection", "app.Person"] : []
            let new = old.hasSuffix(".json") ? "app/schemas/app.Person.json" : "app/schemas"
            let planned = try await Program.run(
                ["plan", old, new, "--out", "jobs"] + single, in: folder.path)
            #expect(planned.exitCode == 0, "\(planned.errors)")
            let file = "jobs/after-deploy/app.Person-after-deploy.yml"
            let job = try JobFile.read(at: folder.path.pushing(FilePath(file)).string)
            #expect(job.nextSchema?.hasPrefix("../schemas/") == true, "\(job.nextSchema ?? "none")")
            let active = try #require(try job.schema(at: job.activeSchema))
            #expect(active.collections.first?.root.property("age")?.types == [.int])
            // A copy of the schema with the same content exists already, so the plan keeps the copy.
            let again = try await Program.run(
                ["plan", old, new, "--out", "jobs", "--force"] + single, in: folder.path)
            #expect(again.exitCode == 0, "\(again.errors)")
            let shown = try await Program.run(["plan", old, new] + single, in: folder.path)
            #expect(shown.errors.contains("the jobs do not name \(old), because it is not a file"), "\(shown.errors)")
        }
    }

    @Test func nothingIsLeftOverAndNothingIsTouched() async throws {
        try await withRepository { folder in
            let temporary = try CommandLineFolder()
            defer { temporary.remove() }
            try folder.write(DiffFolder.schema(#""age": { "bsonType": "date" }"#), to: "app/schemas/app.Person.json")
            try folder.write("x", to: "staged")
            try await git(folder, "add", "staged")
            let before = try Data(contentsOf: URL(fileURLWithPath: folder.path.appending(".git/index").string))
            let run = try await Program.run(
                ["diff", "HEAD:app/schemas", "app/schemas"], environment: ["TMPDIR": temporary.path.string],
                in: folder.path)
            #expect(run.output.contains("age: string → date"))
            #expect(temporary.names == [])
            #expect(folder.text(of: "app/schemas/app.Person.json")?.contains("date") == true)
            let after = try Data(contentsOf: URL(fileURLWithPath: folder.path.appending(".git/index").string))
            #expect(before == after)
        }
    }

    @Test func belowTheRootThePathStillBeginsThere() async throws {
        try await withRepository { folder in
            let below = folder.path.appending("app")
            #expect(try await Program.run(["diff", "HEAD~1:./schemas", "schemas"], in: below).exitCode == 1)
            #expect(try await Program.run(["diff", "HEAD~1:app/schemas", "schemas"], in: below).exitCode == 1)
            let run = try await Program.run(["diff", "HEAD~1:schemas", "schemas"], in: below)
            #expect(run.exitCode == 65)
            #expect(run.errors.contains("write HEAD~1:./schemas for one in this folder"), "\(run.errors)")
        }
    }

    @Test(arguments: [
        ("HEAD~9:app/schemas", #"git knows no revision "HEAD~9""#), ("nope:app", #"git knows no revision "nope""#),
        ("HEAD:app/schema", #"revision HEAD has no "app/schema""#),
        ("HEAD:../x", "HEAD:../x: "),
    ])
    func aPathThatARevisionLacksIsNamed(_ old: String, _ message: String) async throws {
        try await withRepository { folder in
            let run = try await Program.run(["diff", old, "app/schemas"], in: folder.path)
            #expect(run.exitCode == 65)
            #expect(run.errors.contains(message), "\(run.errors)")
        }
    }

    @Test func annotationsNameTheRepositorysFiles() async throws {
        try await withRepository { folder in
            let run = try await Program.run(
                ["diff", "HEAD~1:app/schemas", "HEAD:app/schemas", "-o", "github"], in: folder.path)
            #expect(run.output.hasPrefix("::error file=app/schemas/app.Person.json,line=2,"), "\(run.output)")
        }
    }

    @Test func errorsInARevisionNameIt() async throws {
        try await withRepository { folder in
            try folder.write("{", to: "app/schemas/app.Person.json")
            try await git(folder, "commit", "--quiet", "--all", "--message", "broken")
            let run = try await Program.run(["diff", "HEAD:app/schemas", "HEAD~1:app/schemas"], in: folder.path)
            #expect(run.exitCode == 65)
            #expect(run.errors.hasPrefix("shipshape: HEAD:app/schemas/app.Person.json:1:"), "\(run.errors)")
        }
    }

    @Test func aFileOfThatNameWins() async throws {
        try await withRepository { folder in
            try folder.write(DiffFolder.schema(#""b": { "bsonType": "int" }"#), to: "HEAD:app/app.Person.json")
            let run = try await Program.run(["diff", "HEAD:app", "app/schemas"], in: folder.path)
            #expect(run.output.contains("b is removed"), "\(run.errors)")
        }
    }

    @Test func withoutGitOrARepositoryItSaysSo() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let outside = try await Program.run(
            ["diff", "HEAD:a", "b"], environment: ["GIT_CEILING_DIRECTORIES": "/"], in: folder.path)
        #expect(outside.exitCode == 65)
        #expect(outside.errors.contains("HEAD:a: this folder is not in a git repository"))
        let without = try await Program.run(
            ["diff", "HEAD:a", "b"], environment: ["PATH": "/nowhere"], in: folder.path)
        #expect(without.exitCode == 65)
        #expect(without.errors.contains("git cannot be run"))
    }
}

extension GitRevisionTests {
    @Test func aLinkOutOfTheRevisionIsNotFollowed() async throws {
        try await withRepository { folder in
            try folder.write(DiffFolder.schema(#""secret": { "bsonType": "int" }"#), to: "elsewhere/app.Secret.json")
            let place = folder.path.appending("app/schemas")
            try FileManager.default.createSymbolicLink(
                atPath: place.appending("app.Secret.json").string,
                withDestinationPath: folder.path.appending("elsewhere/app.Secret.json").string)
            try FileManager.default.createSymbolicLink(
                atPath: place.appending("app.Inner.json").string, withDestinationPath: "app.Person.json")
            try await git(folder, "add", "app")
            try await git(folder, "commit", "--quiet", "--message", "link")
            let run = try await Program.run(["diff", "HEAD:app/schemas", "app/schemas"], in: folder.path)
            #expect(run.exitCode == 65, "\(run.output)")
            #expect(
                run.errors
                    == "shipshape: HEAD:app/schemas: app.Secret.json is a link to a place outside of it: name that "
                    + "place instead\n")
            try FileManager.default.removeItem(atPath: place.appending("app.Secret.json").string)
            try await git(folder, "add", "app")
            try await git(folder, "commit", "--quiet", "--message", "inner link")
            let inner = try await Program.run(["diff", "HEAD:app/schemas", "app/schemas"], in: folder.path)
            #expect(inner.exitCode == 0, "\(inner.errors)")
        }
    }

    @Test func commandsThatGitRunsGetNoSecret() async throws {
        try await withRepository { folder in
            // The repository configures a filter and a hook that append their environment variables to files. Git must
            // run the filter without the secrets, and must not run the hook.
            try folder.write("* filter=spy\n", to: ".gitattributes")
            let spy = "sh -c 'env >>\(folder.path.appending("filter.env")); cat'"
            try await git(folder, "config", "filter.spy.smudge", spy)
            let hook = try folder.write(
                "#!/bin/sh\nenv >>\(folder.path.appending("hook.env"))\n", to: ".git/hooks/post-index-change")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: hook)
            try await git(folder, "add", ".gitattributes")
            try await git(folder, "commit", "--quiet", "--message", "spy")
            try? FileManager.default.removeItem(atPath: folder.path.appending("hook.env").string)
            let info = try folder.write("* filter=spy\n", to: ".git/info/attributes")
            #expect(FileManager.default.fileExists(atPath: info))
            _ = try await Program.run(
                ["diff", "HEAD~1:app/schemas", "app/schemas"],
                environment: ["SHIPSHAPE_PASSWORD": "open sesame", "SHIPSHAPE_URI": "mongodb://a:sesame@b/"],
                in: folder.path)
            #expect(folder.text(of: "hook.env") == nil)
            let seen = try #require(folder.text(of: "filter.env"))
            #expect(seen.contains("PATH=") && !seen.contains("sesame"))
        }
    }

    /// The parser handles a long text within the test's time limit.
    ///
    /// An earlier version turned the text into a `FilePath`, whose checks take quadratic time in a debug build.
    @Test(.timeLimit(.minutes(10))) func aLongTextIsReadInTime() {
        #expect(GitRevision("HEAD:" + String(repeating: "a//", count: 1 << 16)) != nil)
        #expect(GitRevision(String(repeating: "a//", count: 1 << 16)) == nil)
    }
}
