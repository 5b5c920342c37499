internal import ArgumentParser
internal import Mongo
internal import Reporting

/// The program: its commands, and nothing else.
struct Shipshape: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shipshape",
        abstract: "Make your documents shipshape before you ship a schema.",
        discussion: """
            Reads every document of the collections that a schema covers, says which would stop syncing and why, \
            whether the deploy itself is safe, and repairs the documents in small resumable steps.

            Exit codes: 0 nothing found or all done; 1 findings; 64 wrong usage; 65 bad schema, job or dump file; \
            69 cannot reach the deployment; 70 a bug; 73 cannot write an output; 75 stopped early and resumable; \
            76 another runner holds the job; 77 login refused or not permitted; 78 bad configuration.
            """,
        version: Release.text,
        subcommands: [
            CheckCommand.self, MergeCommand.self, DiffCommand.self, LintCommand.self, PlanCommand.self,
            BackfillCommand.self, EnforceCommand.self,
            UndoCommand.self, StatusCommand.self,
            PauseCommand.self, ResumeCommand.self, TuneCommand.self, DeployedCommand.self, RebindCommand.self,
            CleanupCommand.self,
            MigrateCommand.self,
            UnsyncedCommand.self, HistoryCommand.self, WatchCommand.self, PartnerCommand.self,
            InferCommand.self, ModelsCommand.self, GrantsCommand.self, ConfigCommand.self,
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
