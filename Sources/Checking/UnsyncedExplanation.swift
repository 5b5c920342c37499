/// The current state of the documents that a ledger records, found by reading each of them.
public struct UnsyncedExplanation: Hashable, Sendable {
    /// The numbers of documents by their current state; `nil` if the schema does not cover the collection.
    public var counts: Counts?
    /// The reasons why documents still fail, the worst first, then the largest.
    public var groups: [ViolationGroup]

    /// The numbers of documents by their current state.
    public struct Counts: Hashable, Sendable, Codable {
        /// The documents that still do not fit.
        public var failing = 0
        /// The documents that might not fit; as the ledger records them, this is the likely reason.
        public var possible = 0
        /// The documents that fit now: the entry is stale, or its reason is one that the check does not judge.
        public var fitting = 0
        /// The documents that no longer exist: the entry is stale.
        public var gone = 0

        /// Creates counts of zero.
        public init() {}

        /// The number of stale entries.
        public var stale: Int { fitting + gone }

        /// Adds other counts.
        public static func += (left: inout Counts, right: Counts) {
            left.failing += right.failing
            left.possible += right.possible
            left.fitting += right.fitting
            left.gone += right.gone
        }
    }

    /// The explanation for a collection that the schema does not cover.
    public static let notCovered = UnsyncedExplanation(counts: nil, groups: [])

    /// Creates an explanation from its parts.
    public init(counts: Counts?, groups: [ViolationGroup]) {
        self.counts = counts
        self.groups = groups
    }
}
