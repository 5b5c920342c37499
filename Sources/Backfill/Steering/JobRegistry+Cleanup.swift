package import BSON
package import Concurrency
package import JobReports
import JobState
import Jobs
import Mongo

extension JobRegistry {
    /// Returns the plan of a job's clean-up, with the counts of what it would drop; nothing is written.
    /// - Throws: ``RunError``, for example when no such job was started, or it is not done; ``MongoError``.
    package func planCleanup(of job: String, on named: Namespace? = nil) throws -> CleanupPlan {
        let store = try store(job)
        guard let record = try store.jobs.record() else { throw try unknown(job) }
        try checkDone(job, store)
        let collection = RecordedCollection(named: named, stateDatabase: stateDatabase)
        var plan = CleanupPlan(job: job, namespace: try collection.namespace(of: record, job))
        plan.journal = try store.client.count("journal", ["_id.job": .string(job)])
        plan.skipped = try ["failed", "leftalone"].reduce(0) { sum, records in
            sum + (try store.client.count(records, ["_id.job": .string(job)]))
        }
        plan.seenReservations = try store.client.count("harm", ["_id.job": .string(job), "seen": true])
        plan.pendingReservations = try store.client.count("harm", ["_id.job": .string(job), "seen": false])
        plan.markers = try markerRemoval(record).present()
        return plan
    }

    private func markerRemoval(_ record: BSONDocument) throws -> MarkerRemoval {
        var job = try StoredJob.job(record)
        job.name = record["_id"]?.text ?? ""
        return MarkerRemoval(job: job, pool: pool, stateDatabase: stateDatabase)
    }

    /// Marks the job as cleaned up, and drops everything that the plan lists.
    ///
    /// The job is marked before its marker fields are removed. Otherwise, a run that starts without the fields would
    /// repeat the steps. The clean-up holds the job's lease, so that no run starts in the meantime. It does not hold
    /// the lease while it removes marker fields, because a job with marker fields cannot run again once it is marked as
    /// cleaned up.
    ///
    /// If a clean-up dies, the next one repeats it.
    /// - Throws: ``RunError``, for example of kind `leaseHeld` when a runner holds the job, of kind `notDone` when a
    ///   runner has started the job again, and of kind `stopped`; ``MongoError``.
    package func cleanUp(_ plan: CleanupPlan, stop: StopSignal = StopSignal()) throws {
        let store = try store(plan.job)
        func drop(_ keep: () throws -> Void) throws {
            try self.drop(plan, store) { () throws in
                if stop.isRaised {
                    throw RunError(
                        .stopped, "the clean-up of job \"\(plan.job)\" was asked to stop; run it again to continue")
                }
                try keep()
            }
        }
        let removal = try store.jobs.record().map(markerRemoval)
        let hasMarkers = removal.map { !MarkerRemoval.markers(of: $0.job).isEmpty } ?? false
        let remedy = "clean it up when that runner is done"
        try withLease(of: plan.job, store, for: .cleanup, orElse: remedy) { keep in
            // Another runner may have started the job again before this clean-up took the job's lease.
            try checkDone(plan.job, store)
            try store.jobs.steer(["cleaned": JobStore.mark(by: person)], what: "cleaned up", by: person)
            if !hasMarkers { try drop(keep) }
        }
        guard hasMarkers else { return }
        try removal?.run(stop: stop)
        try withLease(of: plan.job, store, for: .cleanup, orElse: remedy) { keep in
            try checkDone(plan.job, store)
            try drop(keep)
        }
    }

    private func drop(_ plan: CleanupPlan, _ store: borrowing StateStore, _ between: () throws -> Void) throws {
        let job = BSONValue.string(plan.job)
        try store.journal.drop(between)
        try store.skipped.drop(between)
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
