package import BSON
import Jobs

/// The records and marker fields of a finished job that `cleanup` would drop.
package struct CleanupPlan: Sendable {
    /// The job's name.
    package var job: String
    /// The collection that the job wrote.
    package var namespace: Namespace?
    /// The number of the journal's documents in the state database; 0 if the job kept no journal, or if it was dropped.
    package var journal = 0
    /// The number of records of skipped documents.
    package var skipped = 0
    /// The number of reservations whose documents the ledger has shown.
    package var seenReservations = 0
    /// The number of reservations whose documents the ledger has not shown yet.
    ///
    /// A clean-up does not drop these reservations, because each of them still counts against the limit of unsynced
    /// documents.
    package var pendingReservations = 0
    /// The marker fields, in which each document records that a step of the job is done.
    package var markers: [FieldPath] = []

    /// Creates the plan of a job that left nothing.
    package init(job: String, namespace: Namespace?) { (self.job, self.namespace) = (job, namespace) }

    /// Whether a cleanup of the job has nothing to drop.
    package var isEmpty: Bool { journal + skipped + seenReservations == 0 && markers.isEmpty }
}
