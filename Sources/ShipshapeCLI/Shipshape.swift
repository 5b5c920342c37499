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
                "check prisma/schema.prisma --database shop", "check --engine powersync --database shop",
                "backfill jobs/app.person.yml --dry-run",
            ],
            """
            Finds the documents that a schema breaks, or that a sync engine does not deliver, says why, judges whether \
            the deploy is safe, and repairs the documents in small steps that can be stopped and resumed.
            """,
            """
            Exit codes: 0 nothing found or all done; 1 findings; 64 wrong usage; 65 bad schema, job or dump file; \
            69 cannot reach the deployment; 70 a bug; 73 cannot write an output; 75 stopped early and resumable; \
            76 another runner holds the job; 77 login refused or not permitted; 78 bad configuration.
            """),
        version: Release.text,
        groupedSubcommands: [
            CommandGroup(name: "Check", subcommands: [CheckCommand.self, ExplainCommand.self, MergeCommand.self]),
            CommandGroup(
                name: "Repair",
                subcommands: [PlanCommand.self, BackfillCommand.self, MigrateCommand.self, UndoCommand.self]),
            CommandGroup(
                name: "Steer",
                subcommands: [
                    StatusCommand.self, PauseCommand.self, ResumeCommand.self, TuneCommand.self,
                    DeployedCommand.self, RebindCommand.self, CleanupCommand.self,
                ]),
            CommandGroup(
                name: "Watch", subcommands: [WatchCommand.self, UnsyncedCommand.self, HistoryCommand.self]),
            CommandGroup(
                name: "Schemas",
                subcommands: [
                    DiffCommand.self, LintCommand.self, InferCommand.self, ImportCommand.self, ModelsCommand.self,
                    EnforceCommand.self, PartnerCommand.self,
                ]),
            CommandGroup(
                name: "Setup",
                subcommands: [
                    InitCommand.self, DoctorCommand.self, GrantsCommand.self, ConfigCommand.self,
                    ConnectionCommand.self,
                ]),
        ])
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
            try CommandLineWords.check(arguments)
            TerminationSignals.listen()
            var command = try Shipshape.parse(withSettings: arguments)
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
