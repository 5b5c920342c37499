internal import BSON
internal import ServerSchema

/// A removal and an addition that look like a rename; the operator decides whether they are one.
public struct RenameHint: Hashable, Sendable {
    /// The change that removes the property or collection.
    public let removed: SchemaChange
    /// The change that adds the property or collection, under its possible new name.
    public let added: SchemaChange
    /// The rename that the operator can state, as `OLD=NEW`.
    public let rename: String
    /// A clause that says why the removal and the addition look like a rename.
    public let reason: String
}

extension SchemaDiff {
    /// Returns the pairs of a removal and an addition that look like renames.
    ///
    /// In one object, a removed and an added property of the same type look like a rename if no other property of this
    /// type was removed or added. A removed and an added collection look like a rename in two cases: the added one is
    /// the only added collection with the removed one's title, or the two are the only removed and the only added
    /// collection with these fields.
    public static func hints(in changes: [SchemaChange]) -> [RenameHint] {
        properties(in: changes) + collections(in: changes)
    }

    private static func properties(in changes: [SchemaChange]) -> [RenameHint] {
        struct Slot: Hashable {
            let holder: String
            let type: String
        }
        func slot(_ change: SchemaChange, _ side: SchemaChange.Side?) -> Slot? {
            guard let node = side?.node, change.path.steps != [.field("_id")] else { return nil }
            let holder = "\(change.namespace.map { "\($0)" } ?? "") \(change.oldPath.steps.dropLast())"
            let listed = node.constraints.allowedValues == nil ? "" : " of listed values"
            return Slot(holder: holder, type: node.isEmbedded ? "embedded object" : node.expectation() + listed)
        }
        // The changes of a large schema are not copied.
        var (removed, added): ([Slot: Int], [Slot: [Int]]) = ([:], [:])
        for (index, change) in changes.enumerated() {
            switch change.code {
            case .propertyRemoved: if let slot = slot(change, change.old) { removed[slot, default: 0] += 1 }
            case .requiredAdded, .optionalAdded:
                if let slot = slot(change, change.new) { added[slot, default: []].append(index) }
            default: break
            }
        }
        return changes.compactMap { change in
            guard change.code == .propertyRemoved, let slot = slot(change, change.old), removed[slot] == 1,
                let candidates = added[slot], candidates.count == 1, let namespace = change.oldNamespace,
                case let other = changes[candidates[0]], case .field(let name)? = other.path.steps.last
            else { return nil }
            let (from, to) = (change.oldPath, "\(SchemaPath([.field(name)]))")
            return RenameHint(
                removed: change, added: other, rename: "\(namespace).\(from)=\(to)",
                reason: "did you rename it to \(to), the only \(slot.type) added there?")
        }
    }

    private static func collections(in changes: [SchemaChange]) -> [RenameHint] {
        let removed = changes.filter { $0.code == .typeRemoved && $0.new == nil }
        let added = changes.filter { $0.code == .typeAdded && $0.old == nil }
        let byTitle = Dictionary(grouping: added) { $0.new?.node?.typeName }
        let byFields = Dictionary(grouping: added) { $0.new?.node?.fieldWords }
        let rivals = Dictionary(grouping: removed) { $0.old?.node?.fieldWords }
        return removed.compactMap { change in
            guard let root = change.old?.node else { return nil }
            let sameTitle = root.typeName.flatMap { byTitle[$0] } ?? []
            let alike = byFields[root.fieldWords] ?? []
            let other: SchemaChange
            let reason: String
            if sameTitle.count == 1 {
                (other, reason) = (sameTitle[0], "both have the type \(root.typeName ?? "")")
            } else if alike.count == 1, rivals[root.fieldWords]?.count == 1 {
                (other, reason) = (
                    alike[0], "both have the same properties, and no other added collection has them"
                )
            } else {
                return nil
            }
            guard let from = change.namespace, let to = other.namespace else { return nil }
            return RenameHint(removed: change, added: other, rename: "\(from)=\(to)", reason: reason)
        }
    }
}
