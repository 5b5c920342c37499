internal import ArgumentParser
import Backfill
internal import Concurrency
internal import Jobs
internal import Privileges
internal import Reporting

/// `shipshape rebind JOB`.
struct RebindCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebind",
        abstract: "Binds a job anew to its collection, which was moved and has another UUID.",
        discussion: """
            A started job goes on, and is undone, only in the collection that it was started on, which it knows by its \
            UUID. movePrimary, moveCollection, reshardCollection, and a copy that is renamed over the original, give the \
            same documents another UUID. Compares the documents that the job's journal names with those that are there: by \
            _id, by other fields that the journal remembers, and by what the job wrote. Where most are gone or others, it is \
            another collection, and the job stays as it is (65). Else it shows the numbers and asks; off a terminal it \
            needs --yes. No runner may hold the job meanwhile (76).
            """)

    @Argument(help: "The job's name, or its file.")
    var job: JobArgument

    @Flag(name: .shortAndLong, help: "Bind it without asking.")
    var yes = false

    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Connection") var connection: ConnectionFlags

    func run() async throws {
        let (name, named) = (try job.name, try job.file?.namespace)
        let interruption = Interruption("stopped by a signal; nothing was changed")
        let signals = interruption.listen()
        defer { signals.cancel() }
        let registry = try await state.registry(connection, for: "rebind")
        if let reach = try await onOwnedThread(name: "state", { () throws in try registry.reach(of: name) }) {
            try await connection.pool(readsFromPrimary: true).requirePrivileges(
                for: "rebind", on: WorkPlaces(reading: [reach.collection], state: state.stateDatabase))
        }
        let plan = try await onOwnedThread(name: "state") { () throws in
            try registry.planRebinding(of: name, on: named)
        }
        guard let plan else {
            return try Console.show("job \(name) is bound to the collection that is there: nothing changed")
        }
        Console.error(RebindText.plan(plan))
        if !yes, !plan.isAnother {
            try Console.confirm(
                "Is it the same collection?", orElse: "nothing was changed", offTerminal: "rebind needs --yes")
        }
        interruption.beginWork()
        try await onOwnedThread(name: "state") { () throws in try registry.rebind(plan) }
        try Console.show("job \(name) is bound to \(plan.namespace) as it is now, and can go on or be undone")
    }
}
