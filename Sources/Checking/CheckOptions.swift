import BSON
public import ServerSchema

/// The assumptions about the app that a check makes when it judges documents.
public struct CheckOptions: Hashable, Sendable {
    /// Whether a `mixed` value may be an array or an object: true of apps created since 2024-05-28.
    public var allowsMixedCollections = true
    /// Whether null in an optional field counts as a possible failure.
    ///
    /// Data-access validation refuses such a null while the app's null-type switch is off. Sync itself accepts it.
    /// Source: `semantics.md`, sections 2.5 and 5.3 of the project's reference.
    public var refusesNulls = false
    /// Whether the documents of asymmetric collections, to which clients only write, count in the verdict.
    public var countsAsymmetric = false
    /// The sync engine whose rules judge the documents in addition to the schema; `nil` if only the schema judges.
    public var engine: EngineSettings?

    /// Creates the default options.
    public init() {}
}

/// The sync settings in the app's export, such as development mode, that affect whether a new schema is safe to deploy.
public struct SyncCircumstances: Hashable, Sendable {
    /// Whether sync is enabled, paused or terminated; `nil` if no export says so.
    public var state: SyncConfiguration.State?
    /// The time at which sync was paused, in seconds since 1970; `nil` if the export does not say.
    public var pausedAt: Int?
    /// Whether development mode is on, in which clients may change the schemas, even by breaking changes.
    public var isInDevelopment: Bool

    /// Takes the settings from the export of the active schema, or from that of the new schema if `active` is `nil`.
    public init(active: SyncConfiguration?, new: SyncConfiguration?) {
        let known = active ?? new
        state = known?.state
        pausedAt = known?.pausedAt
        isInDevelopment = known?.isInDevelopment ?? false
    }
}

/// Facts about the app that are needed to judge the documents of one collection: the app's partition key, and the
/// schemas of its other collections.
struct SchemaContext {
    /// The field whose value assigns a document to a partition.
    ///
    /// `nil` in three cases: there is no app, the app does not sync by partitions, or the collection does not sync.
    private(set) var partition: SyncConfiguration.PartitionKey?
    /// The collections that sync; `nil` if not all of them are known, or if the judged collection itself does not sync.
    private(set) var synced: [CollectionSchema]?
    private var schemas: [Namespace: SchemaNode] = [:]

    init(of collection: CollectionSchema, in app: ServerSchema?) {
        guard let app else { return }
        // Most collections of most schemas have no links, and a schema may have thousands of collections.
        if !collection.relationships.isEmpty {
            let targets = Set(collection.relationships.map(\.target))
            for other in app.collections + app.neighbours where targets.contains(other.namespace) {
                schemas[other.namespace] = schemas[other.namespace] ?? other.root
            }
        }
        guard let sync = app.sync, app.scope(of: collection) != .outside else { return }
        if case .partition(let key) = sync.mode { partition = key }
        if app.isWhole { synced = (app.collections + app.neighbours).filter { app.scope(of: $0) == .synced } }
    }

    /// Returns the types of the field to which a link leads, as the schema of the linked collection names them.
    /// - Returns: `nil` if the schema of the linked collection is not known, or if it names no type for the field.
    func keyTypes(of link: Relationship) -> [SchemaType]? {
        guard let types = schemas[link.target]?.property(link.foreignKey)?.types, !types.isEmpty else { return nil }
        return types
    }
}

extension TypeMask {
    /// Creates the mask of the types that a key may have if its schema names `types`.
    ///
    /// If `types` contains `int` or `long`, the mask contains both, because the client has one integer type.
    init(keyOf types: [SchemaType]) {
        let mask = TypeMask(types.map { TypeMask($0) })
        self = mask.isDisjoint(with: .integers) ? mask : mask.union(.integers)
    }
}
