import BSON
import Jobs
import ServerSchema

extension FieldPlanner {
    /// Adds a step for a value that may be missing or null under the older schema, but not under the newer one.
    ///
    /// If the user states a value for the field, a step that writes this value is always added.
    func fill(_ field: String, at path: SchemaPath, _ old: Side?, _ new: Side, in group: inout FieldGroup) {
        // Elements of lists and values of dictionaries are always present, so only fields are filled.
        guard case .field? = path.steps.last else { return }
        let empties = group.entries.contains { $0.remarks == [Self.emptyList] }
        let couldBeNull =
            empties || (old.map { !$0.isRequired || $0.node.takesNull(in: dialect) && dialect == .jsonSchema } ?? true)
        let mayBeNull =
            !new.isRequired && new.node.takesNull(in: dialect)
            || dialect == .jsonSchema && new.node.takesNull(in: dialect)
        let wasMissing = old.map { !$0.isRequired || $0.node.usableDefault != nil } ?? true
        let isFilled = new.isRequired && wasMissing || couldBeNull && !mayBeNull
        if let value = stated[path] {
            let line = StepLine.fill(field, with: value, nullsToo: new.isRequired || !mayBeNull)
            return group.add(line, "the value from --default")
        }
        guard new.isRequired else {
            // The field is optional here. Only a MongoDB validator can refuse null in an optional field, so `isFilled`
            // is `false` for the schemas of every other dialect.
            if isFilled {
                let line = StepLine("unset", ["field": .text(field), "when": .text("null")])
                group.add(line, "null no longer fits, and the field may be missing", isStray: old == nil)
            }
            return
        }
        guard isFilled else { return }
        if let value = old?.node.usableDefault, value != new.node.usableDefault, old?.isRequired == true,
            takes(value, new)
        {
            return group.add(
                .fill(field, with: .literal(value.spelled(for: new.node)), nullsToo: dialect == .prisma),
                dialect == .prisma
                    ? "clients saw the old default where it is missing or null; this step writes it"
                    : "clients saw the old default in documents without it; this step writes it",
                review: new.node.usableDefault == nil ? nil : "whether these documents keep the old default")
        }
        fillRequired(field, new, nullsToo: couldBeNull && !(dialect == .jsonSchema && mayBeNull), in: &group)
        // The group may have a step that replaces an empty list by null, which does not fit the newer schema either. If
        // no `default` step then fills the field, the step that writes null is removed.
        if empties, !group.steps.contains(where: { $0.kind == "default" }) {
            group.entries.removeAll { $0.remarks == [Self.emptyList] }
        }
    }

    private func fillRequired(_ field: String, _ new: Side, nullsToo: Bool, in group: inout FieldGroup) {
        if let value = new.node.usableDefault, takes(value, new) {
            return group.add(
                .fill(field, with: .literal(value.spelled(for: new.node)), nullsToo: nullsToo), "the schema's default")
        }
        if generate(field, new.node, nullsToo: nullsToo, in: &group) { return }
        // If the schema lists the allowed values, the user has to choose one of them. Even an empty text or 0 then has
        // a meaning of its own, and does not mean "no value yet".
        let choices = new.node.constraints.allowedValues?.filter { takes($0, new) } ?? []
        // If the field holds the key of a document, it is not filled with a zero value such as 0 or "", because no
        // document would have this key.
        let related = new.link.map { "\($0.target)" } ?? new.node.use.keyOfModel
        if related == nil || new.link == nil && new.node.isList, choices.isEmpty, let zero = new.node.zeroValue,
            takes(zero, new)
        {
            let line = StepLine.fill(field, with: .literal(zero.spelled(for: new.node)), nullsToo: nullsToo)
            guard field != nextPartitionKey else {
                return group.say(
                    .manual,
                    "this is the partition key, and one value for all would put every document into one partition: "
                        + "give it with \(defaultFlag(field)), or write each document's value with a step of your own",
                    suggesting: [line])
            }
            return group.add(
                line, review: "the plan chose the zero value of \(new.node.withoutNull.expectation())")
        }
        let type = new.node.withoutNull.types.first
        if let type, [.objectId, .uuid].contains(type) || related != nil {
            let what = related.map { "the \($0) of these documents" } ?? "their identity"
            let generated = StepLine.fill(field, "generate", with: .text(type.rawValue), nullsToo: nullsToo)
            let canGenerate = related == nil && [.objectId, .uuid].contains(type)
            return group.say(
                .manual,
                "only you know \(what). One for all: \(defaultFlag(field))"
                    + (canGenerate ? ". A new one for each: the suggested step" : ""),
                suggesting: canGenerate ? [generated] : [])
        }
        guard choices.isEmpty else {
            let values = choices.prefix(8).map(YAMLText.literal) + (choices.count > 8 ? ["…"] : [])
            return group.say(
                .manual,
                "only you know which of the allowed values is right. One of \(values.joined(separator: ", ")) for all: "
                    + defaultFlag(field))
        }
        let suggestion = new.node.zeroObject(in: dialect).flatMap { takes($0, new) ? $0 : .none }
        group.say(
            .manual,
            "documents without it do not fit, and its type has no empty value: give one with \(defaultFlag(field))",
            suggesting: suggestion.map { [.fill(field, with: .literal($0), nullsToo: nullsToo)] } ?? [])
    }

    /// Adds what fills a field to which clients give another value in each document: no constant fits there.
    /// - Returns: whether something was added.
    private func generate(_ field: String, _ node: SchemaNode, nullsToo: Bool, in group: inout FieldGroup) -> Bool {
        let hasTime = new.root.property("_id")?.types == [.objectId]
        switch node.use.function {
        case "now" where node.types.contains(.date) && hasTime && !node.use.isUnique:
            group.add(
                .fill(field, "generate", with: .text("idTime"), nullsToo: nullsToo),
                "the time in _id is the time at which the document was made",
                review: "whether the time of _id is right")
        case "uuid", "cuid", "nanoid", "ulid":
            group.say(
                .manual,
                "documents without it do not fit, and each needs a value of its own, as \(node.use.function ?? "")() "
                    + "makes it: write the values with a program of your own")
        default:
            guard node.use.isUnique else { return false }
            group.say(
                .manual,
                "documents without it do not fit, and the field is unique, so that one value for all would be refused: "
                    + "write each document's value with a step of your own")
        }
        return true
    }

    /// Returns the command-line flag with which the user states the value that fills a field.
    func defaultFlag(_ field: String) -> String { "--default \(new.namespace).\(field)=VALUE" }

    private func takes(_ value: BSONValue, _ side: Side) -> Bool {
        let types = side.node.types
        guard let fitted = types.count == 1 ? value.fitted(to: types[0]) : value else { return false }
        return side.node.takes(fitted, in: dialect)
    }
}
