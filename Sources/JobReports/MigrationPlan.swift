package import BSON
package import JobState
import Jobs
import Steps
import SystemPackage

/// The record of a job that a migration has run to its end.
package struct AppliedJob: Hashable, Sendable {
    package var job: String
    /// The name of the job's file when the job was applied.
    package var file: String
    /// The job's ``JobFolder/Entry/digest`` when it was applied.
    package var digest: String
    /// The operator who applied the job, and the time, by the server's clock.
    package var mark: Control.Mark
    /// Whether the job left documents for the operator to fix.
    package var hasFindings: Bool

    package init(job: String, file: String, digest: String, mark: Control.Mark, hasFindings: Bool) {
        (self.job, self.file, self.digest) = (job, file, digest)
        (self.mark, self.hasFindings) = (mark, hasFindings)
    }
}

/// The events after a job's start that decide whether a migration may run the job again.
package struct JobAftermath: Sendable {
    /// The error for an attempt to run the job again, if the job was undone; otherwise `nil`.
    package var undone: RunError?
    /// When the job's next schema was recorded as the active one; `nil` if it was not.
    package var deployed: ServerTime?
    /// The job's schemas, as its first run recorded them.
    package var schemas: [BSONDocument]

    package init(deployed: ServerTime?, schemas: [BSONDocument]) { (self.deployed, self.schemas) = (deployed, schemas) }
}

extension JobFolder.Entry {
    /// Whether a job that waits may run once the deploy of this job's next schema is recorded.
    ///
    /// Both jobs then have the same collection and the same next schema, and this job does not require the deploy.
    fileprivate func sharesDeploy(with waiting: Self) -> Bool {
        guard phase == .migrate, let job = try? job, let waiting = try? waiting.job else { return false }
        let next = [job, waiting].map { $0.schemaRecords.filter { $0["role"]?.text == "next" } }
        return job.job.namespace == waiting.job.namespace && next[0] == next[1]
    }
}

/// The comparison of a folder of jobs with the jobs that were applied; it shows which jobs are still to be run.
package struct MigrationPlan: Sendable {
    package struct Item: Sendable {
        package var entry: JobFolder.Entry
        /// The record that shows when the job was applied; `nil` if it was not applied.
        package var applied: AppliedJob?
        /// The events of the job since its start; `nil` if it was never started.
        package var aftermath: JobAftermath?
        /// Whether the job's content changed after the job was applied; comments, layout and schemas do not count.
        package var isChanged: Bool { applied.map { $0.digest != entry.digest } ?? false }
        /// Whether the job has to run again, because its next schema was deployed after the job was applied.
        ///
        /// Until the deploy, old clients may have written documents that need the job. A job that was undone does not
        /// run again, and neither does a job whose schemas changed since, because its name is bound to them.
        package var isDueAgain: Bool { isOlderThanDeploy && isBound }
        private var isOlderThanDeploy: Bool {
            guard let at = applied?.mark.at, let deployed = aftermath?.deployed, aftermath?.undone == nil else {
                return false
            }
            return at < deployed
        }
        private var isBound: Bool { (try? entry.job.schemaRecords) == aftermath?.schemas }
        /// Whether the job would run again after the deploy, if its schemas had not changed.
        package var isLeftAfterDeploy: Bool { isOlderThanDeploy && !isBound }
        /// Whether the operator asked for another run of the jobs that were applied.
        var isWantedAgain = false
        /// Whether the job was applied and has to run again, because of a deploy or at the operator's request.
        package var runsAgain: Bool { isDueAgain || isWantedAgain && applied != nil && aftermath?.undone == nil }
        package var waitsForDeploy = false
        var isPending: Bool { applied == nil || runsAgain }
    }

    package let folder: String
    /// The jobs of the folder, in order.
    package let items: [Item]
    /// The applied jobs that are not in the folder.
    package let missing: [AppliedJob]

    /// Compares a folder with the records of applied jobs.
    /// - Parameters:
    ///   - aftermath: the events of the jobs that were started, with the jobs' names as keys.
    ///   - waiting: the names of the jobs that wait for the deploy of their next schemas.
    ///   - again: whether the operator asked for another run of the jobs that were applied.
    package init(
        _ folder: JobFolder, applied: [AppliedJob], aftermath: [String: JobAftermath] = [:],
        waitingForDeploy waiting: Set<String> = [], again: Bool = false
    ) {
        self.folder = folder.path
        items = folder.entries.map { entry in
            Item(
                entry: entry, applied: applied.first { $0.job == entry.name }, aftermath: aftermath[entry.name],
                isWantedAgain: again, waitsForDeploy: waiting.contains(entry.name))
        }
        missing = applied.filter { applied in !folder.entries.contains { $0.name == applied.job } }
    }

    /// The jobs that are still to be run, including those that wait for a deploy.
    package var pending: [JobFolder.Entry] { items.filter(\.isPending).map(\.entry) }

    /// The pending jobs that wait for the deploy of their next schemas.
    package var waiting: [JobFolder.Entry] { items.filter { $0.isPending && $0.waitsForDeploy }.map(\.entry) }

    /// The job for which the operator records the deploy next, so that jobs that wait can run.
    ///
    /// It has the collection and the next schema of the first job that waits; `nil` if no job of the folder has them.
    package var deployToRecord: JobFolder.Entry? {
        waiting.first.flatMap { entry in items.map(\.entry).first { $0.sharesDeploy(with: entry) } }
    }

    private static func isDue(_ item: Item) -> Bool { item.isPending && !item.waitsForDeploy }

    /// The jobs that were never applied although they come before an applied job in the folder.
    ///
    /// Such a job was added late, for example from another branch.
    package var late: [JobFolder.Entry] {
        guard let last = items.lastIndex(where: { $0.applied != nil }) else { return [] }
        return items[..<last].filter { $0.applied == nil }.map(\.entry)
    }

    /// Returns the pending jobs that do not wait for a deploy, up to and including the job with the given name or file
    /// name.
    ///
    /// If `name` is `nil`, the result contains all pending jobs that do not wait for a deploy. The result is `nil` if
    /// the folder has no job of the given name.
    package func due(upTo name: String?) -> [JobFolder.Entry]? {
        guard let name else { return items.filter(Self.isDue).map(\.entry) }
        guard let last = items.firstIndex(where: { $0.entry.name == name || $0.entry.file == name }) else { return nil }
        return items[...last].filter(Self.isDue).map(\.entry)
    }

    package func path(of entry: JobFolder.Entry) -> String { FilePath(folder).pushing(FilePath(entry.file)).string }

    /// Throws if one of the pending jobs was undone, because such a job never runs again under its name.
    package func checkNotUndone(_ pending: [JobFolder.Entry]) throws(RunError) {
        for item in items where pending.contains(where: { $0.name == item.entry.name }) {
            guard let refusal = item.aftermath?.undone else { continue }
            throw RunError(
                refusal.kind,
                "\(folder)/\(item.entry.file): \(refusal.message), or take its file out of the folder; nothing was run")
        }
    }

    /// Throws if the content of a job of the folder was changed after the job was applied.
    ///
    /// The job's schemas may have changed since: an application's schema changes all the time.
    package func checkUnchanged() throws(RunError) {
        guard let item = items.first(where: \.isChanged), let applied = item.applied else { return }
        let when = applied.mark.at.map { " on \($0)" } ?? ""
        throw RunError(
            .bindingChanged,
            "\(folder)/\(item.entry.file): job \"\(item.entry.name)\" was applied\(when) by \(applied.mark.by), and "
                + "its text changed since; restore the applied version, and make a new job for the change"
        )
    }
}
