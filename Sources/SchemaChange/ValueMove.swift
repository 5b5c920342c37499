public import BSON
public import ServerSchema

/// A field that a schema change renames, or removes while it adds another one that could hold its values.
///
/// The newer clients do not see a value that a document has only under the older name.
public struct ValueMove: Hashable, Sendable {
    /// The collection that has the documents before the newer schema is deployed.
    public let namespace: Namespace
    /// The path of the field in the older schema.
    public let old: SchemaPath
    /// The path of the field in the newer schema.
    public let new: SchemaPath
    /// Whether the rename is known, from the operator or from `@map`; otherwise, it may be none.
    public let isStated: Bool
    /// The number of documents that hold the older field and lack the newer one; `nil` if they were not counted.
    public var documents: Int?

    /// The lines of `shipshape.yml` that settle whether the removal is a rename.
    public var lines: [String] {
        let (field, name) = ("\(namespace).\(old)", new.steps.last.map { SchemaPath([$0]).description } ?? "")
        return ["renames: [\("\(field)=\(name)".quotedAsYAML)]", "removed: [\(field.quotedAsYAML)]"]
    }

    /// Whether values may be lost to the newer clients: not, if no document holds only the older field.
    public var isOpen: Bool { documents != 0 }

    /// A filter for the documents that hold the older field and lack the newer one; `nil` for fields in lists.
    public var filter: BSONDocument? {
        let names = [old, new].map { path in
            path.steps.compactMap { step in if case .field(let name) = step { name } else { nil } }
        }
        let isPlain = zip(names, [old, new]).allSatisfy { names, path in
            names.count == path.steps.count && names.allSatisfy { !$0.contains(".") && !$0.hasPrefix("$") }
        }
        guard isPlain else { return nil }
        // A null value is nothing that could be lost.
        return [names[0].joined(separator: "."): ["$ne": .null], names[1].joined(separator: "."): ["$exists": false]]
    }
}

extension SchemaDiff {
    /// The number of moves after which a removed field has only one.
    private static let mostMoves = 1_000

    /// Returns the renamed fields, and each removed field with the first 20 fields of its object that are added and
    /// could hold its values; after 1,000 moves, with the first of these fields only.
    /// - Parameters:
    ///   - removed: the fields that the operator states as removed for good, as `DATABASE.COLLECTION.PATH`.
    ///   - renames: the renames that the operator states; the newer name may be in both schemas, because a rename may
    ///     take several deploys.
    static func moves(in changes: [SchemaChange], removed: [String], renames: [Rename]) -> [ValueMove] {
        let stated = changes.filter { $0.code == .propertyRenamed }.compactMap { change in
            change.oldNamespace.map { ValueMove(namespace: $0, old: change.oldPath, new: change.path, isStated: true) }
        }
        struct Holder: Hashable {
            let namespace: Namespace?
            let path: ArraySlice<SchemaPath.Step>
        }
        // The changes of a large schema are not copied.
        let additions = changes.indices.filter { [.requiredAdded, .optionalAdded].contains(changes[$0].code) }
        let added = Dictionary(grouping: additions) {
            Holder(namespace: changes[$0].namespace, path: changes[$0].path.steps.dropLast())
        }
        let done = Set(removed)
        let names = Dictionary(renames.map { ($0.old, $0.new) }) { first, _ in first }
        var moves = stated
        for change in changes where change.code == .propertyRemoved {
            guard let namespace = change.oldNamespace, let old = change.old?.node,
                !done.contains("\(namespace).\(change.oldPath)")
            else { continue }
            let parent = change.path.steps.dropLast()
            if let name = names["\(namespace).\(change.oldPath)"] {
                let path = SchemaPath(Array(parent)).appending(.field(name))
                moves.append(ValueMove(namespace: namespace, old: change.oldPath, new: path, isStated: true))
                continue
            }
            let others = (added[Holder(namespace: change.namespace, path: parent)] ?? []).lazy.map { changes[$0] }
            let fitting = others.filter { $0.new?.node.map { $0.canHold(old) } == true }
            for other in fitting.prefix(moves.count < mostMoves ? 20 : 1) {
                moves.append(ValueMove(namespace: namespace, old: change.oldPath, new: other.path, isStated: false))
            }
        }
        return moves
    }
}

extension SchemaNode {
    /// Whether a field of this schema could hold the values of another field as they are.
    fileprivate func canHold(_ other: SchemaNode) -> Bool {
        guard isEmbedded == other.isEmbedded, types.contains(where: other.types.contains) else { return false }
        guard case .each(let element) = items, case .each(let written) = other.items else { return true }
        return element.canHold(written)
    }
}
