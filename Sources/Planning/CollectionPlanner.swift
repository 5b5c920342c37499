import BSON
import SchemaChange
import ServerSchema

/// Plans the steps for the fields of one collection, in a ``FieldGroup`` for each path.
struct CollectionPlanner {
    let fields: FieldPlanner
    let changes: [SchemaChange]
    var stated: [StatedStep.Found] = []

    /// A path at which the schemas differ.
    ///
    /// If a field is removed and another one with the same name is added, these are two places.
    private struct Place: Hashable {
        let path: SchemaPath
        let isRemoval: Bool
    }

    func groups() -> [FieldGroup] {
        var places: [Place] = []
        var byPlace: [Place: [SchemaChange]] = [:]
        for change in changes {
            let place = Place(path: change.path, isRemoval: change.new == nil)
            if byPlace[place] == nil { places.append(place) }
            byPlace[place, default: []].append(change)
        }
        var groups = places.map { fields.group(at: $0.path, for: byPlace[$0] ?? []) }
        let planned = Set(places.filter { !$0.isRemoval }.map(\.path))
        for path in fields.stated.keys.filter({ !planned.contains($0) }).sorted() { groups.append(stated(at: path)) }
        addSuggestions(to: &groups)
        return Self.orderedSets(orderedRenames(groups))
    }

    /// Returns the group for a field that is the same in both schemas, but for which the user states a value.
    ///
    /// The group has a step that fills the field with this value.
    private func stated(at path: SchemaPath) -> FieldGroup {
        var group = FieldGroup(path: path)
        guard let field = path.jobPath, let value = fields.stated[path] else { return group }
        let name = if case .field(let name)? = path.steps.last { name } else { "" }
        let isRequired = fields.new.root.node(at: path.holder)?.requires(name) ?? false
        group.add(
            .fill(field, with: value, nullsToo: isRequired || name.isEmpty),
            "--default asks for it; no schema change needs it")
        return group
    }

    /// Returns the groups, with each group that turns a list into a set moved after the groups for values in that list.
    ///
    /// The steps for the values may convert them, so that two elements of the list become equal.
    static func orderedSets(_ groups: [FieldGroup]) -> [FieldGroup] {
        let sets = Set(groups.filter { $0.steps.contains { $0.kind == "dedupe" } }.map(\.path))
        guard !sets.isEmpty else { return groups }
        // The path of each set, with the index of the last group that changes the set itself or a value inside it.
        var last: [SchemaPath: Int] = [:]
        for (index, group) in groups.enumerated() {
            for count in 0...group.path.steps.count {
                let path = SchemaPath(Array(group.path.steps.prefix(count)))
                if sets.contains(path) { last[path] = index }
            }
        }
        var ordered: [FieldGroup] = []
        var waiting: [Int: [FieldGroup]] = [:]
        for (index, group) in groups.enumerated() {
            if let end = last[group.path], end > index {
                waiting[end, default: []].append(group)
            } else {
                ordered.append(group)
            }
            // If the groups of several sets are moved after `group`, a set inside another set comes first, because the
            // step of the inner set may make two elements of the outer set equal.
            ordered += (waiting[index] ?? []).sorted { $0.path.steps.count > $1.path.steps.count }
        }
        return ordered
    }
}

/// Suggestions for changes whose purpose the two schemas do not show, but a reviewer may know.
extension CollectionPlanner {
    /// The largest number of fields that a suggestion names; a longer list would not help a reviewer.
    private static let maximumSuggested = 10

    /// The fields of one object that a suggestion to combine or to split fields can name.
    private struct Siblings {
        var parts: [SchemaChange] = []
        var goneTexts: [SchemaChange] = []
        var comeTexts: [SchemaChange] = []
    }

    private func addSuggestions(to groups: inout [FieldGroup]) {
        var siblings: [SchemaPath: Siblings] = [:]
        let added = changes.filter { $0.code == .requiredAdded || $0.code == .optionalAdded }
        for change in added where Self.isText(change.new) && change.path.jobPath != nil {
            siblings[change.path.holder, default: Siblings()].comeTexts.append(change)
        }
        for change in changes where change.code == .propertyRemoved && change.path.jobPath != nil {
            let parent = change.path.holder
            if Self.isPart(change.old) { siblings[parent, default: Siblings()].parts.append(change) }
            if Self.isText(change.old) { siblings[parent, default: Siblings()].goneTexts.append(change) }
        }
        let hints = Dictionary(SchemaDiff.hints(in: changes).map { ($0.added.path, $0) }) { first, _ in first }
        let places = Dictionary(groups.enumerated().map { ($0.element.path, $0.offset) }) { first, _ in first }
        let decided = Set(stated.flatMap(\.changes).map(\.path))
        for change in added where !decided.contains(change.path) {
            guard let index = places[change.path] else { continue }
            let around = siblings[change.path.holder] ?? Siblings()
            if let entry = combination(of: around.parts, into: change)
                ?? split(around.goneTexts, into: around.comeTexts, at: change) ?? rename(to: change, hints[change.path])
            {
                groups[index].precede(with: entry)
            }
        }
        for step in stated {
            let indices = step.changes.compactMap { places[$0.path] }
            guard let first = indices.min() else { continue }
            for index in indices where step.kind != .embed {
                // The user's step gives the fields of this group their values. The planner's own steps for values that
                // break the older schema are therefore removed from the group.
                let served = groups[index].entries.filter(\.isStray).flatMap(\.changes)
                groups[index].entries.removeAll(where: \.isStray)
                if groups[index].entries.isEmpty {
                    let remarks = index == first ? [] : ["\(step.flag) states it"]
                    groups[index].entries = [PlanEntry(role: .nothing, remarks: remarks)]
                }
                groups[index].entries[0].changes += served
            }
            accept(step, in: &groups[first])
            groups[first].entries.removeAll { $0.role == .nothing && $0.remarks.isEmpty }
        }
    }

    private func accept(_ stated: StatedStep.Found, in group: inout FieldGroup) {
        var entry = PlanEntry(role: .step, remarks: ["\(stated.flag) states it"])
        switch stated.kind {
        case .combine: entry.step = combine(stated.sources, into: stated.changes[0])
        case .split: entry.step = split(stated.sources[0], into: stated.changes)
        case .embed:
            guard let index = group.entries.firstIndex(where: { $0.suggestions.contains { $0.kind == "embed" } }) else {
                return
            }
            (entry.changes, entry.step) = (group.entries[index].changes, group.entries[index].suggestions.first)
            entry.remarks = [
                "\(stated.flag) states it: the job refuses to run if a linked document has no parent or several"
            ]
            return group.entries[index] = entry
        }
        group.precede(with: entry)
    }

    private func combine(_ parts: [String], into change: SchemaChange) -> StepLine {
        let template = parts.map { "{\($0)}" }.joined(separator: " ")
        return StepLine(
            "combine", ["into": .text(change.path.jobPath ?? ""), "template": .literal(.string(template))]
        ).onTarget(present: fields.upkeep(at: change.path), nullsToo: change.new?.isRequired == true)
    }

    private func split(_ field: String, into come: [SchemaChange]) -> StepLine {
        StepLine(
            "split", ["field": .text(field), "by": .literal(" "), "into": .list(come.compactMap(\.path.jobPath))]
        ).onTarget(
            present: fields.upkeep(at: come[0].path), nullsToo: come.contains { $0.new?.isRequired == true })
    }

    private func combination(of parts: [SchemaChange], into change: SchemaChange) -> PlanEntry? {
        guard (2...Self.maximumSuggested).contains(parts.count), Self.isText(change.new), change.path.jobPath != nil
        else { return nil }
        let flag = flag(.combine, parts, into: [change])
        return PlanEntry(
            role: .nothing,
            remarks: [
                "if it replaces \(Self.names(parts)), plan again with \(flag), or uncomment this step, which makes it "
                    + "from them and comes first:"
            ],
            hint: "\(place(change)) may replace \(Self.names(parts)): if so, plan again with \(flag)",
            suggestions: [combine(parts.compactMap(\.path.jobPath), into: change)])
    }

    private func split(_ gone: [SchemaChange], into come: [SchemaChange], at change: SchemaChange) -> PlanEntry? {
        guard gone.count == 1, (2...Self.maximumSuggested).contains(come.count), come.first?.path == change.path,
            let field = gone[0].path.jobPath
        else { return nil }
        let rename = "\(gone[0].oldNamespace ?? fields.new.namespace).\(gone[0].oldPath)=NAME"
        let flag = flag(.split, gone, into: come)
        return PlanEntry(
            role: .nothing,
            remarks: [
                "if \(Self.names(come)) replace \(field), plan again with \(flag), or uncomment this step, which makes "
                    + "them and comes first; if one of them is the renamed \(field), plan again with \(rename) "
                    + "in renames of shipshape.yml:"
            ],
            hint:
                "\(Self.names(come)) of \(place(change, isWhole: true)) may replace \(field): if so, plan again with "
                + "\(flag); if one of them is the renamed \(field), with \(rename) in renames of shipshape.yml",
            suggestions: [split(field, into: come)])
    }

    private func rename(to change: SchemaChange, _ hint: RenameHint?) -> PlanEntry? {
        guard let hint, hint.added == change else { return nil }
        return PlanEntry(
            role: .nothing,
            remarks: [
                "if it is the renamed \(hint.removed.oldPath), plan again with \(hint.rename) in renames of "
                    + "shipshape.yml"
            ],
            hint:
                "\(place(change)) may be the renamed \(hint.removed.oldPath): if so, plan again with \(hint.rename) in "
                + "renames of shipshape.yml")
    }

    /// Returns the command-line flag with which the user accepts a suggestion.
    private func flag(_ kind: StatedStep.Kind, _ old: [SchemaChange], into new: [SchemaChange]) -> String {
        let text = StatedStep.text(
            old.map(\.oldPath), of: old[0].oldNamespace ?? fields.new.namespace, into: new.map(\.path))
        return "--\(kind.rawValue) \(text)"
    }

    /// Returns the name of the changed field for messages, such as `Person.email`.
    ///
    /// With `isWhole`, the result is only the title of the collection's schema, such as `Person`.
    private func place(_ change: SchemaChange, isWhole: Bool = false) -> String {
        let type = fields.new.root.title ?? "\(fields.new.namespace)"
        return isWhole ? type : "\(type).\(change.path)"
    }

    private static func names(_ changes: [SchemaChange]) -> String {
        changes.map { "\($0.path)" }.joined(separator: changes.count == 2 ? " and " : ", ")
    }
    private static func isText(_ side: SchemaChange.Side?) -> Bool { side?.node.map(StatedStep.isText) ?? false }
    private static func isPart(_ side: SchemaChange.Side?) -> Bool { side?.node.map(StatedStep.isPart) ?? false }
}
