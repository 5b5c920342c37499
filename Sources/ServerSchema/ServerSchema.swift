public import BSON

/// A dialect of schemas, which decides how a schema is read and which documents are valid.
public enum Dialect: String, Hashable, Sendable {
    /// The dialect of Atlas App Services and Device Sync.
    case appServices = "appservices"
    /// The dialect of MongoDB's own `$jsonSchema`.
    case jsonSchema = "jsonschema"
    /// The dialect of Prisma: the types and the rules for null of a Prisma client that reads from MongoDB.
    case prisma
}

extension Dialect {
    /// Whether the dialect belongs to Device Sync, which records unsynced documents in a ledger and limits their
    /// number.
    public var isOfSync: Bool { self == .appServices }
}

/// The schema of one collection.
public struct CollectionSchema: Sendable {
    /// The collection that the schema covers.
    public var namespace: Namespace
    /// The schema that each document must fit.
    public var root: SchemaNode
    /// The dialect in which the schema is written.
    public var dialect: Dialect
    /// The embedded types of a Prisma schema, by their names; empty in other dialects.
    ///
    /// Each type is described once; types inside it are only referred to (``SchemaNode/isReference``).
    package var types: [String: SchemaNode] = [:]
    /// The unique indexes that the collection shall get.
    public var uniqueKeys: [UniqueKey] = []
    /// The data source of the collection; `nil` if neither the path nor the content of the schema file names it.
    public var service: String?
    /// The links from the collection's documents to other documents.
    public var relationships: [Relationship] = [] {
        didSet { links = relationships.isEmpty ? nil : LinkIndex(relationships) }
    }
    private(set) var links: LinkIndex?
    /// The relations of a Prisma model whose keys are in the collection's documents; empty in other dialects.
    public var relations: [PrismaRelation] = []

    /// Creates the schema of a collection.
    public init(namespace: Namespace, root: SchemaNode, dialect: Dialect = .appServices) {
        (self.namespace, self.root, self.dialect) = (namespace, root, dialect)
    }
}

extension CollectionSchema {
    /// The name of the collection in the programs of a Prisma client, such as `user`; `nil` in other dialects.
    package var clientName: String? {
        guard dialect == .prisma, let title = root.title else { return nil }
        return title.prefix(1).lowercased() + title.dropFirst()
    }
}

/// The schemas of the collections of an app or a database.
public struct ServerSchema: Sendable {
    /// The dialect in which all schemas are written.
    public var dialect: Dialect
    /// The schemas of the collections, sorted by namespace, without those in ``neighbours``.
    public var collections: [CollectionSchema]
    /// The app's internal id of 24 hexadecimal digits, by which the ledger of unsynced documents names the app; `nil`
    /// if it is not known.
    ///
    /// Exports rarely contain this id.
    public var appID: String?
    /// The app's name; `nil` if the export does not state it.
    public var appName: String?
    /// The id by which clients know the app: its name with a random suffix; `nil` if it is not known.
    public var clientAppID: String?
    /// The sync configuration of the app; `nil` if the export does not contain it.
    public var sync: SyncConfiguration?
    /// The app's data sources, if its export describes them, sorted by name.
    public var dataSources: [DataSource] = []
    /// The access rules; empty unless the schemas were read for lint.
    package var rules: [AccessRules] = []
    /// Whether a single file was read, so that nothing is known about other collections.
    package var isOneFile = false
    /// The collections of the app that the caller did not ask for.
    ///
    /// Links of the collections in ``collections`` may lead to these collections.
    public var neighbours: [CollectionSchema] = []
    /// Whether ``collections`` and ``neighbours`` together contain all collections of the app.
    ///
    /// If `true`, a DBRef to a collection in neither list leads to a document that does not sync.
    public var isWhole = false
    /// The reader's notes, for example on unknown keywords, keywords that no rule evaluates, and skipped files.
    public var notes: [SchemaNote] = []
    /// The Prisma schema that the schemas were converted from; `nil` in other dialects.
    package var prisma: PrismaSchema?
    /// Whether the schemas are the validators of a contract of Prisma 8.
    package var isContract = false
    /// Whether the schemas are validators of what a Prisma client reads, which no server gets.
    package var isOfClient = false
    /// The dialect in whose words reports speak of the schemas.
    package var spokenDialect: Dialect { isOfClient ? .prisma : dialect }
    /// The files that the schemas depend on, with their texts.
    ///
    /// A job stores these texts when it starts, and continues only while the files still have the same texts.
    public var sources: [SchemaSource] = []

    /// Creates the schemas of an app or a database.
    public init(dialect: Dialect, collections: [CollectionSchema]) {
        self.dialect = dialect
        self.collections = collections
    }
}

/// A file on which the schemas depend, with its text as it was read.
public struct SchemaSource: Hashable, Sendable {
    /// The path below the folder that the user named.
    ///
    /// For a single file, the name of the file; for a live validator, the namespace.
    public var path: String
    /// The file's text.
    public var text: String

    /// Creates a source from its path and its text.
    public init(path: String, text: String) {
        self.path = path
        self.text = text
    }
}

extension ServerSchema {
    /// Returns a copy for another database: the collections of the database `own`, and the links to them, are moved to
    /// `database`.
    ///
    /// All other collections and links stay as they are.
    package func moved(from own: String, to database: String) -> ServerSchema {
        var schema = self
        for index in schema.collections.indices { schema.collections[index].move(from: own, to: database) }
        for index in schema.neighbours.indices { schema.neighbours[index].move(from: own, to: database) }
        return schema
    }
}

extension CollectionSchema {
    /// Whether a name in a sync configuration means this collection.
    ///
    /// The configuration names either a collection or the object type of a collection.
    func isNamed(_ name: String) -> Bool { namespace.collection == name || root.title == name }

    fileprivate mutating func move(from own: String, to database: String) {
        namespace = namespace.moved(from: own, to: database)
        relationships = relationships.map { link in
            var link = link
            link.target = link.target.moved(from: own, to: database)
            return link
        }
        for index in relations.indices {
            relations[index].target = relations[index].target.moved(from: own, to: database)
        }
    }
}

extension Namespace {
    /// Returns the collection with the same name in the database `other`.
    ///
    /// A collection that is not in the database `own` stays as it is.
    package func moved(from own: String, to other: String) -> Namespace {
        database == own ? Namespace(database: other, collection: collection) : self
    }
}
