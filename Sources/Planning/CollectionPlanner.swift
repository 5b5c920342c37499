import BSON
import SchemaChange
import ServerSchema

/// Plans the fields of one collection: groups of entries in the order of the schemas.
struct CollectionPlanner {
    let fields: FieldPlanner
    let changes: [SchemaChange]

    /// A place that changes; a field that goes and one that comes in its name are two.
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
        return orderedSets(orderedRenames(groups))
    }

    /// A field that does not change, and that the operator states a value for.
    private func stated(at path: SchemaPath) -> FieldGroup {
        var group = FieldGroup(path: path)
        guard let field = path.jobPath, let value = fields.stated[path] else { return group }
        let name = if case .field(let name)? = path.steps.last { name } else { "" }
        let isRequired = fields.new.root.node(at: SchemaPath(Array(path.steps.dropLast())))?.requires(name) ?? false
        group.add(
            .fill(field, with: value, nullsToo: isRequired || name.isEmpty),
            "--default asks for it: no schema change does")
        return group
    }

    /// Elements are converted before a list is made a set of: two may become one by it.
    private func orderedSets(_ groups: [FieldGroup]) -> [FieldGroup] {
        var ordered = groups
        for group in groups where group.steps.contains(where: { $0.kind == "dedupe" }) {
            guard let from = ordered.firstIndex(where: { $0.path == group.path }),
                let last = ordered.lastIndex(where: { group.path.isPrefix(of: $0.path) }), last > from
            else { continue }
            ordered.insert(ordered.remove(at: from), at: last)
        }
        return ordered
    }
}

/// What two schemas do not tell, and a reviewer may know.
extension CollectionPlanner {
    private func addSuggestions(to groups: inout [FieldGroup]) {
        let removed = changes.filter { $0.code == .propertyRemoved }
        let added = changes.filter { $0.code == .requiredAdded || $0.code == .optionalAdded }
        for change in added {
            guard let index = groups.firstIndex(where: { $0.path == change.path }) else { continue }
            let gone = removed.filter { Self.parent($0) == Self.parent(change) && $0.path.jobPath != nil }
            let come = added.filter {
                Self.parent($0) == Self.parent(change) && Self.isText($0.new) && $0.path.jobPath != nil
            }
            if var entry = combination(of: gone.filter { Self.isPart($0.old) }, into: change)
                ?? split(gone.filter { Self.isText($0.old) }, into: come, at: change) ?? rename(to: change)
            {
                entry.changes = groups[index].entries[0].changes
                groups[index].entries[0].changes = []
                groups[index].entries.insert(entry, at: 0)
            }
        }
    }

    private func combination(of parts: [SchemaChange], into change: SchemaChange) -> PlanEntry? {
        guard parts.count > 1, Self.isText(change.new), let into = change.path.jobPath else { return nil }
        let template = parts.compactMap(\.path.jobPath).map { "{\($0)}" }.joined(separator: " ")
        return PlanEntry(
            role: .nothing,
            remarks: ["if it takes the place of \(Self.names(parts)), this step makes it of them, and comes first:"],
            suggestions: [StepLine("combine", ["into": .text(into), "template": .literal(.string(template))])])
    }

    private func split(_ gone: [SchemaChange], into come: [SchemaChange], at change: SchemaChange) -> PlanEntry? {
        guard gone.count == 1, come.count > 1, come.first?.path == change.path, let field = gone[0].path.jobPath else {
            return nil
        }
        return PlanEntry(
            role: .nothing,
            remarks: ["if \(Self.names(come)) take the place of \(field), this step makes them, and comes first:"],
            suggestions: [
                StepLine(
                    "split",
                    ["field": .text(field), "by": .literal(" "), "into": .list(come.compactMap(\.path.jobPath))])
            ])
    }

    private func rename(to change: SchemaChange) -> PlanEntry? {
        SchemaDiff.hints(in: changes).first { $0.added == change }.map { hint in
            PlanEntry(
                role: .nothing,
                remarks: ["if it is the renamed \(hint.removed.oldPath), plan again with --rename \(hint.rename)"])
        }
    }

    private static func parent(_ change: SchemaChange) -> SchemaPath { SchemaPath(Array(change.path.steps.dropLast())) }
    private static func names(_ changes: [SchemaChange]) -> String {
        changes.map { "\($0.path)" }.joined(separator: changes.count == 2 ? " and " : ", ")
    }
    private static func isText(_ side: SchemaChange.Side?) -> Bool { side?.node?.withoutNull.types == [.string] }
    private static func isPart(_ side: SchemaChange.Side?) -> Bool {
        let types: Set<SchemaType> = [.string, .int, .long]
        return side?.node?.withoutNull.types.first.map { types.contains($0) } ?? false
    }
}
