import BSON
import Foundation
import Mongo
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// Tests output streams that are closed or on a full disk, signals, colours, and that the output never shows secrets.
@Suite struct CommandLineStreamTests {
    private func withPeople(
        _ count: Int = 50, _ body: (TestDatabase, CommandLineFolder, [String]) async throws -> Void
    ) async throws {
        let mongod = try await Mongod.shared
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try await mongod.withDatabase { database in
            try await database.fill("person", count: count)
            try await body(database, folder, try folder.check(database, on: mongod))
        }
    }

    @Test func aClosedPipeEndsItWithoutACrash() async throws {
        try await withPeople { _, _, check in
            // The process that reads the pipe has ended before the program starts.
            let run = try await Program.shell(#"exec 3> >(:); wait $!; "$0" "$@" >&3; echo $?"#, check)
            #expect(["73\n", "141\n"].contains(run.output), "\(run.output)")
            #expect(!run.errors.contains("internal error"))
        }
    }

    @Test func aClosedStandardOutputEndsWith73() async throws {
        try await withPeople { _, _, check in
            let run = try await Program.shell(#""$0" "$@" >&-"#, check)
            #expect(run.exitCode == 73)
            #expect(run.errors.hasPrefix("shipshape: cannot write to standard output: "))
        }
    }

    @Test func aFullDiskEndsWith73() async throws {
        try await withPeople { _, _, check in
            let run = try await Program.shell(#""$0" "$@" >/dev/full"#, check)
            #expect(run.exitCode == 73)
            #expect(run.errors == "shipshape: cannot write to standard output: No space left on device\n")
        }
    }

    @Test(arguments: [SIGINT, SIGTERM]) func aSignalEndsACheckWith75(_ signal: Int32) async throws {
        let mongod = try await Mongod.shared
        try await withPeople(20_000) { database, _, check in
            let appName = "\(database.name)_cli"
            var point = FailPoint("find", appName: appName, mode: .times(1))
            point.blockTime = .seconds(5)
            let arguments = check.map { $0 == mongod.uri ? mongod.uri(appName: appName) : $0 }
            let run = try await mongod.failing(point) {
                try await Program.run(arguments) { program in
                    try await mongod.waitForCommand("find", of: appName)
                    // The test sends the signal twice, as `timeout` does: once to the process and once to its process
                    // group.
                    program.send(signal)
                    program.send(signal)
                }
            }
            #expect(run.exitCode == 75)
            #expect(run.output == "")
            // On a busy machine, a line of progress may precede the message.
            #expect(
                run.errorLines.last
                    == "shipshape: stopped by a signal; nothing was written, so the next run starts over")
        }
    }

    /// The program by default uses colours on a terminal and none in a pipe.
    ///
    /// If `NO_COLOR` is set, it uses none at all.
    ///
    /// The shell command `script` runs the program on a terminal and prints what the terminal shows.
    @Test func colourIsForTerminalsThatWantIt() async throws {
        try await withPeople { _, _, check in
            func onTerminal(_ prefix: String) async throws -> String {
                let line = #"script -qec "\#(prefix)$(printf '%q ' "$0" "$@")" /dev/null </dev/null"#
                return try await Program.shell(line, check).output
            }
            let (colored, plain) = (try await onTerminal(""), try await onTerminal("NO_COLOR=1 "))
            #expect(colored.contains("\u{1B}[31;1m50 documents would stop syncing."))
            #expect(plain.contains("50 documents would stop syncing.") && !plain.contains("\u{1B}[31"))
            let piped = try await Program.run(check)
            #expect(!piped.output.contains("\u{1B}"))
        }
    }

    @Test func offATerminalProgressIsAQuietLine() async throws {
        try await withPeople { _, _, check in
            let run = try await Program.run(check)
            #expect(run.errors == "")
        }
    }
}

extension CommandLineStreamTests {
    @Test func secretsAndValuesNeverShow() async throws {
        let mongod = try await Mongod.withAuthentication
        let uri = try await mongod.addUser("cli-secret", roles: ["readWriteAnyDatabase"])
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try await mongod.withDatabase { database in
            let job = try await prepare(database, folder)
            let (json, text) = (folder.path.appending("r.json").string, folder.path.appending("r.txt").string)
            let state = ["SHIPSHAPE_STATE_DATABASE=\(database.name)_state", "SHIPSHAPE_LEDGER=none"]
            let schema = folder.path.appending("person.json").string
            let check = ["check", schema, "--collection", "\(database.name).person"]
            var seen: [String] = []
            for arguments in [
                check, check + ["--info", "-o", "json"], ["backfill", job, "--dry-run"] + state,
                ["backfill", job, "--yes", "--report", json, "--report", text] + state,
                ["backfill", job, "--yes", "-o", "json"] + state, check + ["SHIPSHAPE_THREADS=wrong"],
                ["backfill", job, "--yes", "--uri", "\(uri)&readPreference=secondary&serverSelectionTimeoutMS=1000"]
                    + state,
            ] {
                let run = try await Program.run(arguments, environment: ["SHIPSHAPE_URI": uri])
                seen += [run.output, run.errors]
            }
            seen += [folder.text(of: "r.json") ?? "", folder.text(of: "r.txt") ?? ""]
            #expect(seen.contains { $0.contains("convert age to int") })
            seen += try await stateDocuments(of: database)
            for secret in ["cli-secret-password", "s3cret-value"] {
                #expect(!seen.contains { $0.contains(secret) }, "\(secret)")
            }
        }
    }

    /// Inserts documents with a secret value, and writes a job whose steps read two of the fields with that value.
    ///
    /// - Returns: the path of the job file.
    private func prepare(_ database: TestDatabase, _ folder: CommandLineFolder) async throws -> String {
        try await database.fill(
            "person",
            [
                ["_id": 1, "name": ["s3cret-value"], "age": "s3cret-value"], ["_id": 2, "age": "36"],
                ["_id": 3, "name": "s3cret-value", "other": ["s3cret-value": 1]],
            ])
        try folder.write(CommandLineFolder.person, to: "person.json")
        return try folder.write(
            """
            job: secret
            collection: \(database.name).person
            schema: {next: person.json}
            steps:
              - convert: {field: age, to: int}
              - default: {field: name, value: "Ada"}

            """, to: "job.yml")
    }

    /// Returns every document of the state database as text, and then drops the database.
    private func stateDocuments(of database: TestDatabase) async throws -> [String] {
        let name = "\(database.name)_state"
        return try await database.pool.run { client in
            let collections = try client.listCollections(of: name)
            #expect(!collections.isEmpty)
            let documents = try collections.flatMap { info in
                try client.collection(Namespace(database: name, collection: info.name)).find().documents()
            }
            try client.runCommand(["dropDatabase": 1], on: name)
            return try documents.map { try $0.extendedJSON(.relaxed) }
        }
    }
}
