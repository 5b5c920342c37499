public import BSON

/// The facts that lint needs about the deployment that is to sync.
public struct DeploymentFacts: Sendable {
    /// A kind of deployment.
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

    /// The facts about a collection.
    public struct Collection: Sendable {
        /// Whether the collection is a time series.
        public var isTimeSeries = false
        /// MongoDB's own validator; `nil` when there is none.
        public var validator: BSONDocument?
        /// Whether the server refuses a document that does not meet the validator.
        public var refuses = true
        /// The names of the unique indexes, except the one on `_id`.
        public var uniqueIndexes: [String] = []

        /// Creates a collection about which nothing is known.
        public init() {}
    }

    /// The source of the facts, as reports name it.
    public var source: String
    /// The kind of deployment.
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
