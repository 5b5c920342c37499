package import BSON
package import JobState

/// A job that a folder's migration has run to its end.
package struct AppliedJob: Hashable, Sendable {
    /// The job's name.
    package var job: String
    /// The file that held it then.
    package var file: String
    /// Its ``JobFolder/Entry/digest`` then.
    package var digest: String
    /// Who, and when by the server's clock.
    package var mark: Control.Mark
    /// Whether documents were left that need a person.
    package var hasFindings: Bool
}

/// What became of a job after it was begun.
package struct JobAftermath: Sendable {
    /// Why it never runs again; `nil` unless it was undone.
    package var undone: RunError?
    /// When its next schema was recorded as the active one.
    package var deployed: ServerTime?
}

/// A folder of jobs beside what was applied of it.
package struct MigrationPlan: Sendable {
    /// A job of the folder.
    package struct Item: Sendable {
        /// The job.
        package var entry: JobFolder.Entry
        /// When it was applied; `nil` while it is pending.
        package var applied: AppliedJob?
        /// What became of it; `nil` unless it was begun.
        package var aftermath: JobAftermath?
        /// Whether it is not what it was when it was applied.
        package var isChanged: Bool { applied.map { $0.digest != entry.digest } ?? false }
        /// Whether it is to run once more, as its plan says: until its schema was deployed, old clients may have written
        /// documents that need it.
        package var isDueAgain: Bool {
            guard let at = applied?.mark.at, let deployed = aftermath?.deployed, aftermath?.undone == nil else {
                return false
            }
            return at < deployed
        }
        /// Whether it waits for the deploy of its next schema.
        package var waitsForDeploy = false
        var isPending: Bool { applied == nil || isDueAgain }
    }

    /// The folder.
    package let folder: String
    /// Its jobs in their order.
    package let items: [Item]
    /// What was applied and is not in the folder.
    package let missing: [AppliedJob]

    /// Holds a folder against what was applied.
    /// - Parameters:
    ///   - aftermath: what became of the jobs that were begun, by their names.
    ///   - waiting: the names of the jobs that wait for the deploy of their next schemas.
    package init(
        _ folder: JobFolder, applied: [AppliedJob], aftermath: [String: JobAftermath] = [:],
        waitingForDeploy waiting: Set<String> = []
    ) {
        self.folder = folder.path
        items = folder.entries.map { entry in
            Item(
                entry: entry, applied: applied.first { $0.job == entry.name }, aftermath: aftermath[entry.name],
                waitsForDeploy: waiting.contains(entry.name))
        }
        missing = applied.filter { applied in !folder.entries.contains { $0.name == applied.job } }
    }

    /// The jobs that are still to be run, those that wait for a deploy among them.
    package var pending: [JobFolder.Entry] { items.filter(\.isPending).map(\.entry) }

    /// The pending jobs that wait for the deploy of their next schemas.
    package var waiting: [JobFolder.Entry] { items.filter { $0.isPending && $0.waitsForDeploy }.map(\.entry) }

    /// The pending jobs that a run may begin with.
    private static func isDue(_ item: Item) -> Bool { item.isPending && !item.waitsForDeploy }

    /// Pending jobs before one that was applied: they came late, from another branch, say.
    package var late: [JobFolder.Entry] {
        guard let last = items.lastIndex(where: { $0.applied != nil }) else { return [] }
        return items[..<last].filter { $0.applied == nil }.map(\.entry)
    }

    /// The pending jobs that wait for no deploy, up to one that is named, by itself or by its file; all without a name.
    ///
    /// `nil` when the folder has none of that name.
    package func due(upTo name: String?) -> [JobFolder.Entry]? {
        guard let name else { return items.filter(Self.isDue).map(\.entry) }
        guard let last = items.firstIndex(where: { $0.entry.name == name || $0.entry.file == name }) else { return nil }
        return items[...last].filter(Self.isDue).map(\.entry)
    }

    /// Refuses pending jobs of which one was undone: it never runs again under its name.
    package func checkNotUndone(_ pending: [JobFolder.Entry]) throws(RunError) {
        for item in items where pending.contains(where: { $0.name == item.entry.name }) {
            guard let refusal = item.aftermath?.undone else { continue }
            throw RunError(
                refusal.kind,
                "\(folder)/\(item.entry.file): \(refusal.message), or take its file out of the folder; nothing was run")
        }
    }

    /// Refuses a folder in which a job that was applied is another one now.
    package func checkUnchanged() throws(RunError) {
        guard let item = items.first(where: \.isChanged), let applied = item.applied else { return }
        let when = applied.mark.at.map { " on \($0)" } ?? ""
        throw RunError(
            .bindingChanged,
            "\(folder)/\(item.entry.file): job \"\(item.entry.name)\" was applied\(when) by \(applied.mark.by), and its text "
                + "or a schema that it names changed since; put back what was applied, and make a new job for the change"
        )
    }
}
