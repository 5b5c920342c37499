public import BSON

/// The sync configuration of an app.
///
/// Source: `sync/config.json`, and the service's configuration in legacy exports; `semantics.md` sections 2.3 and 2.4
/// of the project's reference.
public struct SyncConfiguration: Sendable {
    /// How clients choose the documents that they sync.
    public enum Mode: Hashable, Sendable {
        /// Clients choose by queries over queryable fields.
        case flexible
        /// Clients choose by the value of one field.
        case partition(PartitionKey)
    }

    /// Whether sync runs.
    public enum State: String, Hashable, Sendable {
        /// Clients see every write at once.
        case enabled
        /// Sync passes on no write until it is resumed.
        case paused
        /// Sync was removed with all its metadata, and starts from scratch when it is enabled.
        case terminated
    }

    /// The field that divides the documents among partitions.
    public struct PartitionKey: Hashable, Sendable {
        /// The field's name.
        public var field: String
        /// The type of its values.
        public var type: SchemaType
        /// Whether a document must have the field; `nil` if the configuration leaves that to the schemas.
        public var isRequired: Bool?

        /// Creates a partition key from its parts.
        public init(field: String, type: SchemaType, isRequired: Bool? = nil) {
            self.field = field
            self.type = type
            self.isRequired = isRequired
        }
    }

    /// How clients choose the documents that they sync.
    public var mode: Mode
    /// Whether sync runs; `nil` when the export does not say.
    public var state: State?
    /// When sync was paused, as seconds since 1970; `nil` when the export does not say.
    public var pausedAt: Int?
    /// Whether clients may change the schemas.
    public var isInDevelopment = false
    /// The data source that syncs; `nil` when the export does not name it.
    public var service: String?
    /// The fields that queries may use in every collection that has them.
    public var queryableFields: [String] = []
    /// The queryable fields that are indexed; one at most is allowed.
    public var indexedQueryableFields: [String] = []
    /// Further queryable fields for single collections, by the name of the collection or of its object type.
    public var collectionQueryableFields: [String: [String]] = [:]
    /// The collections that clients only write to, each given by its name or by the name of its object type.
    public var asymmetricTables: [String] = []
    /// Whether a client that was reset must not upload changes that it had not yet sent.
    public var isRecoveryDisabled = false
    /// The days after which a client that was offline is reset; `nil` for the service's default of 30.
    public var clientMaximumOfflineDays: Int?
    /// Whether the configuration itself contains roles.
    ///
    /// The first exports of flexible mode had no other roles.
    public var hasRoles = false
    /// The position in the file where the configuration begins.
    public var location: SourceLocation
    /// The positions of the configuration's keys in the file, by `key` and, for an entry of a list, by `key.entry`.
    package var places: [String: SourceLocation] = [:]

    /// Creates a configuration with nothing switched on.
    public init(mode: Mode, location: SourceLocation) {
        self.mode = mode
        self.location = location
    }

    /// Returns the position of a key; the beginning of the configuration when the file has no such key.
    package func place(of key: String) -> SourceLocation { places[key] ?? location }

    /// Whether a collection is one that clients only write to.
    public func isAsymmetric(_ collection: CollectionSchema) -> Bool {
        asymmetricTables.contains { $0 == collection.namespace.collection || $0 == collection.root.title }
    }

    /// Whether the collection's data source is the one that syncs; `true` when either data source is not known.
    public func covers(_ collection: CollectionSchema) -> Bool {
        guard let service, let own = collection.service else { return true }
        return service == own
    }
}

/// The role of a collection in sync.
///
/// Source: `semantics.md` sections 2.3 and 5.1 of the project's reference.
public enum SyncScope: String, Hashable, Sendable, Codable {
    /// Clients read the collection's documents.
    case synced
    /// Clients only write to the collection (Data Ingest), so no client can miss a document of it.
    case asymmetric
    /// The collection is in a data source that does not sync.
    case outside
}

extension ServerSchema {
    /// Returns the role of a collection in sync; `synced` when the export does not show it.
    public func scope(of collection: CollectionSchema) -> SyncScope {
        guard let sync else { return .synced }
        if !sync.covers(collection) { return .outside }
        return sync.isAsymmetric(collection) ? .asymmetric : .synced
    }

    /// Keeps only one collection in `collections`; the others become neighbours, because its links may lead to them.
    public mutating func narrow(to namespace: Namespace) { narrow(to: [namespace]) }

    /// Moves all collections but the named ones to ``neighbours``.
    package mutating func narrow(to namespaces: [Namespace]) {
        neighbours += collections.filter { !namespaces.contains($0.namespace) }
        collections.removeAll { !namespaces.contains($0.namespace) }
    }
}
