import BSON
import Mongo

/// Dropping what a job that is done leaves behind.
extension JobBook {
    /// Looks at what there is to drop; nothing is written.
    /// - Throws: ``BackfillError`` when no such job was begun, or it is not done; ``MongoError``.
    package func planCleanup(of job: String) throws -> CleanupPlan {
        let store = try store(job)
        guard let record = try store.record() else { throw try unknown(job) }
        try checkDone(job, store)
        var plan = CleanupPlan(job: job, namespace: record["ns"]?.text.flatMap { Namespace($0) })
        plan.journal = try store.client.count("journal", ["_id.job": .string(job)])
        plan.setAside = try store.client.count("failed", ["_id.job": .string(job)])
        plan.seenHarm = try store.client.count("harm", ["_id.job": .string(job), "seen": true])
        plan.pendingHarm = try store.client.count("harm", ["_id.job": .string(job), "seen": false])
        plan.markers = try markerRemoval(record).present()
        return plan
    }

    private func markerRemoval(_ record: BSONDocument) throws -> MarkerRemoval {
        let name = record["_id"]?.text ?? ""
        var job = try JobFile.parse(record["text"]?.text ?? "", path: "\(name).yml")
        job.name = name
        return MarkerRemoval(job: job, pool: pool, stateDatabase: stateDatabase)
    }

    /// Drops it, under the job's lease, so that no run is under way meanwhile; one that died is done again by the next.
    /// - Throws: ``BackfillError`` of kind `leaseHeld` when a runner holds the job; ``MongoError``.
    package func cleanUp(_ plan: CleanupPlan) throws {
        let store = try store(plan.job)
        // Marked first: from here on no run begins that would do the steps again where the markers are gone.
        try withLease(plan.job, store) { () throws in
            try store.steer(["cleaned": StateStore.mark(by: person)], what: "cleaned up", by: person)
        }
        if !plan.markers.isEmpty, let record = try store.record() {
            try markerRemoval(record).run(plan.markers)
            for collection in ["jobs", "ranges"] {
                let name = BSONValue.string("\(plan.job).cleanup")
                try store.client.deleteAll(collection, ["$or": [["_id": name], ["_id.job": name]]])
            }
        }
        try withLease(plan.job, store) { () throws in try drop(plan, store) }
    }

    private func withLease(_ job: String, _ store: borrowing StateStore, _ body: () throws -> Void) throws {
        guard case .taken(let first, _) = try store.acquire(for: .cleanup) else {
            throw BackfillError(.leaseHeld, "job \"\(job)\" is held by a runner: clean it up when it is done")
        }
        let lease = try store.renew(first)
        try body()
        try store.release(lease)
    }

    private func drop(_ plan: CleanupPlan, _ store: borrowing StateStore) throws {
        try store.dropJournal()
        try store.dropLeftAlone()
        try store.client.deleteAll("failed", ["_id.job": .string(plan.job)])
        try store.client.deleteAll("harm", ["_id.job": .string(plan.job), "seen": true])
    }

    private func checkDone(_ job: String, _ store: borrowing StateStore) throws {
        let range = try store.client.first("ranges", ["_id": store.range])
        guard ["done", "undone"].contains(range?["state"]?.text) else {
            throw BackfillError(
                .notDone,
                "job \"\(job)\" is not done, and what it left behind is needed to go on, or to undo it: see "
                    + "shipshape status \(job)")
        }
    }
}
