internal import ArgumentParser
import Backfill
internal import Concurrency
import JobReports
internal import Jobs
internal import Mongo
internal import Privileges
internal import Reporting

struct CleanupCommand: WritingCommand {
    static let configuration = CommandConfiguration(
        "job cleanup", "<job>",
        abstract: "Drops what a finished job leaves: its journal and its records.",
        examples: [
            "job cleanup person-v2",
            "job cleanup jobs/app.person.yml --yes",
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

    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Connection") var protection: ProtectionFlags

    func work() throws -> Work {
        let (name, named) = (try job.name, try job.file?.namespace)
        return Work { frame in
            let registry = try await frame.registry(for: "job cleanup")
            let reach = try await onOwnedThread(name: "state") { () throws in try registry.reach(of: name) }
            if let reach, reach.marks {
                // The cleanup also removes the job's marker fields from the documents. The user therefore needs
                // privileges on the collection.
                _ = try await frame.pool(
                    for: "job cleanup", on: WorkPlaces(reading: [reach.collection], state: StateDatabase.name),
                    readsFromPrimary: true)
            }
            let plan = try await onOwnedThread(name: "state") { () throws in
                let plan = try registry.planCleanup(of: name, on: named)
                guard plan.pendingReservations > 0, try registry.freeRoom(of: name) ?? 0 > 0 else { return plan }
                return try registry.planCleanup(of: name, on: named)
            }
            guard !plan.isEmpty else { return .text(CleanupText.nothing(plan)) }
            if !yes {
                Console.error(CleanupText.plan(plan))
                try Console.confirm("Drop it?", orElse: "nothing was dropped", offTerminal: "job cleanup needs --yes")
            }
            frame.begin()
            let stop = frame.stop
            try await onOwnedThread(name: "state") { () throws in try registry.cleanUp(plan, stop: stop) }
            return .text(CleanupText.done(plan))
        }
    }
}
