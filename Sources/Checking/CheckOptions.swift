import BSON
public import ServerSchema

/// What a check assumes about the app.
public struct CheckOptions: Hashable, Sendable {
    /// Whether a `mixed` value may be an array or an object: true of apps created since 2024-05-28.
    public var allowsMixedCollections = true
    /// Whether null in an optional field is a possible failure, as data-access validation has it while the app's
    /// null-type switch is off.
    ///
    /// Sync itself accepts such a null. Source: `semantics.md`, sections 2.5 and 5.3 of the project's reference.
    public var refusesNulls = false
    /// Whether the documents of collections that clients only write to count in the verdict.
    public var countsAsymmetric = false

    /// The defaults.
    public init() {}
}

/// What the app's export says of sync, as far as it decides what a deploy does.
public struct SyncCircumstances: Hashable, Sendable {
    /// Whether sync runs; `nil` where no export says it.
    public var state: SyncConfiguration.State?
    /// When it was paused, as seconds since 1970.
    public var pausedAt: Int?
    /// Whether clients may change the schemas, by breaking changes too.
    public var isInDevelopment: Bool

    /// What is known of the app: of the schema that is live, else of the new one.
    public init(active: SyncConfiguration?, new: SyncConfiguration?) {
        let known = active ?? new
        state = known?.state
        pausedAt = known?.pausedAt
        isInDevelopment = known?.isInDevelopment ?? false
    }
}

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
