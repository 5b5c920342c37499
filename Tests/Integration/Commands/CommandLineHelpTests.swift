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

    @Test func theProgramNamesItsCommands() async throws {
        let text = try await help("--help")
        #expect(text.hasPrefix("OVERVIEW: Make your documents shipshape before you ship a schema."))
        for command in [
            "check", "explain", "history", "plan", "backfill", "undo", "status", "job", "diff", "lint", "schema",
            "enforce", "partner", "ledger", "init", "doctor", "grants",
        ] {
            #expect(text.contains("\n  \(command)  "), "\(command)")
        }
        for group in ["CHECK", "REPAIR", "SCHEMAS", "KEEP", "SETUP"] {
            #expect(text.contains("\n\n\(group) SUBCOMMANDS:\n"), "\(group)")
        }
        #expect(try await help() == text)
    }

    @Test func aTopicListsTheExitCodes() async throws {
        let text = try await help("explain", "exit-codes")
        for code in ["0", "1", "64", "65", "69", "70", "73", "75", "76", "77", "78"] {
            #expect(text.split(whereSeparator: { ";: \n".contains($0) }).contains(Substring(code)), "\(code)")
        }
    }

    @Test(arguments: [
        (
            "check [<options>] [<schema>]",
            [
                "--collection <db.collection>", "--source <path>", "--databases <pattern>", "--join", "--strict",
                "--info", "--active <schema>", "--fail-on <new|any|breaking|none>", "--engine <engine>",
                "--where <filter>", "--sample <count>", "--part <number/parts>", "--map <prod=copy>",
                "--follow-links", "--history <place>", "--accept <reason>", "--expires <day|never>",
                "--failures <file|db:name.collection>", "--filters", "--count-groups", "--show-values",
                "--metrics <file>", "--on <event=command>", "-o, --output <output>", "--report <file>", "-q, --quiet",
                "--uri <mongodb://…>", "--config <file>", "--env <name>",
            ]
        ),
        (
            "diff [<options>] (<old> <new> | <new> --against <old>)",
            [
                "--against <schema>", "--accept <reason>", "--fail-on <breaking|any|none>",
                "--collection <db.collection>", "-o, --output <output>", "--report <file>",
            ]
        ),
        (
            "lint [<options>] [<schema>]",
            ["--collection <db.collection>", "--strict", "-o, --output <output>", "--report <file>"]
        ),
        (
            "schema infer [<options>]",
            [
                "--collection <db.collection>", "--source <path>", "--cover <percent>", "--closed", "--enums",
                "--as <appservices|jsonschema|prisma>", "--out <path>", "--force", "--sample <count>",
                "--where <filter>", "--report <file>",
            ]
        ),
        (
            "backfill [<options>] (<file> ... | <folder>)",
            [
                "--dry-run", "-y, --yes", "--allow-unsync <count>", "--max-runtime <duration>", "--show-values",
                "--until <job>", "--again", "--ids <file>", "--yes-protected <name>",
            ]
        ),
    ])
    func aCommandNamesItsOptions(_ usage: String, _ lines: [String]) async throws {
        let command = usage.prefix { $0 != "[" && $0 != "(" }.split(separator: " ").map(String.init)
        let text = try await help(command + ["--help"])
        #expect(text.contains("USAGE: shipshape \(usage)\n"), "\(text)")
        for line in lines { #expect(text.contains("  \(line)"), "\(line)") }
    }

    /// The page of `-h` has the usage, at most ten options and the examples, and says where the whole help is.
    @Test func theShortHelpIsOneScreen() async throws {
        for command in try await commands() {
            let page = try await help(command + ["-h"])
            // A group of commands has only one page of help.
            guard !page.contains("SUBCOMMANDS:") else { continue }
            let name = command.joined(separator: " ")
            let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
            let isNarrow = lines.allSatisfy { $0.count <= 80 || $0.hasPrefix("USAGE: ") }
            #expect(lines.count <= 40 && isNarrow, "\(name): \(page)")
            #expect(lines.count { $0.hasPrefix("  -") } <= 10, "\(page)")
            #expect(
                page.contains("USAGE: shipshape \(name)") && page.contains("EXAMPLES:\n  shipshape \(name)"), "\(page)")
            #expect(page.contains("shipshape \(name) --help"), "\(page)")
        }
    }

    /// The parser suggests the closest option for a typo.
    @Test func aMisspeltOptionIsAnsweredWithTheClosest() async throws {
        let run = try await Program.run(["check", "v2", "--actve"])
        #expect(run.exitCode == 64 && run.errors.contains("Did you mean '--active'?"), "\(run.errors)")
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
            export SHIPSHAPE_URI='mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=200'
            shipshape() { "$0" "$@"; }
            eval "$2"
            """#
        let nowhere = example.replacing(
            /mongodb:[^ ']+/, with: "'mongodb://127.0.0.1:1/shop?serverSelectionTimeoutMS=200'")
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
            for example in examples {
                #expect(example.hasPrefix((["  shipshape"] + command).joined(separator: " ")), "\(command): \(example)")
                let run = try await run(example: example, in: folder)
                #expect(!run.errors.contains("Usage: "), "\(example): \(run.errors)")
                #expect(run.exitCode != nil && run.exitCode != 70, "\(example): \(run.errors)")
            }
        }
    }

    @Test func theParserRefusesAnExampleWithAWrongFlag() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let run = try await run(example: "  shipshape check schemas/v2 --activ schemas/v1", in: folder)
        #expect(run.errors.hasPrefix("shipshape: Unknown option '--activ'"), "\(run.errors)")
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
        #expect(flags.count > 10)
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
        (["backfill"], "Missing expected argument '<jobs> ...'"),
        (["chekc"], #"there is no command "chekc" (did you mean "check"?)"#),
        (["job", "pasue"], #"there is no command "job pasue" (did you mean "pause"?)"#),
        (["help", "nosuch"], #"there is no command "nosuch""#),
        (["check", "schema.json", "--active", "a", "--active=b"], "--active is given twice"),
        (["backfill", "job.yml", "--failures", "a", "--failures", "b"], "--failures is given twice"),
        (["backfill", "job.yml", "--max-runtime", "0s"], "--max-runtime must be more than nothing"),
        (["check", "schema.json", "--nope"], "Unknown option '--nope'"),
        (["check", "schema.json", "--sample", "many"], "The value 'many' is invalid for '--sample <count>'"),
        (["check", "schema.json", "--sample", "0"], "--sample must be at least 1"),
        (["check", "schema.json", "--collection", "person"], "\"person\" is not DATABASE.COLLECTION"),
        (
            ["check", "schema.json", "--report", "x.pdf"],
            "--report x.pdf: the ending must be .txt, .json, .jsonl, .md, .html, .xml, .sarif or .gitlab.json"
        ),
        (["check", "schema.json", "--on", "end=true"], "is invalid for '--on <event=command>'"),
        (["check", "schema.json", "--part", "1/2", "--sample", "5"], "--part excludes --sample: "),
        (["check", "schema.json", "--expires", "never"], "--expires needs --accept: "),
    ])
    func wrongUsageIsNamedAndEndsWith64(_ arguments: [String], _ message: String) async throws {
        let run = try await Program.run(arguments)
        #expect(run.exitCode == 64)
        #expect(run.output == "")
        #expect(run.errors.hasPrefix("shipshape: "))
        #expect(run.errors.contains(message), "\(run.errors)")
    }

    /// The help names the flags that may be repeated, because the program refuses to take any other flag twice.
    @Test func aFlagThatMayBeRepeatedIsCalledSo() async throws {
        for command in ["check", "diff", "plan", "backfill"] {
            let text = try await help(command, "--help")
            for flag in ["--report", "--default", "--map", "--on"] {
                guard let place = text.range(of: "  \(flag) <") else { continue }
                let words = text[place.upperBound...].prefix(400).split(whereSeparator: \.isWhitespace)
                #expect(words.joined(separator: " ").contains("(repeatable)"), "\(command) \(flag)")
            }
        }
    }

    @Test func aFolderInThePlaceOfAJobLeadsToBackfill() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let run = try await Program.run(["undo", folder.path.string, "--uri", "mongodb://127.0.0.1:1/"])
        #expect(run.exitCode == 64)
        #expect(
            run.errors.contains("shipshape backfill \(folder.path.string) runs the jobs of a folder"),
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
