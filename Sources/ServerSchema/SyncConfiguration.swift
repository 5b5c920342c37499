public import BSON

/// The sync configuration of an app.
///
/// Source: `sync/config.json`, and the service's configuration in legacy exports; `semantics.md` sections 2.3 and 2.4
/// of the project's reference.
public struct SyncConfiguration: Sendable {
    /// The way in which clients choose the documents that they sync.
    public enum Mode: Hashable, Sendable {
        /// Clients choose documents by queries over queryable fields.
        case flexible
        /// Clients choose documents by the value of one field.
        case partition(PartitionKey)
    }

    /// The state of sync.
    public enum State: String, Hashable, Sendable {
        /// Sync runs: clients soon see every write.
        case enabled
        /// Sync is paused: clients see no write until sync is resumed.
        case paused
        /// Sync was ended, and all its metadata were removed; if sync is enabled again, it starts from scratch.
        case terminated
    }

    /// The field whose value decides to which partition a document belongs.
    public struct PartitionKey: Hashable, Sendable {
        /// The name of the field whose value is the partition.
        public var field: String
        /// The type of the field's values.
        public var type: SchemaType
        /// Whether a document must have the field; `nil` if only the schemas decide this.
        public var isRequired: Bool?

        /// Creates a partition key from its parts.
        public init(field: String, type: SchemaType, isRequired: Bool? = nil) {
            self.field = field
            self.type = type
            self.isRequired = isRequired
        }
    }

    /// The way in which clients choose the documents that they sync.
    public var mode: Mode
    /// The state of sync; `nil` if the export does not state it.
    public var state: State?
    /// The time at which sync was paused, in seconds since 1970; `nil` if sync is not paused, or the time is not known.
    public var pausedAt: Int?
    /// Whether clients may change the schemas.
    public var isInDevelopment = false
    /// The data source that syncs; `nil` if the export does not name it.
    public var service: String?
    /// The fields by which clients may query every collection that has them.
    public var queryableFields: [String] = []
    /// The queryable fields that are indexed; at most one is allowed.
    public var indexedQueryableFields: [String] = []
    /// The queryable fields of single collections, by the name of the collection or of its object type.
    ///
    /// Clients may query these fields in addition to ``queryableFields``.
    public var collectionQueryableFields: [String: [String]] = [:]
    /// The collections that clients only write to, each given by its name or by the name of its object type.
    public var asymmetricTables: [String] = []
    /// Whether a client that is reset loses the changes that it has not uploaded.
    public var isRecoveryDisabled = false
    /// The number of days offline after which a client is reset; `nil` for the default of 30.
    public var clientMaximumOfflineDays: Int?
    /// Whether the configuration contains roles.
    ///
    /// The first exports with Flexible Sync have roles only in the sync configuration, not in rules files.
    public var hasRoles = false
    /// The position in the file where the configuration begins.
    public var location: SourceLocation
    /// The positions of the configuration's keys in the file, by key.
    ///
    /// An entry `ENTRY` in the list of the key `KEY` is recorded as `KEY.ENTRY`.
    package var places: [String: SourceLocation] = [:]

    /// Creates a configuration without optional settings.
    public init(mode: Mode, location: SourceLocation) {
        self.mode = mode
        self.location = location
    }

    /// Returns the position of a key; the beginning of the configuration if the file does not have the key.
    package func place(of key: String) -> SourceLocation { places[key] ?? location }

    /// Whether clients only write to the collection, and never read it.
    public func isAsymmetric(_ collection: CollectionSchema) -> Bool {
        asymmetricTables.contains { $0 == collection.namespace.collection || $0 == collection.root.title }
    }

    /// Whether the collection is in the data source that syncs; also `true` if the configuration or the collection's
    /// schema does not name its data source.
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
    /// Clients only write to the collection (Data Ingest), so no client can miss a document in it.
    case asymmetric
    /// The collection is in a data source that does not sync.
    case outside
}

extension ServerSchema {
    /// Returns the role of a collection in sync; `synced` if the app's sync configuration is not known.
    public func scope(of collection: CollectionSchema) -> SyncScope {
        guard let sync else { return .synced }
        if !sync.covers(collection) { return .outside }
        return sync.isAsymmetric(collection) ? .asymmetric : .synced
    }

    /// Keeps only this collection in `collections`, and moves all other collections to `neighbours`, because links may
    /// lead to them.
    public mutating func narrow(to namespace: Namespace) { narrow(to: [namespace]) }

    /// Moves all collections except the given ones to ``neighbours``.
    package mutating func narrow(to namespaces: [Namespace]) {
        neighbours += collections.filter { !namespaces.contains($0.namespace) }
        collections.removeAll { !namespaces.contains($0.namespace) }
    }
}
