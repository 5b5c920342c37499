public import BSON

/// What the state database tells a check of jobs on one collection.
public struct JobTrace: Hashable, Sendable {
    /// The collection.
    public var namespace: Namespace
    /// Jobs that make its documents fit the new schema and are not done, by name, with how far they are.
    public var unfinished: [Unfinished] = []
    /// The documents that synced until a job changed them, and that fit neither schema now.
    public var convertedCount = 0
    /// Why documents that fail already may be such, for all that is known, a clause each.
    public var gaps: [String] = []

    /// A job that is not done.
    public struct Unfinished: Hashable, Sendable {
        /// Its name.
        public var job: String
        /// How far it is, in a word.
        public var state: String

        /// Joins the two.
        public init(job: String, state: String) { (self.job, self.state) = (job, state) }
    }

    /// Nothing known yet.
    public init(namespace: Namespace) { self.namespace = namespace }
}
