package import BSON
import Concurrency
package import JobState
package import Jobs

/// The limit of unsynced documents, which all jobs and partner jobs with the same state database share.
package struct SharedLimit {
    package let ledger: UnsyncLedger
    package let limits: Job.Limits

    package init(ledger: UnsyncLedger, limits: Job.Limits) { (self.ledger, self.limits) = (ledger, limits) }

    /// Returns the current headroom: how many more documents may become unsyncable.
    ///
    /// The result may be an estimate that is cheaper to read and never too large: it may count a document twice, in the
    /// ledger and as reserved. If the estimated number of unsynced documents reaches the limit, the exact headroom is
    /// returned instead.
    package func headroom(_ store: borrowing StateStore) throws -> Headroom {
        // The reservations are read before the ledger. A document that is added to the ledger between the two reads is
        // then counted twice, and never missed.
        let pending = try store.reservations.pendingCount()
        let atMost = Headroom(ledger: try ledger.entries(), pending: pending, ceiling: limits.ceiling)
        return atMost.isExceeded ? try exactHeadroom(store) : atMost
    }

    /// Returns the exact current headroom.
    /// - Parameter marks: whether to mark the reservations of documents that the ledger lists. A marked reservation is
    ///   not looked up again. A plan passes `false`, because it writes nothing.
    package func exactHeadroom(_ store: borrowing StateStore, marks: Bool = true) throws -> Headroom {
        let pending = try store.reservations.pendingCount(
            seenBy: ledger.listed, lag: limits.throttle.ledgerLag, marks: marks)
        return Headroom(ledger: try ledger.count(), pending: pending, ceiling: limits.ceiling)
    }

    /// Reserves room, below the limit of unsynced documents, for documents that a write is about to make unsyncable.
    ///
    /// A document that this job or another job has already reserved does not count again.
    /// - Parameter accepted: how many documents of this job, in all, may become unsyncable even beyond the limit,
    ///   because the operator accepts it.
    /// - Returns: `nil` if the documents are reserved; otherwise the headroom, which is too small for them.
    package func reserve(
        _ ids: [BSONValue], of namespace: Namespace, accepting accepted: Int, _ store: borrowing StateStore
    ) throws -> Headroom? {
        let reservations = store.reservations
        let own = try reservations.pending(among: ids, of: namespace)
        let new = ids.filter { !own.contains($0) }
        let isAccepted = try accepted > 0 && reservations.recordedCount(of: namespace) + new.count <= accepted
        guard !new.isEmpty else {
            // A run that was killed may have reserved these documents and not compared them with the limit.
            let now = try headroom(store)
            return now.isExceeded && !isAccepted ? now : nil
        }
        let more = new.count - (try reservations.pendingOfAny(among: new, of: namespace).count)
        let stale = new.filter(try ledger.listed(new, of: namespace).contains)
        var after: Headroom
        var tries = 0
        repeat {
            if !isAccepted {
                let before = try exactHeadroom(store)
                guard more <= before.documents else { return before }
            }
            after = try record(new, new: new, stale: stale, of: namespace, staysBeyondLimit: isAccepted, store)
            tries += 1
        } while after.isExceeded && !isAccepted && tries < Self.maximumTries
        return after.isExceeded && !isAccepted ? after : nil
    }

    /// The most attempts to reserve documents; an attempt fails if other jobs reserve documents at the same time.
    package static let maximumTries = 4

    /// Adds reservations before a write that makes documents unsyncable; removes the new reservations if they exceed
    /// the limit.
    /// - Parameters:
    ///   - new: the documents of `ids` that this job has not reserved yet.
    ///   - stale: documents that the ledger lists already before the write. Either another cause made them unsyncable,
    ///     or the ledger still lists them after their repair.
    ///   - staysBeyondLimit: whether the documents stay reserved even if they exceed the limit.
    /// - Returns: the headroom after the reservation; documents that other jobs reserved at the same time reduce it,
    ///   too.
    package func record(
        _ ids: [BSONValue], new: [BSONValue], stale: [BSONValue], of namespace: Namespace,
        staysBeyondLimit: Bool = false, _ store: borrowing StateStore
    ) throws -> Headroom {
        try store.reservations.add(ids, stale: stale, of: namespace)
        FaultInjection.reached(.afterReservation)
        let headroom = try headroom(store)
        if headroom.isExceeded, !staysBeyondLimit {
            try store.reservations.remove(new, of: namespace)
            // Jobs that reserve at the same moment refuse each other. A random pause lets one of them be the first of
            // the next attempt.
            PosixThread.sleep(.milliseconds(Int.random(in: 0...Self.longestPause)))
        }
        return headroom
    }

    /// The longest pause after a refused reservation, in milliseconds.
    private static let longestPause = 400
}
