internal import ArgumentParser
import Backfill
internal import Concurrency
import JobReports
internal import Jobs
internal import Privileges
internal import Reporting

struct RebindCommand: WritingCommand {
    static let configuration = CommandConfiguration(
        "job rebind", "<job>",
        abstract: "Binds a job again to its collection, which was moved and has another UUID.",
        examples: [
            "job rebind person-v2",
            "job rebind jobs/app.person.yml --yes",
        ],
        details: """
            A started job continues, and is undone, only in the collection on which it was started, which it knows by \
            its UUID. movePrimary, moveCollection, reshardCollection, and a copy that is renamed over the original, \
            give the same documents another UUID.

            rebind compares the documents in the job's journal with those in the collection: by _id, by other fields \
            in the journal, and by what the job wrote. If most of them are missing or differ, it is another \
            collection, and the job stays as it is (exit code 65). Otherwise it shows the numbers and asks; without a \
            terminal it needs --yes. While another runner holds the job, it ends with exit code 76.
            """)

    @Argument(help: "The job's name, or its file.")
    var job: JobArgument

    @Flag(name: .shortAndLong, help: "Bind it without asking.")
    var yes = false

    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Connection") var protection: ProtectionFlags

    func work() throws -> Work {
        let (name, named) = (try job.name, try job.file?.namespace)
        return Work(idle: "stopped by a signal; nothing was changed") { frame in
            let registry = try await frame.registry(for: "job rebind")
            if let reach = try await onOwnedThread(name: "state", { () throws in try registry.reach(of: name) }) {
                _ = try await frame.pool(
                    for: "job rebind", on: WorkPlaces(reading: [reach.collection], state: StateDatabase.name),
                    readsFromPrimary: true)
            }
            let plan = try await onOwnedThread(name: "state") { () throws in
                try registry.planRebinding(of: name, on: named)
            }
            guard let plan else {
                return .text("job \(name) is bound to the current collection already: nothing changed")
            }
            Console.error(RebindText.plan(plan))
            if !yes, !plan.isAnother {
                try Console.confirm(
                    "Is it the same collection?", orElse: "nothing was changed", offTerminal: "job rebind needs --yes")
            }
            frame.begin()
            try await onOwnedThread(name: "state") { () throws in try registry.rebind(plan) }
            return .text("job \(name) is bound to \(plan.namespace) as it is now; it can continue or be undone")
        }
    }
}
