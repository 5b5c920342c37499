import BSON
import Mongo
import SystemPackage
import TestSupport
import Testing

/// Tests that a backfill writes only after a yes, typed at a terminal or given as `--yes`.
@Suite struct CommandLinePromptTests {
    private func withJob(_ body: (TestDatabase, _ backfill: [String]) async throws -> Void) async throws {
        let mongod = try await Mongod.shared
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try await mongod.withDatabase { database in
            try await database.fill("person", count: 100)
            let job = try folder.write(
                "job: ask\ncollection: \(database.name).person\nsteps:\n  - default: {field: name, value: Ada}\n",
                to: "job.yml")
            try await mongod.withDatabase { state in
                let flags = ["SHIPSHAPE_STATE_DATABASE=\(state.name)", "SHIPSHAPE_LEDGER=none"]
                try await body(database, ["backfill", job, "--uri", mongod.uri] + flags)
            }
        }
    }

    private func answer(_ input: String, to backfill: [String]) async throws -> ProgramRun {
        try await Program.atTerminal(backfill, askedFor: "[yes/no] ", types: input)
    }

    private func changed(_ database: TestDatabase) async throws -> Int {
        try await database.count("person", ["name": "Ada"])
    }

    @Test(arguments: [#"no\n"#, #"\n"#, #"\004"#, #"Yes, why not\n"#])
    func everyAnswerButYesIsANo(_ input: String) async throws {
        try await withJob { database, backfill in
            let run = try await answer(input, to: backfill)
            #expect(run.output.contains("100 of 100 documents need it"))
            #expect(run.output.contains("Write to \(database.name).person? [yes/no] "))
            #expect(run.output.contains("shipshape: nothing was written\r\n"))
            #expect(!run.output.contains("USAGE"))
            #expect(run.exitCode == 75)
            let count = try await changed(database)
            #expect(count == 0)
        }
    }

    @Test func ctrlCAtThePromptEndsIt() async throws {
        try await withJob { database, backfill in
            let run = try await answer(#"\003"#, to: backfill)
            #expect(run.output.contains("shipshape: stopped by a signal; nothing was written\r\n"))
            #expect(run.exitCode == 75)
            let count = try await changed(database)
            #expect(count == 0)
        }
    }

    @Test(arguments: [#"yes\n"#, #" Y \n"#]) func aYesWrites(_ input: String) async throws {
        try await withJob { database, backfill in
            let run = try await answer(input, to: backfill)
            #expect(run.output.contains("changed 100 of 100 documents in 1 chunk"))
            #expect(run.exitCode == 0)
            let count = try await changed(database)
            #expect(count == 100)
        }
    }

    @Test func offATerminalItNeedsYes() async throws {
        try await withJob { database, backfill in
            let asked = try await Program.run(backfill)
            #expect(asked.exitCode == 64)
            #expect(asked.output == "")
            #expect(asked.errorLines.last == "shipshape: nothing was written: without a terminal, backfill needs --yes")
            let before = try await changed(database)
            #expect(before == 0)
            let reported = try await Program.run(backfill + ["--yes"])
            #expect(reported.exitCode == 0)
            let after = try await changed(database)
            #expect(after == 100)
            let again = try await Program.run(backfill)
            #expect(again.exitCode == 0, "nothing is asked when there is nothing to do")
            #expect(again.output.contains("nothing to do"))
        }
    }

    @Test func aDryRunAsksNothingAndWritesNothing() async throws {
        try await withJob { database, backfill in
            let run = try await Program.run(backfill + ["--dry-run"])
            #expect(run.exitCode == 0)
            #expect(run.errors == "")
            #expect(run.output.contains("would change 100 of 100 documents"))
            let names = try await database.pool.run { [name = database.name] client in
                try client.listCollections(of: name).map(\.name)
            }
            #expect(names == ["person"])
        }
    }
}
