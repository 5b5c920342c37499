public import BSON

/// What a check found, ready to be rendered.
public struct CheckReport: Hashable, Sendable {
    /// Where the documents came from, without credentials.
    public var source: String
    /// One entry per collection that the schema covers, in the schema's order.
    public var collections: [Collection]
    /// Whether the schema can be deployed.
    public var verdict: DeployVerdict
    /// What the reader should know beside the findings, a clause each.
    public var notes: [String]
    /// How long the check took.
    public var duration: Duration

    /// What was found in one collection.
    public struct Collection: Hashable, Sendable {
        /// Which.
        public var namespace: Namespace
        /// How many documents were read, and how many failed.
        public var counts: DocumentCounts
        /// How many documents the server says there are; `nil` when it was not asked.
        public var estimatedCount: Int?
        /// The findings, the worst and the largest first.
        public var groups: [ViolationGroup]
        /// The findings that found no room among the groups.
        public var overflowCount: Int
        /// The keywords that no rule judged.
        public var unevaluatedKeywords: [CompiledSchema.UnevaluatedKeyword]
        /// How the documents were read.
        public var reading = Reading()

        /// Joins the parts.
        public init(
            namespace: Namespace, counts: DocumentCounts, estimatedCount: Int? = nil, groups: [ViolationGroup] = [],
            overflowCount: Int = 0, unevaluatedKeywords: [CompiledSchema.UnevaluatedKeyword] = []
        ) {
            self.namespace = namespace
            self.counts = counts
            self.estimatedCount = estimatedCount
            self.groups = groups
            self.overflowCount = overflowCount
            self.unevaluatedKeywords = unevaluatedKeywords
        }

        /// What a tally has counted.
        public init(_ tally: Tally, estimatedCount: Int? = nil) {
            self.init(
                namespace: tally.schema.namespace, counts: tally.counts, estimatedCount: estimatedCount,
                groups: tally.violationGroups, overflowCount: tally.overflowCount,
                unevaluatedKeywords: tally.schema.unevaluatedKeywords)
        }
    }

    /// Joins the parts and projects the ledger from the collections' counts.
    /// - Parameter ledgerCount: The distinct documents that the ledger records; `nil` when there is no ledger.
    public init(
        source: String, collections: [Collection], ledgerCount: Int?, limit: Int = DeployVerdict.defaultLimit,
        notes: [String] = [], duration: Duration
    ) {
        self.source = source
        self.collections = collections
        self.notes = notes
        self.duration = duration
        let total = collections.reduce(into: DocumentCounts()) { $0 += $1.counts }
        verdict = DeployVerdict(
            ledgerCount: ledgerCount, newCertain: total.newCertain, newPossible: total.newPossible, limit: limit)
        verdict.isPartial = isPartial
    }

    /// The counts of all collections together.
    public var total: DocumentCounts { collections.reduce(into: DocumentCounts()) { $0 += $1.counts } }
}
