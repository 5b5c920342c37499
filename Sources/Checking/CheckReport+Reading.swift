public import BSON

extension CheckReport.Collection {
    /// How the documents of a collection were read, and what cannot be promised of the result.
    public struct Reading: Hashable, Sendable {
        /// The collection that was read, where it is another than the one that the schema names.
        public var namespace: Namespace?
        /// The moment at which the counts are true; `nil` when they are of no single moment.
        public var clusterTime: ClusterTime?
        /// The documents that changed during the scan and were judged again.
        public var changedCount = 0
        /// Which documents were meant to be read.
        public var selection = Selection.everything
        /// About how many documents the server held back because a filter proves them good; `nil` without such a filter.
        public var passedOverCount: Int?
        /// The documents that the server counted one by one; `nil` when it was not asked.
        public var exactCount: Int?
        /// What is not promised, and why.
        public var missing: [MissingGuarantee] = []

        /// Every document, at no stated moment.
        public init() {}
    }

    /// Which documents were meant to be read.
    public enum Selection: Hashable, Sendable {
        /// All of them.
        case everything
        /// Those that a filter of the operator's matches.
        case matching(BSONDocument)
        /// So many, taken at random.
        case sample(Int)
        /// A share of them, of which others read the rest.
        case part(CheckPart)
    }
}

/// A promise that a check could not keep.
public struct MissingGuarantee: Hashable, Sendable {
    /// What a check promises of the documents that it reads.
    public enum Guarantee: String, Hashable, Sendable, CaseIterable {
        /// All counts are true at one moment, whatever was written meanwhile.
        case oneMoment = "one_moment"
        /// The check goes on where it was when its cursor is lost.
        case resumable
        /// Every document is judged.
        case everyDocument = "every_document"
        /// The collection was not replaced by another of its name.
        case sameCollection = "same_collection"
    }

    /// Which promise.
    public var guarantee: Guarantee
    /// Why it is not kept, a clause.
    public var reason: String

    /// Joins the two.
    public init(_ guarantee: Guarantee, _ reason: String) {
        self.guarantee = guarantee
        self.reason = reason
    }
}

extension CheckReport {
    /// Whether documents were left out on purpose, so that nothing can be called safe.
    public var isPartial: Bool { collections.contains { $0.reading.selection != .everything } }
}
