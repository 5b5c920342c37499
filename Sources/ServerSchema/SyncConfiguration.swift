public import BSON

/// How an app syncs.
///
/// Source: `sync/config.json`, and the service's configuration in legacy exports; `semantics.md` sections 2.3 and 2.4
/// of the project's reference.
public struct SyncConfiguration: Sendable {
    /// How clients choose the documents that they sync.
    public enum Mode: Hashable, Sendable {
        /// By queries over queryable fields.
        case flexible
        /// By the value of one field.
        case partition(PartitionKey)
    }

    /// Whether sync runs.
    public enum State: String, Hashable, Sendable {
        /// Every write is seen by clients at once.
        case enabled
        /// Nothing is passed on until it is resumed.
        case paused
        /// It was taken down with all its metadata, and begins anew when it is enabled.
        case terminated
    }

    /// The field that divides the documents among partitions.
    public struct PartitionKey: Hashable, Sendable {
        /// The field's name.
        public var field: String
        /// The type of its values.
        public var type: SchemaType
        /// Whether a document must have it; `nil` when only the schemas say so.
        public var isRequired: Bool?

        /// Joins the parts.
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
    /// Further queryable fields, by the name of a collection or of an object type.
    public var collectionQueryableFields: [String: [String]] = [:]
    /// Collections that clients only write to, by the name of a collection or of an object type.
    public var asymmetricTables: [String] = []
    /// Whether a client that was reset may not upload what it had not yet sent.
    public var isRecoveryDisabled = false
    /// The days after which a client that was offline is reset; `nil` for the service's default of 30.
    public var clientMaximumOfflineDays: Int?
    /// Whether it holds roles of its own: the first exports of flexible mode had no other.
    public var hasRoles = false
    /// Where the configuration begins.
    public var location: SourceLocation
    /// Where its keys stand, by `key` and, for an entry of a list, `key.entry`.
    package var places: [String: SourceLocation] = [:]

    /// A configuration with nothing switched on.
    public init(mode: Mode, location: SourceLocation) {
        self.mode = mode
        self.location = location
    }

    /// Where a key stands; where the configuration begins when the file has no such key.
    package func place(of key: String) -> SourceLocation { places[key] ?? location }

    /// Whether a collection is one that clients only write to.
    public func isAsymmetric(_ collection: CollectionSchema) -> Bool {
        asymmetricTables.contains { $0 == collection.namespace.collection || $0 == collection.root.title }
    }

    /// Whether the collection's data source is the one that syncs; so it is where either is not known.
    public func covers(_ collection: CollectionSchema) -> Bool {
        guard let service, let own = collection.service else { return true }
        return service == own
    }
}

/// How much a collection has to do with sync.
///
/// Source: `semantics.md` sections 2.3 and 5.1 of the project's reference.
public enum SyncScope: String, Hashable, Sendable, Codable {
    /// Clients read its documents.
    case synced
    /// Clients only write to it, so that no document of it can be missing for a reader: Data Ingest.
    case asymmetric
    /// It stands in a data source that does not sync.
    case outside
}

extension ServerSchema {
    /// How much a collection has to do with sync; what the export does not tell counts as synced.
    public func scope(of collection: CollectionSchema) -> SyncScope {
        guard let sync else { return .synced }
        if !sync.covers(collection) { return .outside }
        return sync.isAsymmetric(collection) ? .asymmetric : .synced
    }

    /// Leaves one collection to be asked about; the others stay known as what its links may lead to.
    public mutating func narrow(to namespace: Namespace) {
        neighbours += collections.filter { $0.namespace != namespace }
        collections.removeAll { $0.namespace != namespace }
    }
}
