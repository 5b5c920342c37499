internal import BSON

/// The lint rule for the field that Flexible Sync indexes for its queries: `indexed-queryable`.
enum IndexedQueryableLint {
    private static let types: Set<SchemaType> = [.int, .long, .string, .objectId, .uuid]

    static func findings(in context: LintContext) -> [LintFinding] {
        guard let sync = context.schema.sync, sync.mode == .flexible else { return [] }
        var findings: [LintFinding] = []
        if let second = sync.indexedQueryableFields.dropFirst().first {
            findings.append(
                finding(second, .error, sync, "only one indexed queryable field is allowed", remedy: "keep one"))
        }
        let collections = context.synced.filter { !sync.isAsymmetric($0) }
        return findings + sync.indexedQueryableFields.flatMap { check($0, sync, collections) }
    }

    private static func check(
        _ field: String, _ sync: SyncConfiguration, _ collections: [CollectionSchema]
    ) -> [LintFinding] {
        var findings: [LintFinding] = []
        if !sync.queryableFields.contains(field) {
            findings.append(
                finding(
                    field, .error, sync, "\(field) is indexed but not listed in queryable_fields_names",
                    remedy: "list it there too"))
        }
        var first: (type: SchemaType, namespace: Namespace)?
        for collection in collections {
            guard let node = collection.root.property(field) else {
                findings.append(
                    finding(
                        field, .warning, sync,
                        "\(collection.namespace) does not have the indexed queryable field \(field)"))
                continue
            }
            guard let own = node.types.first, node.types.count == 1 else { continue }
            // Clients do not distinguish int from long.
            let type = own == .int ? .long : own
            guard types.contains(type) else {
                findings.append(
                    finding(
                        field, .error, sync,
                        "\(field) of \(collection.namespace) is of type \(own.rawValue), which cannot be indexed",
                        remedy: "use int, long, string, objectId or uuid"))
                continue
            }
            if let first, first.type != type {
                findings.append(
                    finding(
                        field, .error, sync,
                        "\(field) is of type \(own.rawValue) in \(collection.namespace), but of another in "
                            + "\(first.namespace)", remedy: "use one type everywhere"))
            }
            first = first ?? (type, collection.namespace)
        }
        return findings
    }

    private static func finding(
        _ field: String, _ level: LintFinding.Level, _ sync: SyncConfiguration, _ message: String, remedy: String? = nil
    ) -> LintFinding {
        LintFinding(
            .indexedQueryable, level, at: sync.place(of: "indexed_queryable_fields_names.\(field)"), message,
            remedy: remedy)
    }
}
