import BSON
import Jobs
import SchemaChange
import ServerSchema

/// The order of steps for renames inside of objects that are renamed themselves.
extension CollectionPlanner {
    /// Returns `groups`; if both an object and a field inside it are renamed, their two groups become one.
    ///
    /// In a merged group, the steps copy the object, then give its fields their new names, and then fill missing
    /// values. At the end, they remove the fields from the old object, and then the old object itself.
    func orderedRenames(_ groups: [FieldGroup]) -> [FieldGroup] {
        var ordered = groups
        let moved = Set(groups.filter { $0.move != nil }.map(\.path))
        guard !moved.isEmpty else { return groups }
        var inner: [SchemaPath: [String]] = [:]
        for group in groups where !group.steps.isEmpty {
            for outer in group.path.outer where moved.contains(outer) {
                inner[outer, default: []] += group.path.jobPath.map { [$0] } ?? []
            }
        }
        for index in ordered.indices where ordered[index].move != nil {
            ordered[index].leave(inner[ordered[index].path] ?? [])
        }
        // The deepest renames come first, because each group is merged into the group of the object around it.
        let renamed = groups.filter { $0.move != nil && $0.path.outer.contains(where: moved.contains) }.sorted {
            $0.path.steps.count > $1.path.steps.count
        }
        for place in renamed.map(\.path) {
            guard let inner = ordered.firstIndex(where: { $0.path == place && $0.move != nil }),
                let outer = ordered.indices.filter({ index in
                    let group = ordered[index]
                    return group.move != nil && group.path.steps.count < place.steps.count
                        && group.path.isPrefix(of: place)
                }).max(by: { ordered[$0].path.steps.count < ordered[$1].path.steps.count }),
                let move = ordered[outer].move,
                let first = ordered[outer].entries.firstIndex(where: { $0.step == move })
            else { continue }
            let child = ordered[inner].afterMove(of: move).withoutRefresh
            // The steps after the copy step give the fields inside the new object other names, so the new object no
            // longer equals the old one. In the next run, the copy step must therefore keep the new object.
            ordered[outer].entries[first].step = move.keeping
            ordered[outer].entries.insert(contentsOf: child.entries, at: first + 1)
            ordered[outer].late.insert(contentsOf: child.late, at: 0)
            ordered.remove(at: inner)
        }
        return ordered
    }
}

extension SchemaPath {
    /// The paths of all objects, lists and dictionaries around the value at this path, from the root to the innermost.
    fileprivate var outer: [SchemaPath] { steps.indices.map { SchemaPath(Array(steps.prefix($0))) } }
}

extension FieldGroup {
    /// The step that gives a renamed field the value of the old field; `nil` if the group has none.
    fileprivate var move: StepLine? {
        steps.first { ["copy", "rename"].contains($0.kind) || $0.kind == "convert" && $0.text(of: "into") != nil }
    }

    /// Removes the steps for the given fields from this group, which is the group of a renamed or copied object.
    ///
    /// Each of the fields has a group of its own with steps for it. The step ``move`` and the steps for schema changes
    /// stay.
    fileprivate mutating func leave(_ fields: [String]) {
        let move = move
        entries.removeAll { entry in
            guard let step = entry.step, step != move, entry.changes.isEmpty else { return false }
            return fields.contains { step.target == $0 || step.target.leadsInto($0) }
        }
    }

    /// Returns the group of a field inside an object that is renamed or copied, with steps that read the right object.
    ///
    /// After a rename, the steps read the new object. After a copy, they usually still read the old object, because old
    /// clients write to it. Inside lists they read the copy, because no step can read the elements of one list to write
    /// to another list.
    fileprivate func afterMove(of object: StepLine) -> FieldGroup {
        guard let old = object.text(of: "from"), let new = object.text(of: "to"),
            object.kind == "rename" || path.jobPath?.contains(FieldPath.each) == true
        else { return self }
        var group = self
        for index in group.entries.indices {
            group.entries[index].step = group.entries[index].step?.reading(old, in: new)
        }
        for index in group.late.indices { group.late[index].step = group.late[index].step?.reading(old, in: new) }
        return group
    }
}

extension FieldGroup {
    /// The group without `whenPresent: refresh` in its steps, so that later runs do not copy the fields again.
    ///
    /// Later runs do not copy the enclosing object again, so they must not copy its fields either.
    fileprivate var withoutRefresh: FieldGroup {
        var group = self
        for index in group.entries.indices { group.entries[index].step = group.entries[index].step?.withoutRefresh }
        return group
    }
}

extension String {
    fileprivate func leadsInto(_ outer: String) -> Bool {
        hasPrefix(outer) && [".", "["].contains(dropFirst(outer.count).first)
    }
}

extension StepLine {
    fileprivate var withoutRefresh: StepLine {
        var line = self
        line.members.removeAll { $0.key == "whenPresent" && $0.value == .text(WhenPresent.refresh.rawValue) }
        return line
    }

    /// Returns the step, changed to read from the object `new`: a source inside the object `old` becomes the same field
    /// inside `new`.
    fileprivate func reading(_ old: String, in new: String) -> StepLine {
        let key = kind == "convert" ? "field" : "from"
        guard let source = text(of: key), source.leadsInto(old) else { return self }
        return replacing(key, with: .text(new + source.dropFirst(old.count)))
    }

    fileprivate var keeping: StepLine {
        guard text(of: "whenPresent") != nil else { return onTarget(present: .keep, nullsToo: false) }
        return replacing("whenPresent", with: .text(WhenPresent.keep.rawValue))
    }

    private func replacing(_ key: String, with value: Value) -> StepLine {
        var line = self
        line.members = members.map { $0.key == key ? Member(key: key, value: value) : $0 }
        return line
    }
}
