public import BSON

/// What lint needs to know of the deployment that is to sync.
public struct DeploymentFacts: Sendable {
    /// How the deployment is built.
    public enum Kind: String, Hashable, Sendable {
        /// A replica set, which can sync.
        case replicaSet = "replica set"
        /// One server, which has no change streams.
        case standalone
        /// A sharded cluster.
        case sharded = "sharded cluster"
        /// An Atlas serverless instance.
        case serverless = "serverless instance"
    }

    /// What is known of a collection.
    public struct Collection: Sendable {
        /// Whether a time series.
        public var isTimeSeries = false
        /// MongoDB's own validator; `nil` when there is none.
        public var validator: BSONDocument?
        /// Whether a document that does not meet the validator is refused.
        public var refuses = true
        /// The names of the unique indexes, the one of `_id` left out.
        public var uniqueIndexes: [String] = []

        /// A collection of which nothing is known.
        public init() {}
    }

    /// Where the facts come from, as reports name it.
    public var source: String
    /// How it is built.
    public var kind: Kind
    /// The numbers of the server's version, major first.
    public var version: [Int]
    /// The collections that exist.
    public var collections: [Namespace: Collection] = [:]

    /// Joins the parts.
    public init(source: String, kind: Kind, version: [Int]) {
        self.source = source
        self.kind = kind
        self.version = version
    }
}
