/// What became of the documents that a ledger records, by looking at each of them now.
public struct UnsyncedExplanation: Hashable, Sendable {
    /// How many, by what became of them; `nil` when the schema does not cover the collection.
    public var counts: Counts?
    /// Why the documents fail that still do, the worst and the largest first.
    public var groups: [ViolationGroup]

    /// Documents by what became of them.
    public struct Counts: Hashable, Sendable, Codable {
        /// They still do not fit.
        public var failing = 0
        /// They may not fit: as the ledger records them, this is likely why.
        public var possible = 0
        /// They fit now: the entry is stale, or its reason is not one that is judged.
        public var fitting = 0
        /// They are no longer there: the entry is stale.
        public var gone = 0

        /// Nothing looked at.
        public init() {}

        /// The entries that no longer say anything.
        public var stale: Int { fitting + gone }

        /// Adds what was counted elsewhere.
        public static func += (left: inout Counts, right: Counts) {
            left.failing += right.failing
            left.possible += right.possible
            left.fitting += right.fitting
            left.gone += right.gone
        }
    }

    /// A collection that the schema does not cover.
    public static let notCovered = UnsyncedExplanation(counts: nil, groups: [])

    /// Joins the parts.
    public init(counts: Counts?, groups: [ViolationGroup]) {
        self.counts = counts
        self.groups = groups
    }
}
