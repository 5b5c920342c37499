import Subprocess
import SystemPackage
import Testing

/// Tests that an error in a file shows the file's line with a caret, in colour and with a link to the file if the
/// variables and the terminal allow it.
@Suite struct ErrorPlaceTests {
    private static let job = "job: a\ncollection: app.person\nsteps:\n  - renmae: {from: a, to: b}\n"
    private static let source = "  4 |   - renmae: {from: a, to: b}\n    |     ^~~~~~\n    |     rename\n"

    private func withFolder<R>(_ body: (CommandLineFolder) async throws -> R) async throws -> R {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(Self.job, to: "job.yml")
        try folder.write(CommandLineFolder.person, to: "person.json")
        return try await body(folder)
    }

    @Test func aJobShowsItsLine() async throws {
        try await withFolder { folder in
            let run = try await Program.run(["backfill", "job.yml", "--dry-run"], in: folder.path)
            #expect(run.exitCode == 65)
            #expect(run.output == "")
            #expect(
                run.errors
                    == "shipshape: job.yml:4:5: a step has no key \"renmae\" (did you mean \"rename\"?)\n\(Self.source)"
            )
        }
    }

    @Test func aSchemaTheConfigurationAndTheExceptionsShowTheirLines() async throws {
        try await withFolder { folder in
            try folder.write("{\n\t\"bsonType\": \"objct\"\n}\n", to: "bad.json")
            let schema = try await Program.run(["lint", "bad.json", "--collection", "a.b"], in: folder.path)
            let check = try await Program.run(["diff", "bad.json", "bad.json", "--collection", "a.b"], in: folder.path)
            #expect(
                check.errors.contains(
                    "  2 |     \"bsonType\": \"objct\"\n    |                 ^~~~~~~\n    |                 object\n"),
                "\(check.errors) \(schema.errors)")
            try folder.write(
                "- {collection: app.person, path: nmae, rule: required-missing, reason: r, owner: o}\n",
                to: "shipshape.exceptions.yml")
            let exceptions = try await Program.run(
                ["check", "person.json", "--collection", "app.person", "--source", "person.json"], in: folder.path)
            #expect(
                exceptions.errors.contains("\n    |                                  ^~~~\n"), "\(exceptions.errors)")
            try folder.write("ledgr: app.Ledger\n", to: "shipshape.yml")
            let settings = try await Program.run(["doctor", "--settings", "list"], in: folder.path)
            #expect(settings.exitCode == 78)
            #expect(
                settings.errors.hasSuffix("  1 | ledgr: app.Ledger\n    | ^~~~~\n    | ledger\n"), "\(settings.errors)")
        }
    }

    @Test func programsGetNoLine() async throws {
        try await withFolder { folder in
            for flags in [["-o", "json"], ["SHIPSHAPE_LOG_FORMAT=json"]] {
                let run = try await Program.run(["backfill", "job.yml", "--dry-run"] + flags, in: folder.path)
                #expect(run.errorLines.count == 1, "\(run.errors)")
            }
        }
    }

    /// The line with the error is not shown, because it contains a password in each of these files.
    @Test func aLineWithASecretIsNotShown() async throws {
        try await withFolder { folder in
            for text in [
                "uri: mongodb://ada:sesame@db1/\nlimit: mongodb://ada:sesame@db1/\n", "urii: ada:sesame\n",
                "passwrd: {of: [sesame]}\npassword_file:\n- sesame\n",
            ] {
                try folder.write(text, to: "shipshape.yml")
                let run = try await Program.run(["doctor", "--settings", "list"], in: folder.path)
                #expect(run.exitCode == 78)
                #expect(!run.errors.contains("sesame"), "\(run.errors)")
            }
        }
    }

    // MARK: colours and links

    /// Runs a backfill with a job file that has an error, on a terminal or not, and returns what the program wrote to
    /// standard error.
    private func errors(
        _ flags: [String] = [], _ variables: [Environment.Key: String?] = [:], onTerminal: Bool = false
    ) async throws -> String {
        try await withFolder { folder in
            let arguments = ["backfill", "job.yml", "--dry-run"] + flags
            guard onTerminal else {
                return try await Program.run(arguments, environment: variables, in: folder.path).errors
            }
            let line = #"script -qec "$(printf '%q ' "$0" "$@")" /dev/null </dev/null"#
            let all = variables.merging(["TERM": "xterm-256color", "VTE_VERSION": nil]) { given, _ in given }
            return try await Program.shell(line, arguments, in: folder.path, environment: all).output
        }
    }

    @Test func colourFollowsTheVariablesThenTheTerminal() async throws {
        let red = "\u{1B}[31;1m"
        #expect(try await !errors().contains(red))
        #expect(try await errors([], ["FORCE_COLOR": "1"]).contains(red))
        #expect(try await !errors([], ["FORCE_COLOR": "0"]).contains(red))
        #expect(try await !errors([], ["FORCE_COLOR": "1", "NO_COLOR": "1"]).contains(red))
        #expect(try await errors(onTerminal: true).contains(red))
        #expect(try await !errors([], ["NO_COLOR": "1"], onTerminal: true).contains(red))
        #expect(try await !errors([], ["TERM": "dumb"], onTerminal: true).contains(red))
    }

    @Test func aFileIsALinkOnTerminalsThatShowLinks() async throws {
        let link = "\u{1B}]8;;file://"
        #expect(try await errors([], ["VTE_VERSION": "7000"], onTerminal: true).contains(link))
        #expect(try await !errors(onTerminal: true).contains(link))
        #expect(try await !errors([], ["VTE_VERSION": "7000", "TERM": "dumb"], onTerminal: true).contains(link))
        #expect(try await !errors([], ["VTE_VERSION": "7000"]).contains(link))
    }

    @Test func resultsHonourTheVariablesToo() async throws {
        try await withFolder { folder in
            let lint = ["lint", "person.json", "--collection", "app.person"]
            for (variables, isColored) in [(["FORCE_COLOR=1"], true), ([], false)] {
                let run = try await Program.run(lint + variables, in: folder.path)
                #expect(run.output.contains("\u{1B}[") == isColored, "\(run.output)")
            }
        }
    }
}
