package import BSON
package import Running

/// What the creation of a partner would do, and what stands against it.
package struct PartnerPlan: Sendable {
    /// The job's name.
    package var name: String
    /// The two collections.
    package var source: Namespace
    /// The partner.
    package var target: Namespace
    /// The originals, by the server's metadata.
    package var documents = 0
    /// The originals that cannot be in the partner, or would not come back as they are.
    package var refusals = RefusalList()
    /// The unique indexes that the partner's documents would break, a clause each.
    package var clashes: [String] = []
    /// The partner's documents that would not sync.
    package var failing = 0
    /// The room below the limit of unsynced documents; `nil` where the partner's schema is not known, or is a validator.
    package var headroom: Headroom?
    /// The names of the indexes that are made on the partner.
    package var indexes: [String] = []
    /// What the reader should know.
    package var notes: [String] = []
    /// How many documents an earlier run has copied; `nil` when none was begun.
    package var copiedBefore: Int?
    /// Whether all were copied before.
    package var isDone = false
    /// The commands that make the partner.
    var creation: [BSONDocument] = []

    /// Whether something stands against it that nothing but a changed job, or changed documents, takes away.
    package var isRefused: Bool { refusals.count > 0 || !clashes.isEmpty }
}

/// Documents that cannot be on the other side: how many for which reason, and a few of them.
package struct RefusalList: Sendable {
    /// All.
    package private(set) var count = 0
    /// How many, by reason.
    package private(set) var reasons: [Refusal.Reason: Int] = [:]
    /// The first ones.
    package private(set) var samples: [Refusal] = []

    private static let most = 20

    mutating func add(_ refusal: Refusal) {
        count += 1
        reasons[refusal.reason, default: 0] += 1
        if samples.count < Self.most { samples.append(refusal) }
    }

    mutating func add(_ other: RefusalList) {
        count += other.count
        reasons.merge(other.reasons, uniquingKeysWith: +)
        samples += other.samples.prefix(Self.most - samples.count)
    }
}
