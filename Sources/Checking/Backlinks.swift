public import BSON
public import ServerSchema

/// The counts of one collection's documents, by the number of links to each document.
///
/// The type of these documents is to become embedded. The clients' own migration therefore requires exactly one link to
/// each document, counted over all fields of all types that can link to it. Source: `semantics.md` section 9.
public struct Backlinks: Hashable, Sendable {
    /// The collection of the linked documents.
    public var target: Namespace
    /// The paths whose links to ``target`` were counted.
    public var places: [Place]
    /// The paths whose links were not counted, because these links are in another database than ``target``, and the
    /// server does not join collections of two databases.
    public var unread: [Place]
    /// The documents to which no link leads; if there are any, the clients' migration fails, because it would lose
    /// them.
    public var without = Objects()
    /// The documents to which exactly one link leads.
    public var one = Objects()
    /// The documents to which several links lead, even if one document holds all these links.
    public var several = Objects()
    /// The number of values at ``places`` that are already an embedded object instead of a key.
    ///
    /// A document in ``without`` may have been embedded already, as one of these objects.
    public var embedded = 0

    /// A path at which the documents of one collection hold links.
    public struct Place: Hashable, Sendable {
        /// The collection whose documents hold the links.
        public var namespace: Namespace
        /// The path of the links in the documents of ``namespace``.
        public var path: SchemaPath

        /// Creates a place from a collection and a path.
        public init(namespace: Namespace, path: SchemaPath) {
            self.namespace = namespace
            self.path = path
        }
    }

    /// A number of documents, and a few of their `_id`s.
    public struct Objects: Hashable, Sendable {
        /// The number of documents.
        public var count = 0
        /// The `_id`s of a few of the documents.
        public var samples: [BSONValue] = []

        /// Creates an empty set of documents.
        public init() {}
    }

    /// The error text with which the clients' migration fails if a document has no link to it.
    public static let noneText = "At least one object does not have a backlink (data would get lost)."
    /// The error text with which the clients' migration fails if a document has several links to it.
    public static let severalText = "At least one object does have multiple backlinks."

    /// Creates an instance in which nothing is counted yet.
    public init(target: Namespace, places: [Place], unread: [Place] = []) {
        self.target = target
        self.places = places
        self.unread = unread
    }
}
