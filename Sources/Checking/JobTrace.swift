public import BSON

/// The effects of jobs on one collection, as a check reads them from the state database.
public struct JobTrace: Hashable, Sendable {
    /// The collection whose documents the jobs changed.
    public var namespace: Namespace
    /// The unfinished jobs that make the collection's documents fit the new schema.
    public var unfinished: [Unfinished] = []
    /// The number of documents that synced until a job changed them, and that now fit neither the new nor the active
    /// schema.
    public var convertedCount = 0
    /// The reasons why some documents may count as already failing although they synced until a job changed them.
    ///
    /// Each reason is a clause.
    public var gaps: [String] = []

    /// An unfinished job.
    public struct Unfinished: Hashable, Sendable {
        /// The job's name.
        public var job: String
        /// The job's state, in one word.
        public var state: String

        /// Creates an instance from its parts.
        public init(job: String, state: String) { (self.job, self.state) = (job, state) }
    }

    /// Creates a trace without any jobs.
    public init(namespace: Namespace) { self.namespace = namespace }
}
