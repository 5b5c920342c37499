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
        let held = try readLocks()
        let runner = runner
        for ids in held.map(\.id).commandSlices(count: 1_000) {
            try runner.patience.bridging { try store.setAside(locked: ids, phase: progress.phase) }
            for id in ids { runner.events(.setAside(.locked(id, phase: progress.phase))) }
            if holding.isHalfOver { try renew() }
        }
        // Listed are some, and counted are all.
        unlisted = held.count < Self.remembered ? 0 : max(0, try countLocked() - held.count)
        return false
    }

    private mutating func countLocked() throws -> Int {
        let isLocked = job.whole.lockedNeeds.filter
        return try reading { try $0.countDocuments(isLocked) }
    }

    private mutating func readLocks() throws -> [(id: BSONValue, lock: BSONDocument)] {
        let (isLocked, remembered) = (job.whole.lockedNeeds.filter, Self.remembered)
        return try reading { collection in
            let fields = BSONDocument(SyncLock.fields.map { ($0, 1) })
            return try collection.find(
                isLocked, options: ["projection": .object(fields), "limit": .integer(remembered)]
            ).documents().compactMap { document in document["_id"].map { ($0, document) } }
        }
    }

    /// Takes away the locks that are still what they were when the wait began.
    private mutating func unset(_ locks: [(id: BSONValue, lock: BSONDocument)]) throws -> Int {
        var unset = 0
        for slice in stride(from: 0, to: locks.count, by: 500) {
            if holding.isHalfOver { try renew() }
            let writer = ChunkWriter(job: job.job, phase: job.whole, collectionUUID: checkedUUID)
            let (runner, lease) = (runner, holding.lease)
            let part = Array(locks[slice..<min(slice + 500, locks.count)])
            unset += try runner.patience.bridging {
                do throws(MongoError) { return try writer.unset(part, under: lease, on: client) } catch {
                    holding.doubt(error)
                    throw error
                }
            }
        }
        return unset
    }
}
