import BSON
import Checking
import Jobs
import SchemaChange
import ServerSchema

/// Plans the steps that repair the documents of one collection in which a check found failures.
///
/// If a value has a wrong type, ``FieldPlanner`` plans the steps as if the schema had changed from the found type to
/// the declared one.
struct FindingPlanner {
    var fields: FieldPlanner
    let stage: StageCheck
    /// The schema of the documents as it was read; that of ``fields`` has the schemas of `oneOf` and `anyOf` written
    /// into it.
    let root: SchemaNode

    /// Returns the groups of plan entries: first the groups for the findings, sorted by path.
    ///
    /// The groups after them fill fields at other paths with the values that the user states with `--default`.
    ///
    /// Steps that remove fields come last, unless the engine halts at what they remove and no other step reads it.
    func groups(for findings: [ViolationGroup]) -> [FieldGroup] {
        let byPath = Dictionary(grouping: findings, by: \.violation.path)
        var rest = fields
        rest.stated = fields.stated.filter { byPath[$0.key] == nil }
        // What halts the engine comes first, because the engine is only useful again without it.
        let byOutcome = byPath.sorted { ($1.value.outcome, $0.key) < ($0.value.outcome, $1.key) }
        let groups = byOutcome.map { path, findings in
            group(at: path, for: findings.sorted { [$1].outcome < [$0].outcome })
        }
        let stated = CollectionPlanner(fields: rest, changes: []).groups()
        let all = CollectionPlanner.orderedSets(Self.joined(groups + stated))
        guard findings.outcome == .halts else { return Self.withRemovalsLast(all) }
        let haltingFirst = Self.withRemovalsLast(all) { $0.violations.outcome < .halts }
        return stage.refusal(of: haltingFirst.flatMap(\.steps)) == nil ? haltingFirst : Self.withRemovalsLast(all)
    }

    /// Moves the steps that remove fields to the end: first the removals inside objects, then the removals of the
    /// objects.
    ///
    /// A job file is refused if a step reads a field that an earlier step removes.
    private static func withRemovalsLast(
        _ groups: [FieldGroup], where isMoved: (PlanEntry) -> Bool = { _ in true }
    ) -> [FieldGroup] {
        func divided(_ areRemovals: Bool) -> [FieldGroup] {
            groups.map { group in
                var part = FieldGroup(path: group.path)
                part.entries = group.entries.filter { ($0.step?.kind == "unset" && isMoved($0)) == areRemovals }
                return part
            }
        }
        let removals = divided(true).filter { !$0.entries.isEmpty }
        return divided(false) + removals.sorted { $0.path.steps.count > $1.path.steps.count }
    }

    /// Returns the entries for the findings at one path.
    ///
    /// Steps that put values into lists or take them out of lists come first, because the other steps expect the
    /// resulting values. Steps that change values come before steps that fill fields.
    private func group(at path: SchemaPath, for findings: [ViolationGroup]) -> FieldGroup {
        var group = FieldGroup(path: path)
        let parts = findings.map { finding in
            var planner = self
            // The values select these schemas of `oneOf` and `anyOf`.
            if !finding.branches.isEmpty { planner.fields.new.root = root.unfolded(finding.branches) }
            let repair = planner.repair(of: finding)
            return (repair, planner.part(for: finding, repair))
        }
        for isOfPresence in [false, true] {
            let entries = parts.filter { ($0.0 == .presence) == isOfPresence }.flatMap(\.1.entries)
            group.entries += entries.filter(\.reshapes) + entries.filter { !$0.reshapes }
        }
        return group
    }

    /// Returns the fields whose values select the schemas, as a filter; `nil` if a job cannot name one of them.
    private static func selection(of branches: [SchemaBranch]) -> BSONDocument? {
        var members: [(String, BSONValue)] = []
        for (path, value) in branches.flatMap(\.conditions) {
            guard let field = path.jobPath, !field.contains(FieldPath.each) else { return nil }
            members.append((field, value))
        }
        return BSONDocument(members)
    }

    /// Returns the entries that repair one finding, or the remark that says why no step repairs it.
    private func part(for finding: ViolationGroup, _ repair: Repair) -> FieldGroup {
        var part = FieldGroup(path: finding.violation.path)
        var reason =
            if let field = part.path.jobPath {
                plan(repair, of: finding, field, in: &part)
            } else {
                part.path.isRoot ? Self.reason(repair) : Self.unnamed
            }
        if let selection = Self.selection(of: finding.branches) {
            part.restrict(to: selection)
        } else {
            reason = reason ?? "another field of the same element decides what fits: correct these values"
        }
        if let reason {
            // Suggested steps that a job file cannot contain are left out.
            let suggestions = part.entries.flatMap(\.suggestions).filter { stage.holds([$0]) }
            part.entries = []
            part.say(.manual, reason, suggesting: suggestions)
        }
        part.entries[0].violations = [finding]
        if let refusal = stage.refusal(of: part.steps) { return part.refused(because: refusal, in: fields.dialect) }
        // The first step repairs the values of the finding. Each later step repairs values that the first step writes.
        // No finding counts the values that the first step writes, so the later steps are marked `isStray`. A survey of
        // the documents then removes each later step that no document needs.
        for index in part.entries.indices.dropFirst() { part.entries[index].isStray = true }
        return part
    }

    private static let unnamed = "a job cannot name this field: repair it with a program of your own"

    /// Returns the reason why no step repairs a finding about the document as a whole.
    ///
    /// If the repair does not state a reason, the result is a general reason.
    private static func reason(_ repair: Repair) -> String {
        switch repair {
        case .decision(let reason), .unneeded(let reason): reason
        default: "no step can do this for the document as a whole"
        }
    }

    /// Merges equal steps: each step occurs once in the result, and serves the findings of all entries that had it.
    private static func joined(_ groups: [FieldGroup]) -> [FieldGroup] {
        var first: [StepLine: (group: Int, entry: Int)] = [:]
        var joined: [FieldGroup] = []
        for (index, group) in groups.enumerated() {
            joined.append(FieldGroup(path: group.path))
            for entry in group.entries {
                if let place = entry.step.flatMap({ first[$0] }) {
                    joined[place.group].entries[place.entry].take(entry)
                } else {
                    if let step = entry.step { first[step] = (index, joined[index].entries.count) }
                    joined[index].entries.append(entry)
                }
            }
        }
        return joined
    }
}

extension [ViolationGroup] {
    /// The worst outcome in the sync engine; that of a change for findings of a schema.
    var outcome: EngineRule.Outcome { compactMap(\.outcome).max() ?? .changed }
}

extension PlanEntry {
    fileprivate var reshapes: Bool { step.map { ["wrap", "unwrap"].contains($0.kind) } ?? false }

    /// Adds the findings of another entry with the same step.
    ///
    /// If this entry has no ``PlanEntry/review``, it gets the one of the other entry.
    fileprivate mutating func take(_ other: PlanEntry) {
        violations += other.violations
        review = review ?? other.review
        isStray = isStray && other.isStray
    }
}

extension FindingPlanner {
    /// Returns the repair of a finding, which depends on the rule, the found type and the path.
    private func repair(of finding: ViolationGroup) -> Repair {
        let path = finding.violation.path
        if path.steps.first == .field("_id") { return .decision(Repair.ofID) }
        guard let repair = Repair(of: finding.violation.rule) else {
            return .decision("this version knows no repair for this rule")
        }
        let isNull = finding.foundType == .null || finding.foundType == .undefined
        let isInside = [.elements, .values].contains(path.steps.last)
        switch repair {
        case .conversion where isNull, .presence where isNull: return isInside ? .nullRemoval : .presence
        case .conversion where !mayBecomeAllowed(finding): return Repair(of: Rule.notInEnum.code) ?? repair
        case .presence where finding.foundType != nil:
            return .decision("no step converts a value of this deprecated type: correct or remove it")
        default: return repair
        }
    }

    /// Whether a value of the found type, converted to a text, may equal one of the values that the schema lists.
    ///
    /// The result is also `true` if the schema lists no values, or if the conversion does not make a text. It is
    /// `false` for every date and every ObjectId, because schemas rarely list the texts of such values.
    private func mayBecomeAllowed(_ finding: ViolationGroup) -> Bool {
        guard let node = fields.new.root.node(at: finding.violation.path), node.withoutNull.types == [.string],
            let allowed = node.constraints.allowedValues, let found = finding.foundType
        else { return true }
        let texts = allowed.compactMap { if case .string(let text) = $0 { text } else { nil } }
        return switch found {
        case .int, .long, .double, .decimal: texts.contains { Double($0) != nil }
        case .bool: !Set(texts).isDisjoint(with: ["true", "false"])
        case .date, .objectId: false
        default: true
        }
    }

    /// Adds the steps of a repair, or suggestions that the user has to decide on.
    /// - Returns: the reason why no step was added; `nil` if a step was added.
    private func plan(
        _ repair: Repair, of finding: ViolationGroup, _ field: String, in part: inout FieldGroup
    ) -> String? {
        guard isStated(finding, repair) else { return Self.indirect }
        let node = fields.new.root.node(at: part.path)
        if let key = fields.new.uniqueKeys.first(where: { $0.expectation == finding.violation.expected }) {
            return plan(key, of: finding, field, node, in: &part)
        }
        if let rule = EngineRule.named(finding.violation.rule) { return plan(rule, of: finding, field, in: &part) }
        switch repair {
        case .conversion: return convert(finding, field, node, in: &part)
        case .presence: return fill(field, node, in: &part)
        case .nullRemoval:
            guard let holder = part.path.holder.jobPath else { return Self.unnamed }
            part.add(.plain("drop-nulls", holder), "no element may be null")
        case .deduplication:
            // A validator compares objects and lists more loosely than the plain step.
            let items = fields.new.root.node(at: SchemaPath(part.path.steps + [.elements]))?.types ?? []
            let isPlain = !items.isEmpty && items.allSatisfy { ![.object, .array, .mixed].contains($0) }
            part.add(
                isPlain ? .plain("dedupe", field) : StepLine("dedupe", ["field": .text(field), "by": .text("equal")]),
                "the first one of equal elements stays")
        case .fieldRemoval:
            part.add(
                .plain("unset", field), "the schema allows no field of this name",
                review: "the field's values are removed; undo restores them, or declare the field instead")
        case .decision(let reason), .unneeded(let reason):
            part.say(.manual, reason, suggesting: suggestions(for: finding, field, node))
            return reason
        }
        return nil
    }

    private static let indirect =
        "the schema demands this only in a part that does not describe the field itself, such as \"allOf\" or "
        + "\"patternProperties\": correct these values"

    /// Whether the collection's own schema causes a finding, and not a schema inside a keyword such as `allOf`.
    private func isStated(_ finding: ViolationGroup, _ repair: Repair) -> Bool {
        guard fields.dialect == .jsonSchema else { return true }
        let path = finding.violation.path
        switch repair {
        case .conversion, .presence, .nullRemoval:
            guard let found = finding.foundType else {
                guard case .field(let name)? = path.steps.last else { return false }
                return fields.new.root.node(at: path.holder)?.requires(name) == true
            }
            guard let types = fields.new.root.node(at: path)?.types, !types.isEmpty else { return false }
            return !types.contains { $0.rawValue == "\(found)" }
        case .fieldRemoval: return fields.forbidsFurtherFields(at: path)
        case .deduplication, .decision, .unneeded: return true
        }
    }

    private func convert(
        _ finding: ViolationGroup, _ field: String, _ node: SchemaNode?, in part: inout FieldGroup
    ) -> String? {
        guard let node, let type = finding.foundType, let found = SchemaType(rawValue: "\(type)") else {
            return "no step is known for values of type \(finding.violation.found)"
        }
        if found == .double, node.withoutNull.types == [.double] {
            let name = if case .field(let name)? = part.path.steps.last { name } else { "" }
            let isOptional = !name.isEmpty && fields.new.root.node(at: part.path.holder)?.requires(name) == false
            part.say(.manual, "", suggesting: [finite(field, isOptional: isOptional)])
            return "no client reads NaN or an infinity here: only you know which number replaces it"
        }
        var old = SchemaNode(location: node.location)
        old.types = [found]
        let link = fields.new.link(from: part.path)
        fields.fit(field, at: part.path, old, node, link, in: &part, isStray: false)
        // The step that replaces empty lists by null is left out. The survey then reports empty lists together with
        // lists of several values, which the step `unwrap` cannot replace either.
        part.entries.removeAll { $0.remarks == [FieldPlanner.emptyList] }
        if found == .timestamp, fields.dialect == .prisma, node.types == [.date] {
            let value = YAMLText.word(Self.reference(to: field))
            let step = expression(field, "{$toDate: \(value)}", when: "{$eq: [{$type: \(value)}, timestamp]}")
            part.entries = []
            part.add(step, "a timestamp has whole seconds, and the date the same")
            return nil
        }
        guard !part.steps.isEmpty else {
            let targets = node.types.flatMap { $0 == .number ? [.int, .long, .double, .decimal] : [$0] }
            let reached = targets.filter {
                $0 != .null && Conversion.reaches($0) && Conversion.leads(from: found, to: $0)
            }
            part.entries = []
            part.say(.manual, "", suggesting: reached.map { .convert(field, from: [found], to: $0) })
            let expected = node.withoutNull.expectation()
            return reached.isEmpty
                ? "no step makes \(expected) from \(finding.violation.found): correct these values"
                : "the schema allows several types: choose the one that these values are converted to"
        }
        if let link {
            part.entries[0].remarks = []
            part.entries[0].review = "whether the converted values are keys of \(link.target)"
        }
        return nil
    }

    /// Adds the step that fills a required field, or that removes a null from an optional one.
    /// - Returns: the reason why no step was added; `nil` if a step was added.
    private func fill(_ field: String, _ node: SchemaNode?, in part: inout FieldGroup) -> String? {
        guard case .field(let name)? = part.path.steps.last, let node,
            let holder = fields.new.root.node(at: part.path.holder)
        else {
            return "the schema does not describe the field: give it with a \"default\" step of your own"
        }
        let side = FieldPlanner.Side(
            node: node, isRequired: holder.requires(name), link: fields.new.link(from: part.path))
        guard side.isRequired || fields.dialect == .jsonSchema else {
            part.add(StepLine("unset", ["field": .text(field), "when": .text("null")]), "the field may be missing")
            return nil
        }
        let isChosen = fields.stated[part.path] != nil || node.usableDefault != nil
        if side.isRequired, !isChosen, node.constraints.allowedValues != nil {
            return "only you know which of the allowed values is right: give it with \(fields.defaultFlag(field))"
        }
        if let name = fields.undeclared(field), part.path.steps.count == 1 {
            part.add(
                StepLine("rename", ["from": .text(name), "to": .text(field)]),
                "these documents have \(name), which the schema does not declare",
                review: "whether \(name) is \(field) under another name")
            fields.fill(field, at: part.path, nil, side, in: &part)
            part.entries.removeAll { $0.step == nil }
            return nil
        }
        fields.fill(field, at: part.path, nil, side, in: &part)
        guard let only = part.entries.first, only.step == nil else {
            return part.entries.isEmpty ? "no value of the field fits: correct these documents" : nil
        }
        return only.remarks.first
    }
}
