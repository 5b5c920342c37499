import BSON
import Mongo
import Scanning

/// Documents that the sync translator holds locked: passed over by every write, waited for, and told of at the end.
extension RunLoop {
    /// How many locks are remembered, to be unset when they stay.
    private static let remembered = 10_000

    /// Waits for locked documents, up to `--lock-wait` in all.
    /// - Returns: whether documents came free, and the phases have to be walked again.
    mutating func waitForLocks() throws -> Bool {
        let seen = (survey?.before ?? plan.before).flatMap(\.leftAlone).contains { left in
            left.reason == CompiledStep.Reason.locked.rawValue && left.count > 0
        }
        guard seen else { return false }
        // What came free since that look was not written.
        guard try countLocked() > 0 else { return try countOpen(job.whole) > 0 }
        if lockEnd == nil {
            lockEnd = .now + runner.options.lockWait
            if runner.options.unsetsLocks { locks = try readLocks() }
            runner.events(.waitingForLocks(documents: try countLocked(), seconds: runner.options.lockWait.seconds))
        }
        while let lockEnd, .now < lockEnd, !runner.stop.isRaised, deadline.map({ .now < $0 }) ?? true {
            Thread.sleep(.milliseconds(250))
            if holding.isHalfOver { try renew() }
            let isLeft = try countLocked() > 0
            if try countOpen(job.whole) > 0 { return true }
            if !isLeft { return false }
        }
        guard !runner.stop.isRaised else { return false }
        if runner.options.unsetsLocks, !locks.isEmpty {
            let unset = try unset(locks)
            locks = []
            if unset > 0 { return true }
        }
        for (id, _) in try readLocks() {
            let failure = Failure.locked(id, phase: progress.phase)
            try runner.patience.bridging { try store.setAside(failure) }
            runner.events(.setAside(failure))
        }
        return false
    }

    private func countLocked() throws -> Int {
        try runner.patience.bridging { try collection.countDocuments(job.whole.lockedNeeds.filter) }
    }

    private func readLocks() throws -> [(id: BSONValue, lock: BSONDocument)] {
        let fields = BSONDocument(SyncLock.fields.map { ($0, 1) })
        return try runner.patience.bridging {
            try collection.find(
                job.whole.lockedNeeds.filter,
                options: ["projection": .object(fields), "limit": .integer(Self.remembered)]
            ).documents().compactMap { document in document["_id"].map { ($0, document) } }
        }
    }

    /// Takes away the locks that are still what they were when the wait began.
    private mutating func unset(_ locks: [(id: BSONValue, lock: BSONDocument)]) throws -> Int {
        var unset = 0
        for slice in stride(from: 0, to: locks.count, by: 500) {
            if holding.isHalfOver { try renew() }
            let writer = ChunkWriter(job: job.job, phase: job.whole, collectionUUID: checkedUUID)
            let (lease, part) = (holding.lease, locks[slice..<min(slice + 500, locks.count)])
            unset += try runner.patience.bridging { try writer.unset(Array(part), under: lease, on: client) }
        }
        return unset
    }
}
