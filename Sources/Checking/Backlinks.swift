public import BSON
public import ServerSchema

/// The number of links of an app to each object of a type that becomes an embedded type.
///
/// The clients' own migration requires exactly one link to each object, counted over all places of all types.
/// Source: `semantics.md` section 9.
public struct Backlinks: Hashable, Sendable {
    /// The collection of the linked documents.
    public var target: Namespace
    /// The places of the app that link to the collection and were read.
    public var places: [Place]
    /// The places that were not read because they are in another database, and no server joins two databases.
    public var unread: [Place]
    /// The documents without a link; the clients' migration would lose them.
    public var without = Objects()
    /// The documents with one link.
    public var one = Objects()
    /// The documents with several links, which may all come from one document.
    public var several = Objects()
    /// The number of links that hold an embedded object already; a document without a link may be embedded there.
    public var embedded = 0

    /// A place that holds links.
    public struct Place: Hashable, Sendable {
        /// The collection of the documents that link.
        public var namespace: Namespace
        /// The place of the keys in those documents.
        public var path: SchemaPath

        /// Creates a place.
        public init(namespace: Namespace, path: SchemaPath) {
            self.namespace = namespace
            self.path = path
        }
    }

    /// A number of documents, and a few of their `_id`s.
    public struct Objects: Hashable, Sendable {
        /// The number of documents.
        public var count = 0
        /// A few of their `_id`s.
        public var samples: [BSONValue] = []

        /// Creates an empty set of documents.
        public init() {}
    }

    /// The text of the clients' migration for documents without a link.
    public static let noneText = "At least one object does not have a backlink (data would get lost)."
    /// The text of the clients' migration for documents with several links.
    public static let severalText = "At least one object does have multiple backlinks."

    /// Creates an instance in which nothing is counted yet.
    public init(target: Namespace, places: [Place], unread: [Place] = []) {
        self.target = target
        self.places = places
        self.unread = unread
    }
}
