public import BSON

/// The comparison of a check's verdicts on documents of one collection with the server's own verdicts.
public struct VerdictComparison: Hashable, Sendable {
    /// The server's version, such as "7.0.1".
    public var version: String
    /// The number of documents whose verdicts were compared.
    public var count = 0
    /// The number of documents on which the verdicts differ, so that the check's is wrong.
    public var differenceCount = 0
    /// A few of the documents on which the verdicts differ.
    public var differences: [Difference] = []
    /// The reason why no verdict, or fewer verdicts than intended, were compared, as a clause; `nil` if there is none.
    public var restriction: String?

    /// A document on which the verdicts differ.
    public struct Difference: Hashable, Sendable {
        /// The document's `_id`.
        public let id: BSONValue
        /// Whether the server accepts the document, which the check reports as failing; otherwise it is the opposite.
        public let isAccepted: Bool

        /// Creates an instance from its parts.
        public init(_ id: BSONValue, isAccepted: Bool) {
            self.id = id
            self.isAccepted = isAccepted
        }
    }

    /// Creates a comparison without documents.
    public init(version: String) { self.version = version }

    /// Counts a document with both verdicts on it.
    public mutating func add(_ id: BSONValue, isAccepted: Bool, fits: Bool) {
        count += 1
        guard isAccepted != fits else { return }
        differenceCount += 1
        if differences.count < Tally.Options().sampleCount {
            differences.append(Difference(id, isAccepted: isAccepted))
        }
    }

    /// Adds the comparison of another part of the same check.
    mutating func merge(_ other: Self) {
        count += other.count
        differenceCount += other.differenceCount
        differences = Array((differences + other.differences).prefix(Tally.Options().sampleCount))
        restriction = restriction ?? other.restriction
    }
}

extension CheckReport {
    /// The number of documents on which the check's verdict is wrong, as the comparison with the server shows.
    public var wrongCount: Int { collections.reduce(0) { $0 + ($1.reading.comparison?.differenceCount ?? 0) } }
}
