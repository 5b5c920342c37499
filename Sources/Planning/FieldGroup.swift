import SchemaChange
import ServerSchema

/// What is planned for one place of the documents: entries that belong into one job, in this order.
struct FieldGroup {
    let path: SchemaPath
    var entries: [PlanEntry] = []
    /// What is only right after the deploy, whatever the entries are: the end of a rename.
    var late: [PlanEntry] = []

    var steps: [StepLine] { entries.compactMap(\.step) }

    mutating func add(_ step: StepLine, _ remarks: String?..., isStray: Bool = false) {
        entries.append(
            PlanEntry(role: .step, remarks: remarks.compactMap(\.self), step: step, isStray: isStray))
    }

    mutating func say(
        _ role: PlanEntry.Role, _ remarks: String, suggesting suggestions: [StepLine] = [], isForPartner: Bool = false
    ) {
        entries.append(
            PlanEntry(role: role, remarks: [remarks], suggestions: suggestions, isForPartner: isForPartner))
    }

    /// The group without its steps, where a job cannot hold one of them: the others count on it.
    func refused(because reason: String) -> FieldGroup {
        var group = FieldGroup(path: path)
        group.say(
            .manual, "no job can do this (\(reason)): write a script of your own, or use a partner collection",
            isForPartner: true)
        group.entries[0].changes = (entries + late).flatMap(\.changes)
        group.entries += entries.filter { $0.step == nil }.map { entry in
            var entry = entry
            entry.changes = []
            return entry
        }
        return group
    }

    /// Names what the entries are for: the first says so.
    mutating func attribute(_ changes: [SchemaChange]) {
        guard !entries.isEmpty else { return }
        entries[0].changes = changes + entries[0].changes
    }
}
