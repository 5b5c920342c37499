import Foundation
import SystemPackage
import Testing

/// Tests the help that the program prints, and its answers to wrong usage.
@Suite struct CommandLineHelpTests {
    private func help(_ arguments: String...) async throws -> String { try await help(arguments) }

    private func help(_ arguments: [String]) async throws -> String {
        let run = try await Program.run(arguments)
        #expect(run.exitCode == 0)
        #expect(run.errors == "")
        return run.output
    }

    @Test func theProgramNamesItsCommandsAndExitCodes() async throws {
        let text = try await help("--help")
        #expect(text.hasPrefix("OVERVIEW: Make your documents shipshape before you ship a schema."))
        #expect(text.contains("\n  check  "))
        #expect(text.contains("\n  diff  "))
        #expect(text.contains("\n  lint  "))
        #expect(text.contains("\n  plan  "))
        #expect(text.contains("\n  backfill  "))
        for group in ["CHECK", "REPAIR", "STEER", "WATCH", "SCHEMAS", "SETUP"] {
            #expect(text.contains("\n\n\(group) SUBCOMMANDS:\n"), "\(group)")
        }
        for code in ["0", "1", "64", "65", "69", "70", "73", "75", "76", "77", "78"] {
            #expect(text.split(whereSeparator: { ";: \n".contains($0) }).contains(Substring(code)))
        }
        #expect(try await help() == text)
    }

    @Test func checkNamesItsOptions() async throws {
        let text = try await help("check", "--help")
        #expect(text.contains("USAGE: shipshape check [<options>] [<schema>]"))
        for line in [
            "--collection <db.collection>", "--source <path>", "--limit <count>", "--strict", "--info",
            "--threads <count>", "--rate <count>", "--where <filter>", "--sample <count>", "--count",
            "SHIPSHAPE_PREFILTER=true",
            "--map <prod=copy>", "--mixed-collections <on|off>", "--null-types <on|off>",
            "SHIPSHAPE_INCLUDE_ASYMMETRIC=true",
            "--follow-links", "--ledger <db.collection>", "--app-id, --app <id>", "-o, --output <output>",
            "--report <file>", "--quiet", "-q, --quiet", "--active <schema>",
            "--fail-on <new|any|possible|breaking>", "--rename <old=new>", "SHIPSHAPE_SCHEMA_VERSIONING=true",
            "--state-database <name>", "--exceptions <file>", "--accept",
            "--failures <file|db:name.collection>", "--keep-failures <days>", "--history <place>",
            "SHIPSHAPE_FAIL_ON_ANOMALY=true",
            "--count-groups", "--ids <show|hash|none>",
            "--show-values",
        ] {
            #expect(text.contains("  \(line)"), "\(line)")
        }
    }

    /// `help connection` lists the connection options.
    ///
    /// The help of other commands leaves these options out, and names `help connection` instead.
    @Test func theOptionsOfTheConnectionAreShownOnce() async throws {
        let page = try await help("help", "connection")
        #expect(try await help("connection").contains("  --uri <mongodb://…>"))
        for line in [
            "--uri <mongodb://…>", "--config <file>", "--env <name>", "--yes-protected <name>",
            "--connect-timeout <duration>", "--read-preference <mode>", "--username <name>", "--tls",
        ] { #expect(page.contains("  \(line)"), "\(line)") }
        #expect(page.contains("(default: 10s)"))
        for command in [["check"], ["diff"], ["backfill"], ["status"], ["partner", "init"], ["doctor", "--settings"]] {
            for text in [try await help(command + ["-h"]), try await help(["help"] + command)] {
                #expect(text.contains("such as --uri: shipshape help connection\n"), "\(command)")
                #expect(!text.contains("  --uri") && !text.contains("CONNECTION:"), "\(command)")
            }
            #expect(try await help(command + ["--help-hidden"]).contains("  --uri <mongodb://…>"), "\(command)")
        }
        // The parser suggests a connection option for a typo, although the help of `check` does not list it.
        let run = try await Program.run(["check", "v2", "--usename"])
        #expect(run.errors.contains("Did you mean '--username'?"), "\(run.errors)")
    }

    @Test func diffNamesItsOptions() async throws {
        let text = try await help("diff", "--help")
        #expect(text.contains("USAGE: shipshape diff [<options>] (<old> <new> | <new> --against <old>)"))
        for option in [
            "--against <schema>", "--versions <folder>", "--accept", "--rename <old=new>",
            "--fail-on <breaking|any|none>", "SHIPSHAPE_SCHEMA_VERSIONING=true",
            "--collection <db.collection>", "-o, --output <output>", "--report <file>",
        ] { #expect(text.contains(option), "\(option)") }
    }

    @Test func lintNamesItsOptions() async throws {
        let text = try await help("lint", "--help")
        #expect(text.contains("USAGE: shipshape lint [<options>] [<schema>]"))
        for line in [
            "--collection <db.collection>", "--strict", "-o, --output <output>", "--report <file>",
        ] {
            #expect(text.contains("  \(line)"), "\(line)")
        }
    }

    @Test func inferNamesItsOptions() async throws {
        let text = try await help("infer", "--help")
        for line in [
            "--collection <db.collection>", "--database <name>", "--source <path>", "--cover <percent>", "--strict",
            "--dialect, --as <appservices|jsonschema|prisma>", "--enums", "--out <path>", "--force", "--sample <count>",
            "--seed <number>", "--where <filter>", "--threads <count>", "--rate <count>", "--report <file>",
        ] {
            #expect(text.contains("  \(line)"), "\(line)")
        }
    }

    @Test func backfillNamesItsOptions() async throws {
        let text = try await help("backfill", "--help")
        #expect(text.contains("USAGE: shipshape backfill [<options>] <job>"))
        for line in [
            "--dry-run", "-y, --yes", "--allow-unsync <count>", "--max-runtime <duration>",
            "--state-database <name>", "--lease-ttl <duration>", "--lease-wait <duration>", "--show-values",
        ] {
            #expect(text.contains("  \(line)"), "\(line)")
        }
    }

    /// Returns the names of the subcommands that a help text lists.
    private static func subcommands(in help: String) -> [String] {
        let groups = help.components(separatedBy: "\n\n").filter { section in
            section.prefix { $0 != "\n" }.hasSuffix("SUBCOMMANDS:")
        }
        return groups.flatMap { group in group.matches(of: /(?m)^  ([a-z]+) +\S/).map { String($0.1) } }
    }

    /// Returns all commands, each as its words, such as `["partner", "init"]`.
    private func commands() async throws -> [[String]] {
        var all: [[String]] = []
        for command in Self.subcommands(in: try await help("--help")) {
            all.append([command])
            all += Self.subcommands(in: try await help(command, "--help")).map { [command, $0] }
        }
        return all
    }

    /// Runs an example of the help, which begins with `shipshape`, in a folder.
    ///
    /// The connection strings name a port on which no server listens, so the command cannot write anything.
    private func run(example: String, in folder: CommandLineFolder) async throws -> ProgramRun {
        let script = #"""
            cd "$1" || exit
            export SHIPSHAPE_URI=mongodb://127.0.0.1:1/ SHIPSHAPE_CONNECT_TIMEOUT=200ms
            shipshape() { "$0" "$@"; }
            eval "$2"
            """#
        let nowhere = example.replacing(/mongodb:[^ ']+/, with: "mongodb://127.0.0.1:1/")
        return try await Program.shell(script, [folder.path.string, nowhere])
    }

    /// The files that the examples name do not exist, so most commands fail, but only after their arguments were
    /// parsed.
    @Test func everyCommandShowsExamplesThatItTakes() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let commands = try await commands()
        #expect(commands.count > 30)
        for command in [[]] + commands {
            let text = try await help(command + ["--help"])
            let examples = text.split(separator: "\n").filter { $0.hasPrefix("  shipshape ") }.map(String.init)
            #expect((2...3).contains(examples.count), "\(command): \(examples)")
            // The examples of `help connection` show other commands, so they need not begin with `shipshape
            // connection`.
            let own = command == ["explain", "connection"] ? [] : command
            for example in examples {
                #expect(example.hasPrefix((["  shipshape"] + own).joined(separator: " ")), "\(command): \(example)")
                let run = try await run(example: example, in: folder)
                #expect(!run.errors.hasPrefix("Error: "), "\(example): \(run.errors)")
                #expect(run.exitCode != nil && run.exitCode != 70, "\(example): \(run.errors)")
            }
        }
    }

    @Test func theParserRefusesAnExampleWithAWrongFlag() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let run = try await run(example: "  shipshape check schemas/v2 --activ schemas/v1", in: folder)
        #expect(run.errors.hasPrefix("Error: Unknown option '--activ'"), "\(run.errors)")
    }

    @Test func aFlagThatIsRepeatableMayBeGivenTwice() async throws {
        let page = try String(
            contentsOfFile: Repository.path("docs/reference/commands.md").string, encoding: .utf8)
        var (command, flag, flags) = ([String](), "", Set<[String]>())
        for line in page.split(separator: "\n") {
            if let name = line.firstMatch(of: /^#+ shipshape ([a-z ]+)$/) {
                command = name.1.split(separator: " ").map(String.init)
            }
            if let name = line.firstMatch(of: /^ +(?:-., )?(--[a-z-]+)/) { flag = String(name.1) }
            if line.contains("(repeatable)") { flags.insert(command + [flag]) }
        }
        #expect(flags.count > 20)
        for words in flags {
            let twice = [words[words.count - 1], "a=b", words[words.count - 1], "a=b", "--help"]
            let run = try await Program.run(words.dropLast() + twice)
            #expect(!run.errors.contains("given twice"), "\(words): \(run.errors)")
        }
    }

    @Test func theVersionIsANumber() async throws {
        // A binary that `scripts/package` built shows its version and its commit; any other binary shows only its
        // version.
        #expect(try await help("--version").wholeMatch(of: /\d+\.\d+\.\d+( \([0-9a-z-]+\))?\n/) != nil)
    }

    @Test(arguments: [
        (["diff", "v1"], "Missing expected argument '<new>'"),
        (["lint", "schema.json", "--collection", "person"], "\"person\" is not DATABASE.COLLECTION"),
        (["backfill"], "Missing expected argument '<job>'"),
        (["chekc"], #"there is no command "chekc" (did you mean "check"?)"#),
        (["help", "nosuch"], #"there is no command "nosuch""#),
        (["check", "schema.json", "SHIPSHAPE_LIMIT=10", "SHIPSHAPE_LIMIT=20"], "--limit is given twice"),
        (["backfill", "job.yml", "--failures", "a", "--failures", "b"], "--failures is given twice"),
        (
            ["check", "schema.json", "SHIPSHAPE_LEDGER=none", "SHIPSHAPE_APP_ID=mine"],
            "--app-id does not go with --ledger none"
        ),
        (["check", "schema.json", "--connect-timeout", "0s"], "--connect-timeout must be more than nothing"),
        (["backfill", "job.yml", "--max-runtime", "0s"], "--max-runtime must be more than nothing"),
        (["status", "--watch", "--interval", "0s"], "--interval must be more than nothing"),
        (["check", "schema.json", "--nope"], "Unknown option '--nope'"),
        (["check", "schema.json", "SHIPSHAPE_LIMIT=many"], "The value 'many' is invalid for '--limit <count>'"),
        (["check", "schema.json", "SHIPSHAPE_LIMIT=0"], "--limit must be at least 1"),
        (["check", "schema.json", "SHIPSHAPE_THREADS=0"], "--threads must be from 1 to 64"),
        (["check", "schema.json", "--collection", "person"], "\"person\" is not DATABASE.COLLECTION"),
        (["check", "schema.json", "SHIPSHAPE_LEDGER=ledger"], "it is neither none nor DATABASE.COLLECTION"),
        (
            ["check", "schema.json", "--report", "x.pdf"],
            "--report x.pdf: the ending must be .txt, .json, .jsonl, .md, .html, .xml, .sarif or .gitlab.json"
        ),
        (["check", "schema.json", "--read-preference", "any"], "\"any\" is none of primary,"),
        (["check", "schema.json", "--connect-timeout", "10"], "before giving up, such as 500ms, 30s or 2m."),
        (["backfill", "job.yml", "SHIPSHAPE_LEASE_TTL=10ms"], "--lease-ttl must be from 1s to 1h"),
        (["backfill", "job.yml", "SHIPSHAPE_STATE_DATABASE=a.b"], "\"a.b\" cannot be the name of the state database"),
    ])
    func wrongUsageIsNamedAndEndsWith64(_ arguments: [String], _ message: String) async throws {
        let run = try await Program.run(arguments)
        #expect(run.exitCode == 64)
        #expect(run.output == "")
        #expect(run.errors.hasPrefix("Error: "))
        #expect(run.errors.contains(message), "\(run.errors)")
    }

    /// The help names the flags that may be repeated, because the program refuses to take any other flag twice.
    @Test func aFlagThatMayBeRepeatedIsCalledSo() async throws {
        for command in ["check", "diff", "plan", "infer"] {
            let text = try await help(command, "--help")
            for flag in ["--report", "SHIPSHAPE_RENAMES=--default", "--map"] {
                guard let place = text.range(of: "  \(flag) <") else { continue }
                let words = text[place.upperBound...].prefix(400).split(whereSeparator: \.isWhitespace)
                #expect(words.joined(separator: " ").contains("(repeatable)"), "\(command) \(flag)")
            }
        }
        #expect(try await help("infer", "--help").contains("(repeatable)"))
    }

    @Test func aFolderInThePlaceOfAJobLeadsToMigrate() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let run = try await Program.run(["backfill", folder.path.string, "--uri", "mongodb://127.0.0.1:1/"])
        #expect(run.exitCode == 64)
        #expect(
            run.errors.contains("shipshape migrate \(folder.path.string) runs all jobs of a folder"),
            "\(run.errors)")
    }

    @Test func withoutADeploymentItSaysHowToNameOne() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let schema = try folder.write(CommandLineFolder.person, to: "person.json")
        let run = try await Program.run(["check", schema, "--collection", "app.person"])
        #expect(run.exitCode == 64)
        #expect(run.output == "")
        #expect(
            run.errors
                == "shipshape: no deployment is named: give --uri, set SHIPSHAPE_URI, or write uri into shipshape.yml\n"
        )
    }
}
