import BSON
import Jobs
import SchemaChange
import ServerSchema

/// Fields with another name.
extension FieldPlanner {
    /// Gives the new field what the old one holds; the old one goes after the deploy.
    func rename(_ from: String?, to field: String, _ old: Side?, _ new: Side, in group: inout FieldGroup) {
        guard let from, let old else {
            return group.say(.manual, "a job cannot name the old field: copy it by a script of your own")
        }
        var fitted = FieldGroup(path: group.path)
        fit(field, at: group.path, old.node, new.node, new.link, in: &fitted, isStray: false)
        // A value that is converted on its way needs no copy that is changed afterwards.
        if fitted.steps.count == 1, let only = fitted.steps.first, only.kind == "convert",
            only.text(of: "field") == field
        {
            let line = StepLine.convert(
                from, from: Set(old.node.types), to: SchemaType(rawValue: only.text(of: "to") ?? "") ?? .string,
                into: field
            ).onTarget(
                present: only.text(of: "to") == SchemaType.uuid.rawValue ? nil : upkeep(at: group.path),
                nullsToo: new.isRequired)
            group.add(line, "the old field stays as it is while the older schema is live")
            group.entries[group.entries.count - 1].suggestions = fitted.entries[0].suggestions
            fit(field, at: group.path, nil, new.node, new.link, in: &group, isStray: true)
            return group.late.append(Self.removal(of: from, "once \(field) holds what was converted"))
        }
        // Values that fit neither schema are mended before they are copied, so that both fields hold the same.
        var (before, after) = (FieldGroup(path: group.path), FieldGroup(path: group.path))
        // What a conversion makes of a copied value is known of one value, and not of a list or of what the client converts.
        let isOneValue = if case .single(let types) = Shape(ofValue: old.node) { !types.contains(.uuid) } else { false }
        if fitted.steps.isEmpty {
            if isOneValue, old.link == nil, group.path.steps.count == 1 {
                fit(from, at: group.path, nil, old.node, nil, in: &before, isStray: true)
            }
            fit(field, at: group.path, nil, new.node, new.link, in: &after, isStray: true)
        }
        let isChanged = !fitted.steps.isEmpty || !after.steps.isEmpty && !isOneValue
        let forbids = dialect == .jsonSchema && forbidsFurtherFields(at: group.path)
        // What a default fills in before the old field comes to be differs from it for good.
        let isFilled = new.isRequired && !old.isRequired
        let kept = isChanged || isFilled && (forbids || upkeep(at: group.path) == .report)
        let presence: WhenPresent = kept ? .keep : forbids ? .report : upkeep(at: group.path)
        let line = StepLine(forbids ? "rename" : "copy", ["from": .text(from), "to": .text(field)])
            .onTarget(present: presence, nullsToo: new.isRequired)
        for index in before.entries.indices {
            before.entries[index].remarks = [
                "what fits neither schema is mended before it is copied, so that both fields are the same"
            ]
        }
        group.entries += before.entries
        group.add(
            line,
            forbids
                ? "the validator takes no field of the old name"
                : "the old field stays as long as the older schema is live")
        group.entries += fitted.entries
        group.entries += after.entries
        guard !forbids else { return }
        var end = PlanEntry(role: .step)
        end.remarks = ["moves what is still in \(from) alone, and takes \(from) away where \(field) holds the same"]
        end.step = StepLine("rename", ["from": .text(from), "to": .text(field)])
            .onTarget(present: isChanged || isFilled ? .keep : .report, nullsToo: new.isRequired)
        group.late.append(end)
    }

    /// What becomes of a copy whose source old clients go on writing: sync has such clients until the deploy.
    ///
    /// Inside of an object other steps may write the same field of the document.
    func upkeep(at path: SchemaPath) -> WhenPresent {
        dialect == .appServices && path.steps.count == 1 ? .refresh : .report
    }

    /// A removal that the operator may want.
    static func removal(of field: String, _ when: String) -> PlanEntry {
        PlanEntry(
            role: .nothing,
            remarks: ["\(field) is not looked at any more; to take it away, only after the deploy and \(when):"],
            suggestions: [.plain("unset", field)])
    }

    /// Whether the object that a field stands in takes only the fields that the schema names.
    func forbidsFurtherFields(at path: SchemaPath) -> Bool {
        guard let parent = new.root.node(at: SchemaPath(Array(path.steps.dropLast()))) else { return false }
        if case .forbidden = parent.additionalProperties { return true }
        return false
    }
}
