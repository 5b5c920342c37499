package import BSON

/// What `cleanup` would drop of a job that is done.
package struct CleanupPlan: Sendable {
    /// The job's name.
    package var job: String
    /// The collection that it wrote.
    package var namespace: Namespace?
    /// Documents of its journal; none when it kept none, or it was dropped before.
    package var journal = 0
    /// Records of documents that were skipped.
    package var skipped = 0
    /// Records of harm that the ledger has shown since.
    package var seenHarm = 0
    /// Records of harm that the ledger does not show yet: they take room below the limit, and stay.
    package var pendingHarm = 0
    /// Fields that say in each document that a step of the job is done.
    package var markers: [FieldPath] = []

    /// Whether there is nothing to drop.
    package var isEmpty: Bool { journal + skipped + seenHarm == 0 && markers.isEmpty }
}
