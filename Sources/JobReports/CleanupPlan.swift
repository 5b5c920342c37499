package import BSON
import Jobs

/// The data of a finished job that `job cleanup` would delete: records in the state database, and marker fields in
/// documents.
package struct CleanupPlan: Sendable {
    package var job: String
    /// The collection that the job wrote; `nil` if it is unknown.
    package var namespace: Namespace?
    /// The number of the job's journal documents in the state database; 0 if the job kept no journal, or if the journal
    /// was dropped.
    package var journal = 0
    /// The number of records about documents that the job's runs or its undo skipped.
    package var skipped = 0
    /// The number of the job's reservations that `job cleanup` would delete.
    ///
    /// A run has already found the documents of these reservations in the sync engine's ledger of unsynced documents.
    package var seenReservations = 0
    /// The number of the job's reservations that `job cleanup` would keep.
    ///
    /// No run has found the documents of these reservations in the sync engine's ledger of unsynced documents yet. Each
    /// of the reservations therefore still counts towards the limit of unsynced documents.
    package var pendingReservations = 0
    /// The marker fields, in which each document records that a step of the job is done.
    package var markers: [FieldPath] = []

    package init(job: String, namespace: Namespace?) { (self.job, self.namespace) = (job, namespace) }

    /// Whether the plan has nothing that `job cleanup` would delete.
    package var isEmpty: Bool { journal + skipped + seenReservations == 0 && markers.isEmpty }
}
