import BSON
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
