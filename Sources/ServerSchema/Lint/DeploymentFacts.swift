public import BSON

/// The facts that lint needs about the MongoDB deployment whose documents are to sync.
public struct DeploymentFacts: Sendable {
    /// A kind of deployment.
    public enum Kind: String, Hashable, Sendable {
        /// A replica set, which can sync.
        case replicaSet = "replica set"
        /// A single server, which cannot sync because it has no change streams.
        case standalone
        case sharded = "sharded cluster"
        case serverless = "serverless instance"
    }

    /// The facts about a collection.
    public struct Collection: Sendable {
        /// Whether the collection is a time series collection.
        public var isTimeSeries = false
        /// MongoDB's own validator; `nil` when there is none.
        public var validator: BSONDocument?
        /// Whether the server refuses a document that does not fit the validator.
        public var refuses = true
        /// The names of the unique indexes, except the one on `_id`.
        public var uniqueIndexes: [String] = []

        /// Creates the facts about a collection that is no time series and has neither a validator nor a unique index.
        public init() {}
    }

    /// The name of the deployment in reports.
    public var source: String
    /// The kind of deployment.
    public var kind: Kind
    /// The server's version as numbers, the major version first.
    public var version: [Int]
    /// The facts about each collection that exists.
    public var collections: [Namespace: Collection] = [:]

    /// Creates the facts about a deployment.
    public init(source: String, kind: Kind, version: [Int]) {
        self.source = source
        self.kind = kind
        self.version = version
    }
}
