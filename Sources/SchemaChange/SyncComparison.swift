internal import BSON
import ServerSchema

/// Compares the sync configurations of two versions of an app, as far as both exports contain them.
struct SyncComparison {
    let old: ServerSchema
    let new: ServerSchema
    let map: RenameMap

    init(from old: ServerSchema, to new: ServerSchema, renames map: RenameMap) {
        (self.old, self.new, self.map) = (old, new, map)
    }

    /// The changes of the sync configuration that affect the whole app.
    var ofApp: [SchemaChange] {
        guard let before = old.sync, let after = new.sync else { return [] }
        var changes: [SchemaChange] = []
        func note(_ kind: ChangeKind, _ key: String, _ description: String) {
            changes.append(
                SchemaChange(
                    kind: kind, namespace: nil, path: SchemaPath(), oldNamespace: nil, oldPath: SchemaPath(),
                    old: before.side(key), new: after.side(key), description: description))
        }
        if let from = before.service, let to = after.service, from != to {
            note(.dataSourceChanged, "service_name", "sync moves from data source \(from) to \(to)")
        }
        switch (before.mode, after.mode) {
        case (.partition(let from), .partition(let to)) where from.field != to.field || from.type != to.type:
            note(.partitionKeyChanged, "partition", "partition key: \(from.words) → \(to.words)")
        case (.partition, .flexible):
            note(.syncModeChanged, "type", "partition-based sync becomes flexible sync")
        case (.flexible, .partition):
            note(.syncModeChanged, "type", "flexible sync becomes partition-based sync")
        default: break
        }
        let (from, to) = (before.indexedQueryableFields, after.indexedQueryableFields)
        if Set(from) != Set(to) {
            note(
                .indexedQueryableChanged, "indexed_queryable_fields_names",
                "indexed queryable field: \(Self.list(from)) → \(Self.list(to))")
        }
        return changes
    }

    /// Returns the changes to how one collection syncs; empty if one of the two versions does not have the collection.
    func ofCollection(from earlier: CollectionSchema?, to later: CollectionSchema?) -> [SchemaChange] {
        guard let earlier, let later else { return [] }
        var changes: [SchemaChange] = []
        func note(
            _ kind: ChangeKind, _ path: SchemaPath, _ description: String, from: SchemaChange.Side?,
            to: SchemaChange.Side?
        ) {
            changes.append(
                SchemaChange(
                    kind: kind, namespace: later.namespace, path: path, oldNamespace: earlier.namespace, oldPath: path,
                    old: from, new: to, description: description))
        }
        if let from = earlier.service, let to = later.service, from != to {
            note(
                .dataSourceChanged, SchemaPath(), "moves from data source \(from) to \(to)", from: earlier.side,
                to: later.side)
        }
        guard let before = old.sync, let after = new.sync else { return changes }
        if before.isAsymmetric(earlier) != after.isAsymmetric(later) {
            note(
                .asymmetricChanged, SchemaPath(),
                after.isAsymmetric(later) ? "clients only write to it from now on" : "clients read it from now on",
                from: before.side("asymmetric_tables"), to: after.side("asymmetric_tables"))
        }
        let known = Set(
            before.queryable(in: earlier).map { field in
                map.newName(of: SchemaPath([.field(field)]), in: earlier.namespace) ?? field
            })
        let now = after.queryable(in: later)
        for field in known.subtracting(now).sorted() where later.root.property(field) != nil {
            note(
                .queryableRemoved, SchemaPath([.field(field)]), "clients can no longer query by \(field)",
                from: before.side("queryable_fields_names"), to: after.side("queryable_fields_names"))
        }
        for field in now.subtracting(known).sorted() {
            note(
                .queryableAdded, SchemaPath([.field(field)]), "clients can query by \(field)",
                from: before.side("queryable_fields_names"), to: after.side("queryable_fields_names"))
        }
        return changes
    }

    private static func list(_ fields: [String]) -> String {
        fields.isEmpty ? "none" : fields.sorted().joined(separator: ", ")
    }
}

extension SyncConfiguration {
    fileprivate func side(_ key: String) -> SchemaChange.Side {
        SchemaChange.Side(namespace: nil, path: SchemaPath(), node: nil, location: place(of: key))
    }

    /// Returns the fields by which clients can query a collection; empty if clients do not choose documents by queries.
    ///
    /// The field `_id` is left out, because it is always queryable.
    fileprivate func queryable(in collection: CollectionSchema) -> Set<String> {
        guard mode == .flexible else { return [] }
        let declared = queryableFields.filter { collection.root.property($0) != nil }
        let own = [collection.namespace.collection, collection.root.title].compactMap(\.self)
            .flatMap { collectionQueryableFields[$0] ?? [] }
        return Set(declared + own).subtracting(["_id"])
    }
}

extension SyncConfiguration.PartitionKey {
    fileprivate var words: String { "\(field) (\(type.rawValue))" }
}

extension CollectionSchema {
    fileprivate var side: SchemaChange.Side {
        SchemaChange.Side(namespace: namespace, path: SchemaPath(), node: root, location: root.location)
    }
}
