internal import BSON

/// Lint rules for the fields that Flexible Sync queries by: `queryable-unknown`, `queryable-ambiguous`,
/// `queryable-type`, `queryable-none`, `property-name-reserved`.
struct QueryableLint {
    private let context: LintContext
    private let sync: SyncConfiguration
    private let collections: [CollectionSchema]

    static func findings(in context: LintContext) -> [LintFinding] {
        guard let sync = context.schema.sync, sync.mode == .flexible else { return [] }
        let collections = context.synced.filter { !sync.isAsymmetric($0) }
        return QueryableLint(context: context, sync: sync, collections: collections).findings
    }

    private var findings: [LintFinding] {
        let global = sync.queryableFields.flatMap { field in
            check(field, in: collections, at: "queryable_fields_names.\(field)")
        }
        let own = sync.collectionQueryableFields.sorted { $0.key < $1.key }.flatMap { name, fields in
            collection(name) + fields.flatMap { check($0, in: collections.filter { $0.isNamed(name) }, of: name) }
        }
        return global + own + collections.compactMap { none($0) }
    }

    private func check(_ field: String, in collections: [CollectionSchema], of name: String) -> [LintFinding] {
        collections.isEmpty
            ? [] : check(field, in: collections, at: "collection_queryable_fields_names.\(name).\(field)")
    }

    /// Checks one queryable field against the schemas of the collections that clients may query by it.
    /// - Parameter key: the key of the field's entry in the sync configuration, which gives the findings their
    ///   position.
    private func check(_ field: String, in collections: [CollectionSchema], at key: String) -> [LintFinding] {
        var findings = reserved(field, at: key)
        let holders = collections.filter { $0.root.property(field) != nil }
        findings += holders.compactMap { type(of: field, in: $0) }
        guard holders.isEmpty, field != "_id" else { return findings }
        if let first = field.split(separator: ".").first.map(String.init), first != field,
            collections.contains(where: { $0.root.property(first) != nil })
        {
            return findings + [
                finding(
                    .queryableType, .error, at: key,
                    "\(field) is a field of an embedded object, which cannot be queried",
                    remedy: "query by a field of the root")
            ]
        }
        let names = collections.flatMap { $0.root.properties.map(\.name) }
        return findings + [
            finding(
                .queryableUnknown, .warning, at: key, "no schema declares the queryable field \(field)",
                remedy: Spelling.hint(for: field, among: names) ?? "define it, or leave it out")
        ]
    }

    private func reserved(_ field: String, at key: String) -> [LintFinding] {
        guard QueryWord.isReserved(field) else { return [] }
        return [
            finding(
                .propertyNameReserved, .error, at: key,
                "\(field) is a word of the query language, so no query can name it",
                remedy: "rename the field, or leave it out")
        ]
    }

    private func type(of field: String, in collection: CollectionSchema) -> LintFinding? {
        guard let node = collection.root.property(field), !Self.isQueryable(node) else { return nil }
        return LintFinding(
            .queryableType, .error, namespace: collection.namespace, path: SchemaPath([.field(field)]),
            at: node.location, "a queryable field must be a scalar or an array of scalars",
            remedy: "leave it out of the queryable fields")
    }

    private static func isQueryable(_ node: SchemaNode) -> Bool {
        guard node.types == [.array] else { return !node.types.contains(.object) && !node.types.contains(.array) }
        guard case .each(let element) = node.items else { return false }
        return !element.types.contains(.object) && !element.types.contains(.array)
    }

    private func collection(_ name: String) -> [LintFinding] {
        let key = "collection_queryable_fields_names.\(name)"
        let matches = context.schema.collections.filter { $0.isNamed(name) }
        if matches.isEmpty {
            let names = context.schema.collections.flatMap { [$0.namespace.collection, $0.root.title ?? ""] }
            return [
                finding(
                    .queryableUnknown, .warning, at: key, "no schema has a collection or a type \"\(name)\"",
                    remedy: Spelling.hint(for: name, among: names))
            ]
        }
        guard matches.count > 1 else { return [] }
        return [
            finding(
                .queryableAmbiguous, .warning, at: key,
                "\"\(name)\" means \(matches.map(\.namespace.description).joined(separator: " and ")): some exports "
                    + "name collections here, others types")
        ]
    }

    private func none(_ collection: CollectionSchema) -> LintFinding? {
        let fields = sync.queryableFields(of: collection).filter { $0 != "_id" }
        guard !fields.contains(where: { collection.root.property($0) != nil }) else { return nil }
        return LintFinding(
            .queryableNone, .info, namespace: collection.namespace, at: collection.root.location,
            "clients can query it only by _id", remedy: "name a queryable field")
    }

    private func finding(
        _ code: LintFinding.Code, _ level: LintFinding.Level, at key: String, _ message: String, remedy: String? = nil
    ) -> LintFinding {
        LintFinding(code, level, at: sync.place(of: key), message, remedy: remedy)
    }
}

extension SyncConfiguration {
    /// Returns the fields by which clients may query a collection: `_id` and the queryable fields of the configuration.
    ///
    /// The result also has queryable fields that are not in the collection's schema.
    func queryableFields(of collection: CollectionSchema) -> [String] {
        let own = collectionQueryableFields.filter { collection.isNamed($0.key) }.flatMap(\.value)
        return ["_id"] + queryableFields + own
    }
}

/// The reserved words of the Realm Query Language, which cannot be names of queryable fields.
///
/// Source: App Services documentation, "Sync Settings".
enum QueryWord {
    static func isReserved(_ name: String) -> Bool {
        anyCase.contains(name.lowercased()) || exactCase.contains(name)
    }

    private static let anyCase: Set<String> = [
        "and", "asc", "ascending", "beginswith", "between", "contains", "desc", "descending", "distinct", "endswith",
        "falsepredicate", "inf", "infinity", "like", "limit", "nan", "nil", "null", "or", "sort", "subquery",
        "truepredicate",
    ]

    private static let exactCase: Set<String> = [
        "ALL", "ANY", "B64", "FALSE", "IN", "NONE", "NOT", "SOME", "TRUE", "all", "any", "false", "in", "none", "not",
        "oid", "some", "true", "uuid",
    ]
}
