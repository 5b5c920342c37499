public import BSON
public import ServerSchema

/// How many links of an app lead to each object of a type that becomes an embedded one.
///
/// The clients' own migration wants exactly one, whichever place of whichever type it stands in.
/// Source: `semantics.md` section 9.
public struct Backlinks: Hashable, Sendable {
    /// The collection of the linked documents.
    public var target: Namespace
    /// Every place of the app that links to it and was looked at.
    public var places: [Place]
    /// The places that were not looked at: they are of another database, and no server joins the two.
    public var unread: [Place]
    /// The documents that nothing links to: they would get lost.
    public var without = Objects()
    /// The documents with one link.
    public var one = Objects()
    /// The documents with several links, be they of one document.
    public var several = Objects()
    /// The places that hold embedded objects already, so that what has no link may be embedded there.
    public var embedded = 0

    /// A place that links.
    public struct Place: Hashable, Sendable {
        /// The collection of the documents that link.
        public var namespace: Namespace
        /// Where the keys stand in them.
        public var path: SchemaPath

        /// Joins the two.
        public init(namespace: Namespace, path: SchemaPath) {
            self.namespace = namespace
            self.path = path
        }
    }

    /// Documents, and a few of their `_id`s.
    public struct Objects: Hashable, Sendable {
        /// How many.
        public var count = 0
        /// A few of their `_id`s.
        public var samples: [BSONValue] = []

        /// None.
        public init() {}
    }

    /// The words of the clients' migration for documents that nothing links to.
    public static let noneText = "At least one object does not have a backlink (data would get lost)."
    /// The words of the clients' migration for documents with several links.
    public static let severalText = "At least one object does have multiple backlinks."

    /// Nothing counted yet.
    public init(target: Namespace, places: [Place], unread: [Place] = []) {
        self.target = target
        self.places = places
        self.unread = unread
    }
}
