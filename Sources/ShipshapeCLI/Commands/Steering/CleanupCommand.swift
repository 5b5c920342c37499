internal import ArgumentParser
import Backfill
internal import Concurrency
internal import Jobs
internal import Mongo
internal import Privileges
internal import Reporting

/// `shipshape cleanup JOB`.
struct CleanupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cleanup",
        abstract: "Drops what a job that is done leaves behind: its journal, and its records.",
        discussion: """
            The job cannot be undone any more after that. Its record stays, and so does harm that the ledger does not \
            show yet, since it takes room below the limit. The fields that `once` names are taken out of the documents, \
            where they hold what the job wrote. Shows what would go and asks; off a terminal it needs --yes. Run again, \
            it goes on where it was stopped.
            """)

    @Argument(help: "The job's name, or its file.")
    var job: JobArgument

    @Flag(name: .shortAndLong, help: "Clean up without asking.")
    var yes = false

    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Connection") var connection: ConnectionFlags

    func run() async throws {
        let (name, named) = (try job.name, try job.file?.namespace)
        let interruption = Interruption()
        let (stop, signals) = (interruption.stop, interruption.listen())
        defer { signals.cancel() }
        let registry = try await state.registry(connection, for: "cleanup")
        let reach = try await onOwnedThread(name: "state") { () throws in try registry.reach(of: name) }
        if let reach, reach.marks {
            // The cleanup also removes the job's marks from the documents.
            try await connection.pool(readsFromPrimary: true).requirePrivileges(
                for: "cleanup", on: WorkPlaces(reading: [reach.collection], state: state.stateDatabase))
        }
        let plan = try await onOwnedThread(name: "state") { () throws in
            let plan = try registry.planCleanup(of: name, on: named)
            guard plan.pendingHarm > 0, try registry.freeRoom(of: name) ?? 0 > 0 else { return plan }
            return try registry.planCleanup(of: name, on: named)
        }
        guard !plan.isEmpty else { return try Console.show(CleanupText.nothing(plan)) }
        if !yes {
            Console.error(CleanupText.plan(plan))
            try Console.confirm(
                "Drop it?", orElse: "nothing was dropped",
                offTerminal: "cleanup needs --yes")
        }
        interruption.beginWork()
        try await onOwnedThread(name: "state") { () throws in try registry.cleanUp(plan, stop: stop) }
        try Console.show(CleanupText.done(plan))
    }
}
