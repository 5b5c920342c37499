public import BSON

/// Whose rules a schema is read and judged by.
public enum Dialect: String, Hashable, Sendable {
    /// Atlas App Services and Device Sync.
    case appServices = "appservices"
    /// MongoDB's own `$jsonSchema`.
    case jsonSchema = "jsonschema"
}

/// The schema of one collection.
public struct CollectionSchema: Sendable {
    /// The collection that it covers.
    public var namespace: Namespace
    /// What each document must be.
    public var root: SchemaNode
    /// Whose rules it was read by.
    public var dialect = Dialect.appServices
    /// The data source that holds the collection; `nil` when the schema's place does not tell.
    public var service: String?
    /// The links of its documents to those of other collections.
    public var relationships: [Relationship] = [] {
        didSet { links = relationships.isEmpty ? nil : LinkIndex(relationships) }
    }
    private(set) var links: LinkIndex?

    /// Joins the two.
    public init(namespace: Namespace, root: SchemaNode) {
        self.namespace = namespace
        self.root = root
    }
}

/// The schemas of all collections of an app or a database.
public struct ServerSchema: Sendable {
    /// Whose rules apply.
    public var dialect: Dialect
    /// One entry per collection that has a schema, sorted by namespace.
    public var collections: [CollectionSchema]
    /// The app's internal id, 24 hexadecimal digits: what the ledger of unsynced documents carries.
    ///
    /// Exports rarely name it.
    public var appID: String?
    /// The app's name, where the export gives it.
    public var appName: String?
    /// The id by which clients know the app: its name with a random suffix.
    public var clientAppID: String?
    /// How the app syncs; `nil` when the export does not say.
    public var sync: SyncConfiguration?
    /// The app's data sources, where its export describes them, sorted by name.
    public var dataSources: [DataSource] = []
    /// The access rules, where they were asked for.
    package var rules: [AccessRules] = []
    /// Whether one file was read, so that nothing is known of other collections.
    package var isOneFile = false
    /// Further collections of the app, which were not asked for: what the links of the others may lead to.
    public var neighbours: [CollectionSchema] = []
    /// Whether `collections` and `neighbours` are all that the app has: a DBRef to any other leads to nothing that syncs.
    public var isWhole = false
    /// What the reader noticed and passed over: unknown or not yet evaluated keywords, skipped files.
    public var notes: [SchemaNote] = []
    /// Every file that the schemas depend on, with its text: what a job is bound to.
    public var sources: [SchemaSource] = []

    /// Joins the parts.
    public init(dialect: Dialect, collections: [CollectionSchema]) {
        self.dialect = dialect
        self.collections = collections
    }
}

/// A schema file that was read.
public struct SchemaSource: Hashable, Sendable {
    /// Its path below the folder that the user named; for a single file its name.
    public var path: String
    /// Its text.
    public var text: String

    /// Joins the two.
    public init(path: String, text: String) {
        self.path = path
        self.text = text
    }
}

extension ServerSchema {
    /// The same schemas for the collections of another database, and the links between them.
    package func moved(from own: String, to database: String) -> ServerSchema {
        var schema = self
        for index in schema.collections.indices { schema.collections[index].move(from: own, to: database) }
        for index in schema.neighbours.indices { schema.neighbours[index].move(from: own, to: database) }
        return schema
    }
}

extension CollectionSchema {
    fileprivate mutating func move(from own: String, to database: String) {
        namespace = namespace.moved(from: own, to: database)
        relationships = relationships.map { link in
            var link = link
            link.target = link.target.moved(from: own, to: database)
            return link
        }
    }
}

extension Namespace {
    /// The collection of that name in another database; one that is not in `own` stays.
    package func moved(from own: String, to other: String) -> Namespace {
        database == own ? Namespace(database: other, collection: collection) : self
    }
}
