import BSON
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// Tests the next commands that a command's output proposes.
///
/// Each proposed command works as the output shows it, and no command is proposed if it would not help.
@Suite struct NextCommandTests {
    private static let app = DemoApp.folder

    /// Returns the lines that propose a command.
    private func proposals(_ run: ProgramRun) -> [Substring] {
        run.output.split(separator: "\n").filter { $0.contains(": shipshape ") }
    }

    /// A variable of the environment also applies to the next command, so the proposal does not repeat it.
    @Test func neitherVariablesNorTheConnectionStringAreRepeated() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 3)
            try test.job(steps: [#"default: {field: email, value: ""}"#])
            let run = try await test.backfill("job", "SHIPSHAPE_LEDGER=none")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(
                proposals(run) == ["To undo the job: shipshape undo job"])
            #expect(!run.output.contains("mongodb:"), "a connection string can contain a password")
        }
    }

    @Test func theEnvironmentIsRepeatedOnlyIfItIsAFlagOfTheRun() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 3)
            let file = test.folder.appending("shipshape.yml").string
            try test.write(
                "shipshape.yml",
                "environments:\n  test:\n    uri: \(test.uri)\n    state-database: \(test.state.name)\n")
            try test.job(steps: [#"default: {field: email, value: ""}"#])
            let flags = ["backfill", test.path(), "--config", file, "--env", "test", "--yes"]
            let run = try await Program.run(flags)
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(proposals(run) == ["To undo the job: shipshape undo job --config \(file) --env test"])
            try test.job("other", steps: [#"default: {field: nick, value: ""}"#])
            let set = try await Program.run(
                ["backfill", test.path("other"), "--config", file, "--yes"], environment: ["SHIPSHAPE_ENV": "test"])
            #expect(set.exitCode == 0, "\(set.errors)")
            #expect(proposals(set) == ["To undo the job: shipshape undo other --config \(file)"])
        }
    }

    @Test func aCheckProposesAPlanOnlyBetweenDifferentSchemas() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", [["_id": 1, "name": 5]])
            let check = try folder.check(database, on: mongod)
            try folder.write(
                CommandLineFolder.person.replacing(
                    #""name": { "bsonType": "string" }"#, with: #""name": { "bsonType": "int" }"#),
                to: "old.json")
            let old = folder.path.appending("old.json").string
            let changed = try await Program.run(check + ["--active", old])
            let command = "shipshape plan \(old) \(check[1]) --collection "
            #expect(proposals(changed).first?.hasPrefix("Next: \(command)") == true, "\(changed.output)")
            let same = try await Program.run(check + ["--active", check[1], "--fail-on", "any"])
            let repair = "Next: shipshape plan \(check[1]) "
            #expect(proposals(same).first?.hasPrefix(repair) == true, "\(same.output)")
        }
    }

    @Test func deployedProposesTheRunInOneLine() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 3)
            try test.write(
                "next.json",
                """
                {"title": "P", "bsonType": "object", "properties": {"_id": {"bsonType": "int"}, \
                "email": {"bsonType": "string"}}}
                """)
            try test.job(steps: [#"default: {field: email, value: ""}"#], more: "schema: {next: next.json}")
            #expect(try await test.backfill().exitCode == 0)
            let run = try await Program.run([
                "job", "deployed", test.path(), "--yes", "--uri", test.uri,
                "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
            ])
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.output.split(separator: "\n").count == 1, "\(run.output)")
            let command = "shipshape backfill \(test.path())"
            #expect(run.output.hasSuffix("; run the job again: \(command)\n"), "\(run.output)")
        }
    }

    @Test func aQuietPlanShowsNeitherNotesNorTheNextCommand() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let versions = ["v1", "v2"].map { Self.app.appending($0).string }
        let plan = { (flags: [String]) in
            try await Program.run(
                ["plan"] + versions + ["--collection", "app.Person", "--default", "Person.email="]
                    + ["--force", "--out", folder.path.appending("jobs").string] + flags)
        }
        let spoken = try await plan([])
        #expect(spoken.output.contains("\nNext: shipshape backfill --dry-run "), "\(spoken.output)\(spoken.errors)")
        let quiet = try await plan(["--quiet"])
        #expect(!quiet.output.contains("Next") && !quiet.output.contains("Note"), "\(quiet.output)")
        #expect(quiet.errors == "")
    }

    @Test func aQuietFolderShowsNeitherNotesNorTheNextCommand() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 3)
            try test.job(steps: [#"default: {field: email, value: ""}"#], more: "journal: false")
            let spoken = try await test.backfillFolder("--dry-run", yes: false)
            #expect(spoken.output.contains("\nNext: ") && spoken.output.contains("Note: "), "\(spoken.output)")
            let quiet = try await test.backfillFolder("--dry-run", "--quiet", yes: false)
            #expect(!quiet.output.contains("Next") && !quiet.output.contains("Note: "), "\(quiet.output)")
        }
    }

    @Test(.fencedDeletes) func aQuietPartnerCommandShowsNeitherNotesNorTheNextCommand() async throws {
        try await Mongod.shared.withPartner { test in
            try test.job()
            try await test.load(3)
            let spoken = try await test.run("init", "--dry-run")
            #expect(proposals(spoken).count == 1, "\(spoken.output)\(spoken.errors)")
            let quiet = [
                try await test.run("init", "--dry-run", "--quiet"), try await test.run("init", "--quiet"),
                try await test.run("mirror", "--once", "--quiet"), try await test.run("verify", "--quiet"),
            ]
            for run in quiet {
                #expect(run.exitCode == 0, "\(run.errors)")
                #expect(proposals(run) == [], "\(run.output)")
            }
        }
    }
}
