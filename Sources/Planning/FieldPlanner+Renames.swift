import BSON
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
                into: field)
            group.add(line, "the old field stays as it is while the older schema is live")
            group.entries[group.entries.count - 1].suggestions = fitted.entries[0].suggestions
            fit(field, at: group.path, nil, new.node, new.link, in: &group, isStray: true)
            return group.late.append(Self.removal(of: from, "once \(field) holds what was converted"))
        }
        let isChanged = !fitted.steps.isEmpty || new.isRequired && !old.isRequired
        let presence: StepLine.Value? = isChanged ? .text("keep") : nil
        let forbids = dialect == .jsonSchema && forbidsFurtherFields(at: group.path)
        let line = StepLine(
            forbids ? "rename" : "copy", ["from": .text(from), "to": .text(field), "whenPresent": presence])
        group.add(
            line,
            forbids
                ? "the validator takes no field of the old name"
                : "the old field stays as long as the older schema is live")
        group.entries += fitted.entries
        if fitted.steps.isEmpty { fit(field, at: group.path, nil, new.node, new.link, in: &group, isStray: true) }
        guard !forbids else { return }
        var end = PlanEntry(role: .step)
        end.remarks = ["moves what is still in \(from) alone, and takes \(from) away where \(field) holds the same"]
        end.step = StepLine("rename", ["from": .text(from), "to": .text(field), "whenPresent": presence])
        group.late.append(end)
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
