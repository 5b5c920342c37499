internal import BSON

/// Lint rules for the partition key: `partition-key-undefined`, `partition-key-type`.
enum PartitionLint {
    private static let types: Set<SchemaType> = [.string, .objectId, .long, .int, .uuid]

    static func findings(in context: LintContext) -> [LintFinding] {
        guard let sync = context.schema.sync, case .partition(let key) = sync.mode else { return [] }
        var findings: [LintFinding] = []
        if !types.contains(key.type) {
            findings.append(
                LintFinding(
                    .partitionKeyType, .error, at: sync.place(of: "partition.type"),
                    "a partition key cannot be of type \(key.type.rawValue)",
                    remedy: "use string, objectId, long or uuid"))
        }
        return findings + context.synced.compactMap { check($0, key) }
    }

    private static func check(_ collection: CollectionSchema, _ key: SyncConfiguration.PartitionKey) -> LintFinding? {
        guard let node = collection.root.property(key.field) else {
            return LintFinding(
                .partitionKeyUndefined, .error, namespace: collection.namespace, at: collection.root.location,
                "properties do not name \(key.field), the partition key",
                remedy: "define it with bsonType \"\(key.type.rawValue)\"")
        }
        guard node.types.map(width) != [width(key.type)] else { return nil }
        let found = node.types.isEmpty ? "no type" : "the type \(node.types.map(\.rawValue).joined(separator: ", "))"
        return LintFinding(
            .partitionKeyType, .error, namespace: collection.namespace, path: SchemaPath([.field(key.field)]),
            at: node.location, "the partition key has \(found), but the sync configuration says \(key.type.rawValue)",
            remedy: "make them equal")
    }

    /// Returns long for int, because clients do not distinguish the two; returns every other type unchanged.
    private static func width(_ type: SchemaType) -> SchemaType { type == .int ? .long : type }
}
