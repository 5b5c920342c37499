package import BSON
import Concurrency
package import JobState
package import Jobs

/// The limit of unsynced documents, which every job and every partner of a state database shares.
package struct SharedLimit {
    package let ledger: UnsyncLedger
    package let limits: Job.Limits

    /// Joins the ledger and the limits of the job or the partner.
    package init(ledger: UnsyncLedger, limits: Job.Limits) { (self.ledger, self.limits) = (ledger, limits) }

    /// Returns the sum now, or an upper bound of it: as long as there is room, a document that the ledger shows may
    /// also count as pending.
    package func headroom(_ store: borrowing StateStore) throws -> Headroom {
        // Pending first: what reaches the ledger between the two looks is counted twice, and not left out.
        let pending = try store.reservations.pendingCount()
        let atMost = Headroom(ledger: try ledger.entries(), pending: pending, ceiling: limits.ceiling)
        return atMost.isExceeded ? try exactHeadroom(store) : atMost
    }

    /// Returns the exact sum now.
    /// - Parameter marks: whether what the ledger shows is marked, and is not looked up again; a plan writes nothing.
    package func exactHeadroom(_ store: borrowing StateStore, marks: Bool = true) throws -> Headroom {
        let pending = try store.reservations.pendingCount(
            seenBy: ledger.holding, lag: limits.throttle.ledgerLag, marks: marks)
        return Headroom(ledger: try ledger.count(), pending: pending, ceiling: limits.ceiling)
    }

    /// Reserves room for documents that a write is about to make unsyncable, one by one: a document that a killed run,
    /// or another job, reserved takes no more room.
    /// - Parameter accepted: the documents that the operator accepts beyond the limit, all of this job's counted.
    /// - Returns: `nil` when there is room; else what the sum is, and nothing is reserved.
    package func reserve(
        _ ids: [BSONValue], of namespace: Namespace, accepting accepted: Int, _ store: borrowing StateStore
    ) throws -> Headroom? {
        let reservations = store.reservations
        let own = try reservations.pending(among: ids, of: namespace)
        let new = ids.filter { !own.contains($0) }
        guard !new.isEmpty else { return nil }
        let pending = try reservations.pendingOfAny(among: new, of: namespace)
        let more = new.count - pending.count
        let isAccepted = try accepted > 0 && reservations.recordedCount(of: namespace) + new.count <= accepted
        if !isAccepted {
            let before = try exactHeadroom(store)
            guard more <= before.documents else { return before }
        }
        let shown = try ledger.holding(new, of: namespace)
        let after = try record(new, stale: new.filter(shown.contains), of: namespace, store)
        guard after.isExceeded, !isAccepted else { return nil }
        try reservations.remove(new, of: namespace)
        return after
    }

    /// Records documents before the write that makes them unsyncable.
    /// - Parameter stale: the documents that the ledger shows for another reason, or still.
    /// - Returns: the sum after it, which shows the reservations that others made at the same time.
    package func record(
        _ ids: [BSONValue], stale: [BSONValue], of namespace: Namespace, _ store: borrowing StateStore
    ) throws -> Headroom {
        try store.reservations.add(ids, stale: stale, of: namespace)
        FaultInjection.reached(.afterHarm)
        return try headroom(store)
    }
}
