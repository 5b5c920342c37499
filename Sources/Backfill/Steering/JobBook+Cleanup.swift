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
        return plan
    }

    /// Drops it, under the job's lease, so that no run is under way meanwhile; one that died is done again by the next.
    /// - Throws: ``BackfillError`` of kind `leaseHeld` when a runner holds the job; ``MongoError``.
    package func cleanUp(_ plan: CleanupPlan) throws {
        let store = try store(plan.job)
        guard case .taken(let first, _) = try store.acquire(for: .cleanup) else {
            throw BackfillError(.leaseHeld, "job \"\(plan.job)\" is held by a runner: clean it up when it is done")
        }
        let lease = try store.renew(first)
        try store.steer(["cleaned": StateStore.mark(by: person)], what: "cleaned up", by: person)
        try store.dropJournal()
        try store.dropLeftAlone()
        try store.client.deleteAll("failed", ["_id.job": .string(plan.job)])
        try store.client.deleteAll("harm", ["_id.job": .string(plan.job), "seen": true])
        try store.release(lease)
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
