package import BSON
package import Running

/// The plan for creating a partner collection: the effects of the creation, and the obstacles to it.
package struct PartnerPlan: Sendable {
    package var name: String
    /// The original collection.
    package var source: Namespace
    package var target: Namespace
    /// The number of documents in the original collection, according to the collection's metadata.
    package var documents = 0
    /// The documents of the original collection that cannot be stored in the partner collection, or that the reverse
    /// steps would not restore.
    package var refusals = RefusalList()
    /// A clause for each unique index of the partner in which two of the partner's documents would have the same key.
    package var clashes: [String] = []
    /// The number of the partner's documents that would not sync.
    package var failing = 0
    /// The number of documents that may still become unsyncable, and how it was computed.
    ///
    /// `nil` if the partner has no schema, if its schema is only a validator, or if the copy has begun.
    package var headroom: Headroom?
    package var indexes: [String] = []
    package var notes: [String] = []
    /// The number of documents that earlier runs copied; `nil` while they have copied none.
    package var copiedBefore: Int?
    /// Whether earlier runs copied all documents.
    package var isDone = false
    var creation: [BSONDocument] = []

    /// Whether the job or the documents have to change before the partner can be created.
    package var isRefused: Bool { refusals.count > 0 || !clashes.isEmpty }
}

/// The documents of one collection that cannot be converted for its partner: their number by reason, and the first 20
/// of them.
package struct RefusalList: Sendable {
    /// The number of refused documents.
    package private(set) var count = 0
    /// The number of refused documents by reason.
    package private(set) var reasons: [Refusal.Reason: Int] = [:]
    /// The first 20 refused documents, each with its reason.
    package private(set) var samples: [Refusal] = []

    private static let maximum = 20

    mutating func add(_ refusal: Refusal) {
        count += 1
        reasons[refusal.reason, default: 0] += 1
        if samples.count < Self.maximum { samples.append(refusal) }
    }

    mutating func add(_ other: RefusalList) {
        count += other.count
        reasons.merge(other.reasons, uniquingKeysWith: +)
        samples += other.samples.prefix(Self.maximum - samples.count)
    }
}
