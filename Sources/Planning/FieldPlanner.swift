import BSON
import Jobs
import SchemaChange
import ServerSchema

/// Plans what makes the values at one place fit the newer schema.
struct FieldPlanner {
    let dialect: Dialect
    /// The collection in both versions; `nil` where there is none.
    let old: CollectionSchema?
    let new: CollectionSchema
    /// The values that the operator states, by place.
    var stated: [SchemaPath: StepLine.Value] = [:]
    /// The types of the `_id`s of each collection, in both versions.
    var keyTypes: [Namespace: (old: Set<SchemaType>, new: Set<SchemaType>)] = [:]
    /// The field that divides the documents of the older version.
    var partitionKey: String?
    /// The field that divides those of the newer.
    var nextPartitionKey: String?

    /// A field of one version.
    struct Side {
        let node: SchemaNode
        let isRequired: Bool
        let link: Relationship?

        init(node: SchemaNode, isRequired: Bool, link: Relationship? = nil) {
            (self.node, self.isRequired, self.link) = (node, isRequired, link)
        }

        init?(_ side: SchemaChange.Side?) {
            guard let side, let node = side.node else { return nil }
            self.init(node: node, isRequired: side.isRequired, link: side.link)
        }
    }

    /// Plans for a place that changes.
    /// - Parameter changes: all changes there, which have the same sides.
    func group(at path: SchemaPath, for changes: [SchemaChange]) -> FieldGroup {
        var group = FieldGroup(path: path)
        var rest: [SchemaChange] = []
        for change in changes {
            if let remedy = ManualRemedy(of: change, in: self) {
                var entry = PlanEntry(role: remedy.role, changes: [change], remarks: [remedy.text])
                (entry.suggestions, entry.isForPartner) = (remedy.suggestions, remedy.isPartner)
                group.entries.append(entry)
            } else {
                rest.append(change)
            }
        }
        guard !rest.isEmpty else { return group }
        // What is written for one of them is wrong for the others, too.
        if changes.contains(where: { ManualRemedy.bars($0, in: self) }) {
            group.entries[0].changes += rest
            return group
        }
        var own = FieldGroup(path: path)
        plan(path, rest, in: &own)
        if own.entries.isEmpty { own.say(.nothing, "the documents need nothing") }
        own.attribute(rest)
        (group.entries, group.late) = (group.entries + own.entries, own.late)
        return group
    }

    private func plan(_ path: SchemaPath, _ changes: [SchemaChange], in group: inout FieldGroup) {
        if path.steps.first == .field("_id") { return sayOfID(path, in: &group) }
        let codes = Set(changes.map(\.code))
        // A change of constraints does not tell whether the field is required.
        let telling = changes.filter { ![.constraintTightened, .constraintLoosened].contains($0.code) } + changes
        let before = telling.lazy.compactMap { Side($0.old) }.first
        guard let after = telling.lazy.compactMap({ Side($0.new) }).first, !path.isRoot else { return }
        guard let field = path.jobPath else {
            return group.say(.manual, "a job cannot name this field: repair it by a script of your own")
        }
        if codes.contains(.propertyRenamed) {
            rename(changes.lazy.compactMap(\.old?.path.jobPath).first, to: field, before, after, in: &group)
        } else if codes.contains(where: Self.concernsValues) {
            fit(field, at: path, before?.node, after.node, after.link, in: &group, isStray: before == nil)
        }
        fill(field, at: path, before, after, in: &group)
        if let before { dropNulls(at: path, before.node, after.node, in: &group) }
    }

    /// No step writes an `_id`, or a part of it.
    private func sayOfID(_ path: SchemaPath, in group: inout FieldGroup) {
        if path.steps.count == 1 {
            group.say(
                .nothing, "every document has its _id: shipshape check tells whether each is of the declared type")
        } else {
            group.say(
                .manual,
                "an _id never changes in place, and this is a part of it: make a partner collection, which holds each document "
                    + "under its new _id")
        }
    }

    private static func concernsValues(_ code: SchemaChange.Code) -> Bool {
        let codes: Set<SchemaChange.Code> = [
            .requiredAdded, .optionalAdded, .propertyTypeChanged, .cardinalityChanged, .listSetChanged,
            .elementTypeChanged, .elementNullabilityChanged,
        ]
        return codes.contains(code)
    }
}

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
