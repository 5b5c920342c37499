internal import BSON
public import ServerSchema

/// Finds what changed between two versions of a server schema.
///
/// A rename of a property or of a collection cannot be told from a removal and an addition, and is never guessed.
public enum SchemaDiff {
    /// The changes of one collection's schema, in the order of the schemas.
    ///
    /// Of each object first what goes, in the order of `old`, then what comes or changes, in the order of `new`.
    public static func changes(from old: CollectionSchema, to new: CollectionSchema) -> [SchemaChange] {
        var comparison = Comparison(namespace: new.namespace)
        comparison.compareRoots(old.root, new.root)
        return comparison.changes
    }

    /// The changes of all collections, by namespace.
    public static func changes(from old: ServerSchema, to new: ServerSchema) -> [SchemaChange] {
        let namespaces = Set((old.collections + new.collections).map(\.namespace)).sorted()
        return namespaces.flatMap { changes(of: $0, from: old[$0], to: new[$0]) }
    }

    private static func changes(
        of namespace: Namespace, from old: CollectionSchema?, to new: CollectionSchema?
    ) -> [SchemaChange] {
        if let old, let new { return changes(from: old, to: new) }
        var comparison = Comparison(namespace: namespace)
        if let old { comparison.remove(type: old.root) }
        if let new { comparison.add(type: new.root) }
        return comparison.changes
    }
}
