import BSON
import Checking
import Jobs
import SchemaChange
import ServerSchema

/// Plans the steps that make the values at one path fit the newer schema.
struct FieldPlanner {
    let dialect: Dialect
    /// The collection in the older schema; `nil` if that schema does not have it.
    let old: CollectionSchema?
    var new: CollectionSchema
    var stated: [SchemaPath: StepLine.Value] = [:]
    /// The types that the `_id`s of each collection have, in the older and in the newer schema.
    var keyTypes: [Namespace: (old: Set<SchemaType>, new: Set<SchemaType>)] = [:]
    /// The partition key of the older schema; `nil` if it has none.
    var partitionKey: String?
    /// The partition key of the newer schema; `nil` if it has none.
    var nextPartitionKey: String?
    /// Returns the undeclared field that failing documents have in place of a missing one; `nil` if there is none.
    var undeclared: @Sendable (String) -> String? = { _ in nil }
    var remap: @Sendable (_ finding: ViolationGroup, _ field: String, _ allowed: [BSONValue]) -> StepLine = {
        .remap($1, [], to: $2, isPart: true)
    }
    /// Whether the documents are moved to another collection while no client runs, so that no client reads old fields.
    var isMoved = false
    /// Whether the newer schema stands for a Prisma client, and not for a validator.
    var isForClient = false
    /// Whether a partner collection may be recommended: not for a Prisma client.
    var hasPartners: Bool { dialect != .prisma && !isForClient }

    /// A field as the older or the newer schema describes it.
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

    /// Returns the plan for a path at which the schemas differ.
    /// - Parameter changes: the changes at the path that are planned together.
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
        // If one change at a path forbids steps, no other change at the path gets steps.
        if changes.contains(where: { ManualRemedy.bars($0, in: self) }) {
            group.entries[0].changes += rest
            return group
        }
        var own = FieldGroup(path: path)
        plan(path, rest, in: &own)
        if own.entries.isEmpty { own.say(.nothing, "the documents need no change") }
        own.attribute(rest)
        (group.entries, group.late) = (group.entries + own.entries, own.late)
        return group
    }

    private func plan(_ path: SchemaPath, _ changes: [SchemaChange], in group: inout FieldGroup) {
        if path.steps.first == .field("_id") { return sayOfID(path, in: &group) }
        let codes = Set(changes.map(\.code))
        // A change of a constraint does not record whether the field is required, so the description of the field is
        // taken from the other changes at the path, if there are any.
        let ordered = changes.filter { ![.constraintTightened, .constraintLoosened].contains($0.code) } + changes
        let before = ordered.lazy.compactMap { Side($0.old) }.first
        guard let after = ordered.lazy.compactMap({ Side($0.new) }).first, !path.isRoot else { return }
        guard let field = path.jobPath else {
            return group.say(.manual, "a job cannot name this field: repair it with a script of your own")
        }
        if codes.contains(.propertyRenamed) {
            rename(changes.lazy.compactMap(\.old?.path.jobPath).first, to: field, before, after, in: &group)
        } else if before == nil, case .embedded = Shape(ofValue: after.node) {
            return addObject(field, at: path, after, in: &group)
        } else if codes.contains(where: Self.affectsValues) {
            fit(field, at: path, before?.node, after.node, after.link, in: &group, isStray: before == nil)
        }
        fill(field, at: path, before, after, in: &group)
        if let before { dropNulls(at: path, before.node, after.node, in: &group) }
    }

    /// Adds the steps for an object that the older schema does not have.
    ///
    /// The object comes before its fields, because a job fills fields only in objects that are already there.
    private func addObject(_ field: String, at path: SchemaPath, _ new: Side, in group: inout FieldGroup) {
        fill(field, at: path, nil, new, in: &group)
        let start = group.entries.count
        fit(field, at: path, nil, new.node, new.link, in: &group, isStray: true)
        for index in group.entries.indices.dropFirst(start) where group.entries[index].step?.kind == "default" {
            group.entries[index].remarks.append("fills only the objects that are already there: no step creates them")
        }
    }

    /// Adds a remark about a change of `_id` or of a part of it, because no step can write an `_id`.
    private func sayOfID(_ path: SchemaPath, in group: inout FieldGroup) {
        if path.steps.count == 1 {
            group.say(
                .nothing, "every document has an _id: shipshape check shows whether each has the declared type")
        } else {
            group.say(
                .manual,
                "this is a part of _id, which cannot be changed in place: make a partner collection, which holds each "
                    + "document under its new _id")
        }
    }

    private static func affectsValues(_ code: SchemaChange.Code) -> Bool {
        let codes: Set<SchemaChange.Code> = [
            .requiredAdded, .optionalAdded, .propertyTypeChanged, .cardinalityChanged, .listSetChanged,
            .elementTypeChanged, .elementNullabilityChanged,
        ]
        return codes.contains(code)
    }
}

/// Steps for renamed fields.
extension FieldPlanner {
    /// Adds the steps that give the new field the value of the old field.
    ///
    /// A single rename does all of the work in two cases: the validator forbids the old field, or the documents are
    /// moved to another collection. In all other cases, the old field stays until the newer schema is deployed. If a
    /// single conversion makes the new value from the old field, the removal of the old field is only a suggestion.
    func rename(_ from: String?, to field: String, _ old: Side?, _ new: Side, in group: inout FieldGroup) {
        guard let from, let old else {
            return group.say(.manual, "a job cannot name the old field: copy it with a script of your own")
        }
        var fitted = FieldGroup(path: group.path)
        fit(field, at: group.path, old.node, new.node, new.link, in: &fitted, isStray: false)
        let forbids = dialect == .jsonSchema && forbidsFurtherFields(at: group.path)
        let isAtOnce = forbids || isMoved
        // If a single conversion makes the new value, the conversion itself reads the old field, and no copy is needed.
        // If the old field must not stay, it is renamed first, and then converted.
        if !isAtOnce, fitted.steps.count == 1, let only = fitted.steps.first, only.kind == "convert",
            only.text(of: "field") == field
        {
            let line = StepLine.convert(
                from, from: Set(old.node.types), to: SchemaType(rawValue: only.text(of: "to") ?? "") ?? .string,
                into: field
            ).onTarget(
                present: only.text(of: "to") == SchemaType.uuid.rawValue ? nil : upkeep(at: group.path),
                nullsToo: new.isRequired)
            let remark = "the old field stays as it is while the older schema is live"
            group.add(line, remark, review: fitted.entries[0].review)
            group.entries[group.entries.count - 1].suggestions = fitted.entries[0].suggestions
            fit(field, at: group.path, nil, new.node, new.link, in: &group, isStray: true)
            return group.late.append(Self.removal(of: from, "once \(field) holds the converted value"))
        }
        // Values that fit neither schema are fixed before they are copied, so that the old and the new field hold the
        // same value.
        var (before, after) = (FieldGroup(path: group.path), FieldGroup(path: group.path))
        // The step `copy` may be followed by a conversion of the new field. When a later run copies a changed value
        // again, it also applies this conversion, but only to single values that the server can convert. Lists, objects
        // and UUIDs are not such values.
        let isOneValue = if case .single(let types) = Shape(ofValue: old.node) { !types.contains(.uuid) } else { false }
        if fitted.steps.isEmpty {
            if isOneValue, old.link == nil, group.path.steps.count == 1 {
                fit(from, at: group.path, nil, old.node, nil, in: &before, isStray: true)
            }
            fit(field, at: group.path, nil, new.node, new.link, in: &after, isStray: true)
        }
        let isChanged = !fitted.steps.isEmpty || !after.steps.isEmpty && !isOneValue
        // A job may fill a default into the new field, and an old client may write the old field afterwards. The two
        // fields then differ. If later runs do not copy the old field again, the step keeps the new field's value.
        let isFilled = new.isRequired && !old.isRequired
        let kept = isChanged || isFilled && (isAtOnce || upkeep(at: group.path) == .report)
        let presence: WhenPresent = kept ? .keep : isAtOnce ? .report : upkeep(at: group.path)
        let line = StepLine(isAtOnce ? "rename" : "copy", ["from": .text(from), "to": .text(field)])
            .onTarget(present: presence, nullsToo: new.isRequired)
        for index in before.entries.indices {
            before.entries[index].remarks = [
                "values that fit neither schema are fixed before they are copied, so that both fields are the same"
            ]
        }
        // The steps in `before` fix values in the old field. A moved collection needs no such steps: no schema there
        // declares the old name, and no client reads the field before it is renamed.
        if !isMoved { group.entries += before.entries }
        group.add(
            line,
            forbids
                ? "the validator refuses a field with the old name"
                : isMoved
                    ? "no client reads the old field of the moved documents"
                    : "the old field stays as long as the older schema is live")
        group.entries += fitted.entries
        group.entries += after.entries
        guard !isAtOnce else { return }
        var end = PlanEntry(role: .step)
        end.remarks = ["moves values that are only in \(from), and removes \(from) where \(field) holds the same"]
        end.step = StepLine("rename", ["from": .text(from), "to": .text(field)])
            .onTarget(present: isChanged || isFilled ? .keep : .report, nullsToo: new.isRequired)
        group.late.append(end)
    }

    /// Returns the `whenPresent` setting of a step that copies an old field to a new field.
    ///
    /// Old clients may change the old field until the newer schema is deployed, so later runs copy it again. There are
    /// three exceptions. Inside an object, another step may write to a path that overlaps the new field, and a job file
    /// with such a step and `whenPresent: refresh` is refused. In moved documents, no old client writes the old field.
    /// In the dialect `jsonSchema`, no field is copied again.
    func upkeep(at path: SchemaPath) -> WhenPresent {
        dialect != .jsonSchema && path.steps.count == 1 && !isMoved ? .refresh : .report
    }

    /// Returns an entry that suggests a step which removes a field; the user has to activate the step.
    static func removal(of field: String, _ when: String) -> PlanEntry {
        PlanEntry(
            role: .nothing,
            remarks: ["the newer schema ignores \(field); to remove it, only after the deploy and \(when):"],
            suggestions: [.plain("unset", field)])
    }

    /// Whether the object around a field accepts only the fields that the newer schema declares.
    func forbidsFurtherFields(at path: SchemaPath) -> Bool {
        if case .forbidden? = new.root.node(at: path.holder)?.additionalProperties { true } else { false }
    }
}

extension FieldPlanner {
    /// Returns the groups of steps for a collection that the older schema does not have: one for each field that needs
    /// steps.
    func whole() -> [FieldGroup] {
        new.root.properties.compactMap { property in
            let path = SchemaPath([.field(property.name)])
            guard let field = path.jobPath, property.name != "_id" else { return nil }
            var group = FieldGroup(path: path)
            let side = Side(
                node: property.node, isRequired: new.root.requires(property.name),
                link: new.link(from: path))
            fit(field, at: path, nil, property.node, side.link, in: &group, isStray: true)
            fill(field, at: path, nil, side, in: &group)
            for index in group.entries.indices { group.entries[index].isStray = true }
            return group.entries.isEmpty ? nil : group
        }
    }
}
