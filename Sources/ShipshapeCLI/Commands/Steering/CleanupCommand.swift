internal import ArgumentParser
import Backfill
internal import Concurrency
import JobReports
internal import Jobs
internal import Mongo
internal import Privileges
internal import Reporting

/// The command `shipshape cleanup JOB`.
struct CleanupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "cleanup", "<job>",
        abstract: "Drops what a finished job leaves: its journal and its records.",
        examples: [
            "cleanup person-v2",
            "cleanup jobs/app.person.yml --yes",
        ],
        details: """
            After that the job can no longer be undone. The job itself stays recorded. So do reservations for \
            documents that became unsyncable and are not in the ledger yet, because they count toward the limit. The \
            fields that `once` names are removed from the documents that still hold the job's value. Shows what would \
            be dropped and asks; without a terminal it needs --yes. If it is stopped, run it again: it continues from \
            there.
            """)

    @Argument(help: "The job's name, or its file.")
    var job: JobArgument

    @Flag(name: .shortAndLong, help: "Clean up without asking.")
    var yes = false

    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Connection", visibility: .onOwnPage) var connection: ConnectionFlags
    @OptionGroup(title: "Output") var color: ColorFlags

    func run() async throws {
        let (name, named) = (try job.name, try job.file?.namespace)
        let interruption = Interruption()
        let (stop, signals) = (interruption.stop, interruption.listen())
        defer { signals.cancel() }
        let registry = try await state.registry(connection, for: "cleanup")
        let reach = try await onOwnedThread(name: "state") { () throws in try registry.reach(of: name) }
        if let reach, reach.marks {
            // The cleanup also removes the job's marker fields from the documents. The user therefore needs privileges
            // on the collection.
            try await connection.pool(readsFromPrimary: true).requirePrivileges(
                for: "cleanup", on: WorkPlaces(reading: [reach.collection], state: state.stateDatabase))
        }
        let plan = try await onOwnedThread(name: "state") { () throws in
            let plan = try registry.planCleanup(of: name, on: named)
            guard plan.pendingReservations > 0, try registry.freeRoom(of: name) ?? 0 > 0 else { return plan }
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
