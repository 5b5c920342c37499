internal import ArgumentParser
internal import Mongo
internal import Reporting

/// The program, with all its commands and the first page of its help.
struct Shipshape: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shipshape",
        abstract: "Make your documents shipshape before you ship a schema.",
        discussion: CommandConfiguration.text(
            examples: [
                "check prisma/schema.prisma --uri mongodb://db1/shop",
                "check --engine powersync --uri mongodb://db1/shop",
                "backfill jobs/app.person.yml --dry-run",
            ],
            """
            Finds the documents that a schema breaks, or that a sync engine does not deliver, says why, judges whether \
            the deploy is safe, and repairs the documents in small steps that can be stopped and resumed.
            """,
            """
            COMMAND -h shows a command on one screen, COMMAND --help its whole page. shipshape explain connection, \
            explain exit-codes, explain output and explain rules answer for all commands.
            """),
        version: Release.text,
        groupedSubcommands: [
            CommandGroup(name: "Check", subcommands: [CheckCommand.self, ExplainCommand.self, HistoryCommand.self]),
            CommandGroup(
                name: "Repair",
                subcommands: [
                    PlanCommand.self, BackfillCommand.self, UndoCommand.self, StatusCommand.self, JobCommand.self,
                ]),
            CommandGroup(
                name: "Schemas", subcommands: [DiffCommand.self, LintCommand.self, SchemaCommand.self]),
            CommandGroup(
                name: "Keep", subcommands: [EnforceCommand.self, PartnerCommand.self, LedgerCommand.self]),
            CommandGroup(name: "Setup", subcommands: [InitCommand.self, DoctorCommand.self, GrantsCommand.self]),
        ])
}

struct JobCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "job", abstract: "Steers a job from any machine: pauses it, tunes it, records its deploy, cleans up after it.",
        examples: [
            "job pause person-v2 --note 'evening traffic'", "job tune person-v2 nice=0.5",
            "job deployed jobs/app.person.yml",
        ],
        subcommands: [
            PauseCommand.self, ResumeCommand.self, TuneCommand.self, DeployedCommand.self, RebindCommand.self,
            CleanupCommand.self,
        ])
}

struct LedgerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "ledger", abstract: "Reads the ledger of unsynced documents, or keeps one.",
        examples: ["ledger show", "ledger show schemas/v2", "ledger follow schemas/v2"],
        subcommands: [LedgerShowCommand.self, LedgerFollowCommand.self])
}

struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "schema", abstract: "Makes schemas: from documents, from other schema languages, and as classes of clients.",
        examples: [
            "schema infer --collection app.person --out schemas/v1", "schema import openapi.yaml --out validators",
            "schema models schemas/v2 --language swift",
        ],
        subcommands: [InferCommand.self, ImportCommand.self, ModelsCommand.self])
}

@main
enum Main {
    static func main() async {
        Crash.printsNoMemory()
        Driver.hideCounters()
        Console.secureStreams()
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            try ProcessLimits.check()
            if let page = BriefHelp.page(for: arguments) {
                try Console.result(page)
                ExitStatus.leave(0)
            }
            try CommandLineWords.check(arguments)
            TerminationSignals.listen()
            var command = try Shipshape.parseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            ExitStatus.end(with: error)
        }
        ExitStatus.leave(0)
    }
}
