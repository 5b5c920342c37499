import BSON
import SchemaChange
import ServerSchema

/// The plan's entries for one path in the documents, in the order of their steps in the job.
struct FieldGroup {
    let path: SchemaPath
    var entries: [PlanEntry] = []
    /// The entries for the job that runs after the deploy of the newer schema; ``entries`` may be for an earlier job.
    ///
    /// An example is the last step of a rename, which removes the old field.
    var late: [PlanEntry] = []

    var steps: [StepLine] { entries.compactMap(\.step) }

    mutating func add(_ step: StepLine, _ remarks: String?..., review: String? = nil, isStray: Bool = false) {
        let remarks = remarks.compactMap(\.self)
        entries.append(PlanEntry(role: .step, remarks: remarks, step: step, review: review, isStray: isStray))
    }

    mutating func say(
        _ role: PlanEntry.Role, _ remarks: String, suggesting suggestions: [StepLine] = [], isForPartner: Bool = false
    ) {
        entries.append(
            PlanEntry(role: role, remarks: [remarks], suggestions: suggestions, isForPartner: isForPartner))
    }

    /// Inserts an entry before the others.
    ///
    /// The inserted entry takes over the schema changes of the entry that was first.
    mutating func precede(with entry: PlanEntry) {
        var entry = entry
        if !entries.isEmpty { swap(&entry.changes, &entries[0].changes) }
        entries.insert(entry, at: 0)
    }

    /// Lets the steps and the suggestions apply only to the documents that match a filter; an empty filter changes
    /// nothing.
    mutating func restrict(to filter: BSONDocument) {
        guard !filter.isEmpty else { return }
        for index in entries.indices {
            entries[index].step?.condition = filter
            for number in entries[index].suggestions.indices { entries[index].suggestions[number].condition = filter }
        }
    }

    /// Returns the group with a recommendation in place of its steps, because a job cannot hold one of the steps and
    /// the others depend on it.
    /// - Parameter dialect: the dialect of the schema; for Prisma, the text does not recommend a partner collection.
    func refused(because reason: String, in dialect: Dialect) -> FieldGroup {
        var group = FieldGroup(path: path)
        let violations = entries.filter { $0.step != nil }.flatMap(\.violations)
        let isForPartner = dialect != .prisma && violations.isEmpty
        group.say(
            .manual,
            "no job can do this (\(reason)): write a script of your own"
                + (isForPartner ? ", or use a partner collection" : ""), isForPartner: isForPartner)
        group.entries[0].changes = (entries + late).flatMap(\.changes)
        group.entries[0].violations = violations
        group.entries += entries.filter { $0.step == nil }.map { entry in
            var entry = entry
            entry.changes = []
            return entry
        }
        return group
    }

    /// Lists `changes` in the group's first entry, if there is one.
    ///
    /// All entries of the group serve these changes together, but only the first entry lists them.
    mutating func attribute(_ changes: [SchemaChange]) {
        guard !entries.isEmpty else { return }
        entries[0].changes = changes + entries[0].changes
    }
}
