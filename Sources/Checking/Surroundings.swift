import BSON
import ServerSchema

/// What the rest of an app says about the documents of one of its collections.
struct Surroundings {
    /// The field that divides the documents among partitions; `nil` under Flexible Sync, and where the collection does not
    /// sync.
    private(set) var partition: SyncConfiguration.PartitionKey?
    /// The collections that sync; `nil` when they are not known, as with a single schema file.
    private(set) var synced: [CollectionSchema]?
    private var schemas: [Namespace: SchemaNode] = [:]

    init(of collection: CollectionSchema, in app: ServerSchema?) {
        guard let app else { return }
        let collections = app.collections + app.neighbours
        schemas = Dictionary(collections.map { ($0.namespace, $0.root) }) { first, _ in first }
        guard let sync = app.sync, app.scope(of: collection) != .outside else { return }
        if case .partition(let key) = sync.mode { partition = key }
        if app.isWhole { synced = collections.filter { app.scope(of: $0) == .synced } }
    }

    /// The types of the keys that a link is compared with; `nil` when the other collection's schema is not known.
    func keyTypes(of link: Relationship) -> [SchemaType]? {
        guard let types = schemas[link.target]?.property(link.foreignKey)?.types, !types.isEmpty else { return nil }
        return types
    }
}

extension TypeMask {
    /// The types of a key: the client has one integer type, so that `int` and `long` are the same.
    init(keyOf types: [SchemaType]) {
        let mask = TypeMask(types.map { TypeMask($0) })
        self = mask.isDisjoint(with: .integers) ? mask : mask.union(.integers)
    }
}
