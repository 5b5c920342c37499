package import BSON
package import Concurrency
import JobState
import Jobs
import Mongo

/// Removal of what a finished job leaves in the deployment.
extension JobRegistry {
    /// Counts what there is to drop; nothing is written.
    /// - Parameter named: The collection of the job's file; `nil` when the operator gave the job's name alone.
    /// - Throws: ``RunError`` when no such job was started, or it is not done; ``MongoError``.
    package func planCleanup(of job: String, on named: Namespace? = nil) throws -> CleanupPlan {
        let store = try store(job)
        guard let record = try store.jobs.record() else { throw try unknown(job) }
        try checkDone(job, store)
        let collection = RecordedCollection(named: named, stateDatabase: stateDatabase)
        var plan = CleanupPlan(job: job, namespace: try collection.namespace(of: record, job))
        plan.journal = try store.client.count("journal", ["_id.job": .string(job)])
        plan.skipped = try store.client.count("failed", ["_id.job": .string(job)])
        plan.seenHarm = try store.client.count("harm", ["_id.job": .string(job), "seen": true])
        plan.pendingHarm = try store.client.count("harm", ["_id.job": .string(job), "seen": false])
        plan.markers = try markerRemoval(record).present()
        return plan
    }

    private func markerRemoval(_ record: BSONDocument) throws -> MarkerRemoval {
        var job = try StoredJob.job(record)
        job.name = record["_id"]?.text ?? ""
        return MarkerRemoval(job: job, pool: pool, stateDatabase: stateDatabase)
    }

    /// Drops what was planned, under the job's lease, so that no run can start; a later clean-up repeats one that died.
    /// - Throws: ``RunError`` of kind `leaseHeld` when a runner holds the job, of kind `notDone` when a runner has
    ///   started it again, and of kind `stopped`; ``MongoError``.
    package func cleanUp(_ plan: CleanupPlan, stop: StopSignal = StopSignal()) throws {
        let store = try store(plan.job)
        // Marked first, because a run that starts without the markers would do the steps again.
        let remedy = "clean it up when that runner is done"
        try withLease(of: plan.job, store, for: .cleanup, orElse: remedy) { _ in
            // A run may have started again before the lease was taken.
            try checkDone(plan.job, store)
            try store.jobs.steer(["cleaned": JobStore.mark(by: person)], what: "cleaned up", by: person)
        }
        if let record = try store.jobs.record() {
            let removal = try markerRemoval(record)
            if !MarkerRemoval.markers(of: removal.job).isEmpty { try removal.run(stop: stop) }
        }
        try withLease(of: plan.job, store, for: .cleanup, orElse: remedy) { keep in
            try checkDone(plan.job, store)
            try drop(plan, store) { () throws in
                if stop.isRaised {
                    throw RunError(
                        .stopped, "the clean-up of job \"\(plan.job)\" was asked to stop; run it again to continue")
                }
                try keep()
            }
        }
    }

    private func drop(_ plan: CleanupPlan, _ store: borrowing StateStore, _ between: () throws -> Void) throws {
        let job = BSONValue.string(plan.job)
        try store.journal.drop(between)
        try store.leftAlone.drop(between)
        try store.client.deleteAll("failed", ["_id.job": job], between)
        try store.client.deleteAll("harm", ["_id.job": job, "seen": true], between)
    }

    private func checkDone(_ job: String, _ store: borrowing StateStore) throws {
        let range = try store.ranges.document()
        guard ["done", "undone"].contains(range?["state"]?.text) else {
            throw RunError(
                .notDone,
                "job \"\(job)\" is not done, and its journal and records are needed to continue or undo it: see "
                    + "shipshape status \(job)")
        }
    }
}

/// The records and fields that `cleanup` would drop of a finished job.
package struct CleanupPlan: Sendable {
    /// The job's name.
    package var job: String
    /// The collection that it wrote.
    package var namespace: Namespace?
    /// Documents of its journal; 0 when it kept none, or when it was dropped before.
    package var journal = 0
    /// Records of documents that were skipped.
    package var skipped = 0
    /// Reservations of documents that the ledger has shown since.
    package var seenHarm = 0
    /// Reservations of documents that the ledger does not show yet: they take room below the limit, and stay.
    package var pendingHarm = 0
    /// Marker fields, which record in each document that a step of the job is done.
    package var markers: [FieldPath] = []

    /// Whether there is nothing to drop.
    package var isEmpty: Bool { journal + skipped + seenHarm == 0 && markers.isEmpty }
}
