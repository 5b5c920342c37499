public import BSON
public import ServerSchema

extension CheckReport {
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
        /// Whether the active schema covers it, too; `nil` when there is none to compare with.
        public var isInActive: Bool?
        /// How much it has to do with sync.
        public var scope = SyncScope.synced
        /// Whether its documents count in the verdict.
        public var isCounted = true
        /// The partner that the newer schema adds, so that it keeps its own schema; `nil` where there is none.
        public var partner: Namespace?
        /// How the documents were read.
        public var reading = Reading()

        /// Joins the parts.
        public init(
            namespace: Namespace, counts: DocumentCounts, estimatedCount: Int? = nil, groups: [ViolationGroup] = [],
            overflowCount: Int = 0, unevaluatedKeywords: [CompiledSchema.UnevaluatedKeyword] = [],
            isInActive: Bool? = nil
        ) {
            self.namespace = namespace
            self.counts = counts
            self.estimatedCount = estimatedCount
            self.groups = groups
            self.overflowCount = overflowCount
            self.unevaluatedKeywords = unevaluatedKeywords
            self.isInActive = isInActive
        }

        /// What a tally has counted.
        public init(_ tally: Tally, estimatedCount: Int? = nil) {
            self.init(
                namespace: tally.schema.namespace, counts: tally.counts, estimatedCount: estimatedCount,
                groups: tally.violationGroups, overflowCount: tally.overflowCount,
                unevaluatedKeywords: tally.schema.unevaluatedKeywords,
                isInActive: tally.isInActive)
            scope = tally.schema.scope
            isCounted = tally.schema.isCounted
        }
    }
}
