/// The current state of the documents that a ledger records, found by reading each of them.
public struct UnsyncedExplanation: Hashable, Sendable {
    /// The numbers of documents by their current state; `nil` if the schema does not cover the collection.
    public var counts: Counts?
    /// The groups of the findings in the documents.
    ///
    /// The group with the worst level comes first. Groups of one level are in the order of their consequences in the
    /// sync engine, the worst first, and then of their sizes, the largest first.
    public var groups: [ViolationGroup]

    /// The numbers of documents by their current state.
    public struct Counts: Hashable, Sendable, Codable {
        /// The number of documents that still do not fit the schema.
        public var failing = 0
        /// The number of documents that might not fit, which is the likely reason why the ledger records them.
        public var possible = 0
        /// The number of documents that fit now.
        ///
        /// Their ledger entries are stale, or have a reason that the check does not judge.
        public var fitting = 0
        /// The number of documents that no longer exist, so their ledger entries are stale.
        public var gone = 0

        /// Creates counts of zero.
        public init() {}

        /// The number of documents whose ledger entries seem stale.
        public var stale: Int { fitting + gone }

        /// Adds the counts of other documents, such as those of another collection.
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
