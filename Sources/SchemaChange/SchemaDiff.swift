internal import BSON
public import ServerSchema

/// Finds what changed between two versions of a server schema.
///
/// A rename of a property, a type or a collection cannot be told from a removal and an addition, and is never guessed:
/// the operator states it.
public enum SchemaDiff {
    /// The changes of one collection's schema, in the order of the schemas.
    ///
    /// Of each object first what goes, in the order of `old`, then what comes or changes, in the order of `new`.
    public static func changes(from old: CollectionSchema, to new: CollectionSchema) -> [SchemaChange] {
        changes(from: old, to: new, RenameMap())
    }

    /// The changes of all collections, by namespace.
    public static func changes(from old: ServerSchema, to new: ServerSchema) -> [SchemaChange] {
        changes(from: old, to: new, RenameMap())
    }

    /// The changes of all collections, by namespace, where the operator states renames.
    /// - Throws: ``RenameError`` for a rename that names nothing, several things, or what was not renamed.
    public static func changes(
        from old: ServerSchema, to new: ServerSchema, renames: [Rename]
    ) throws(RenameError) -> [SchemaChange] {
        changes(from: old, to: new, try RenameResolver.resolve(renames, from: old, to: new))
    }

    private static func changes(from old: ServerSchema, to new: ServerSchema, _ map: RenameMap) -> [SchemaChange] {
        let before = Dictionary(old.collections.map { (map.newName(of: $0.namespace), $0) }) { first, _ in first }
        let namespaces = Set(before.keys).union(new.collections.map(\.namespace)).sorted()
        return namespaces.flatMap { changes(from: before[$0], to: new[$0], map) }
    }

    private static func changes(
        from old: CollectionSchema?, to new: CollectionSchema?, _ map: RenameMap
    ) -> [SchemaChange] {
        var comparison = Comparison(from: old, to: new, renames: map)
        switch (old, new) {
        case (let old?, let new?):
            if map.collections[old.namespace] == new.namespace {
                comparison.note(
                    .collectionMoved, from: old.root, to: new.root, "\(old.namespace) is moved to \(new.namespace)")
            }
            comparison.compareRoots(old.root, new.root)
        case (let old?, nil): comparison.remove(type: old.root)
        case (nil, let new?): comparison.add(type: new.root)
        case (nil, nil): break
        }
        return comparison.changes
    }
}
