import BSON
import Mongo
import SystemPackage
import TestSupport
import Testing

/// A backfill writes only after a yes: at a terminal, or on the command line.
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
            // The state is kept where it goes with the test's database.
            let state = ["--state-database", database.name, "--ledger", "none"]
            try await body(database, ["backfill", job, "--uri", mongod.uri] + state)
        }
    }

    /// Runs the program at a terminal, and types.
    private func atTerminal(_ arguments: [String], types input: String) async throws -> CommandLineRun.Result {
        let line = #"""
            (sleep 1.5; printf "$1"; sleep 3) | script -qec "$(printf '%q ' "$0" "${@:2}")" /dev/null
            """#
        return try await CommandLineRun.shell(line, [input] + arguments)
    }

    private func changed(_ database: TestDatabase) async throws -> Int {
        try await database.count("person", ["name": "Ada"])
    }

    @Test(arguments: [#"no\n"#, #"\n"#, #"\004"#, #"Yes, why not\n"#])
    func whatIsNoYesIsANo(_ input: String) async throws {
        try await withJob { database, backfill in
            let run = try await atTerminal(backfill, types: input)
            #expect(run.output.contains("100 of 100 documents need it"))
            #expect(run.output.contains("Write to \(database.name).person? [yes/no] "))
            #expect(run.output.contains("shipshape: nothing was written\r\n"))
            #expect(!run.output.contains("USAGE"))
            #expect(run.status == 75)
            let count = try await changed(database)
            #expect(count == 0)
        }
    }

    @Test func ctrlCAtThePromptEndsIt() async throws {
        try await withJob { database, backfill in
            let run = try await atTerminal(backfill, types: #"\003"#)
            #expect(run.output.contains("shipshape: stopped by a signal; nothing was written\r\n"))
            #expect(run.status == 75)
            let count = try await changed(database)
            #expect(count == 0)
        }
    }

    @Test(arguments: [#"yes\n"#, #" Y \n"#]) func aYesWrites(_ input: String) async throws {
        try await withJob { database, backfill in
            let run = try await atTerminal(backfill, types: input)
            #expect(run.output.contains("changed 100 of 100 documents in 1 chunk"))
            #expect(run.status == 0)
            let count = try await changed(database)
            #expect(count == 100)
        }
    }

    @Test func offATerminalItNeedsYes() async throws {
        try await withJob { database, backfill in
            let asked = try await CommandLineRun.shipshape(backfill)
            #expect(asked.status == 64)
            #expect(asked.output == "")
            #expect(asked.errorLines.last == "shipshape: nothing was written: off a terminal, backfill needs --yes")
            let before = try await changed(database)
            #expect(before == 0)
            let told = try await CommandLineRun.shipshape(backfill + ["--yes"])
            #expect(told.status == 0)
            let after = try await changed(database)
            #expect(after == 100)
            let again = try await CommandLineRun.shipshape(backfill)
            #expect(again.status == 0, "nothing is asked when there is nothing to do")
            #expect(again.output.contains("nothing to do"))
        }
    }

    @Test func aDryRunAsksNothingAndWritesNothing() async throws {
        try await withJob { database, backfill in
            let run = try await CommandLineRun.shipshape(backfill + ["--dry-run"])
            #expect(run.status == 0)
            #expect(run.errors == "")
            #expect(run.output.contains("would change 100 of 100 documents"))
            let names = try await database.pool.run { [name = database.name] client in
                try client.listCollections(of: name).map(\.name)
            }
            #expect(names == ["person"])
        }
    }
}
