import BSON
import Concurrency
import JobState
import Jobs
import Mongo
import Running
import Scanning
import Steps

/// Documents that cannot be written now: one that the server refuses ends a whole update, so it is found, recorded, and the
/// others are written; one that the sync translator holds locked is waited for.
extension BackfillRun {
    /// Goes on after a chunk that ended at a document and does not say at which: each half of it is run by itself, and a
    /// document that ends it alone is skipped.
    mutating func narrow(_ chunk: Chunk, _ error: MongoError) throws -> Attempt {
        guard chunk.ids.count == 1, let id = chunk.ids.first else {
            return .again(chunk.anew(in: (chunk.ids.count + 1) / 2, carefully: true))
        }
        let failure = Failure(id, error, phase: chunk.phase)
        if let stop = skipped.refusal(of: failure) { return .stopped(stop) }
        try kernel.retrying { try kernel.store.failures.skip(failure) }
        if skipped.add(failure) { kernel.events(.skipped(failure)) }
        guard try checkpoint([DueDocument(id: id)], of: chunk) else { return .again([chunk]) }
        let phase = job.phase(at: chunk.phase)
        if !phase.isHarmless {
            // It was counted before the write, which it did not take.
            account.skip(id)
            try settle(phase)
        }
        return .done(0, rest: [])
    }

    /// Takes away the records of documents that need the job no more, and gives those that stay.
    func settleFailures() throws -> [Failure] {
        let (collection, phases) = (collection, job.phases)
        return try kernel.retrying {
            let recorded = try kernel.store.failures.all()
            var open: Set<BSONValue> = []
            for slice in recorded.map(\.id).commandSlices() {
                let needing = phases.flatMap(\.steps).need
                let filter: BSONDocument = ["_id": ["$in": .array(of: slice)], "$expr": needing.bson]
                let cursor = collection.find(filter, options: ["projection": ["_id": 1]])
                open.formUnion(try cursor.documents().compactMap { $0["_id"] })
            }
            try kernel.store.failures.forget(recorded.map(\.id).filter { !open.contains($0) })
            return recorded.filter { open.contains($0.id) }
        }
    }
}

/// What is known of the documents that the sync translator holds locked.
struct LockWait {
    /// When they have been waited for long enough; `nil` before the first wait.
    fileprivate var end: ContinuousClock.Instant?
    /// The locks as they were when the wait began.
    fileprivate var locks: [(id: BSONValue, lock: BSONDocument)] = []
    /// Locked documents beyond those that were listed.
    fileprivate(set) var unlisted = 0

    /// How many locks are remembered, to be unset when they stay.
    fileprivate static let remembered = 10_000
}

extension BackfillRun {
    /// Waits for locked documents, up to `--lock-wait` in all.
    /// - Returns: whether documents came free, so that there is work again.
    mutating func waitForLocks() throws -> Bool {
        let seen = (survey?.before ?? plan.before).flatMap(\.leftAlone).contains { left in
            left.reason == CompiledStep.Reason.locked.rawValue && left.count > 0
        }
        guard seen else { return false }
        // The look is out of date as soon as it is waited: the report counts anew.
        survey = nil
        // What came free since that look was not written.
        guard try countLocked() > 0 else { return try countNeeding() > 0 }
        if locks.end == nil {
            locks.end = .now + runner.options.lockWait
            if runner.options.unsetsLocks { locks.locks = try readLocks() }
            kernel.events(.waitingForLocks(documents: try countLocked(), seconds: runner.options.lockWait.seconds))
        }
        while let end = locks.end, .now < end, !kernel.stop.isRaised, kernel.deadline.map({ .now < $0 }) ?? true {
            try kernel.sleep(.milliseconds(250))
            let isLeft = try countLocked() > 0
            if try countNeeding() > 0 { return true }
            if !isLeft { return false }
        }
        guard !kernel.stop.isRaised else { return false }
        if runner.options.unsetsLocks, !locks.locks.isEmpty {
            let unset = try unset(locks.locks)
            locks.locks = []
            if unset > 0 { return true }
        }
        let held = try readLocks()
        // The last of them may have come free after the last look, and nothing else would find it.
        if held.isEmpty { return try countNeeding() > 0 }
        for ids in held.map(\.id).commandSlices(count: 1_000) {
            try kernel.retrying { try kernel.store.failures.skip(locked: ids, phase: 0) }
            for id in ids { kernel.events(.skipped(.locked(id, phase: 0))) }
            try kernel.keepLease()
        }
        // Listed are some, and counted are all.
        locks.unlisted = held.count < LockWait.remembered ? 0 : max(0, try countLocked() - held.count)
        return false
    }

    private mutating func countLocked() throws -> Int {
        let isLocked = job.isLocked
        return try kernel.reading(job.job.namespace) { try $0.countDocuments(isLocked) }
    }

    private mutating func readLocks() throws -> [(id: BSONValue, lock: BSONDocument)] {
        let (isLocked, remembered) = (job.isLocked, LockWait.remembered)
        return try kernel.reading(job.job.namespace) { collection in
            let fields = BSONDocument(SyncLock.fields.map { ($0, 1) })
            return try collection.find(
                isLocked, options: ["projection": .object(fields), "limit": .integer(remembered)]
            ).documents().compactMap { document in document["_id"].map { ($0, document) } }
        }
    }

    /// Takes away the locks that are still what they were when the wait began.
    private mutating func unset(_ locks: [(id: BSONValue, lock: BSONDocument)]) throws -> Int {
        var unset = 0
        for part in locks.parts(of: 500) {
            try kernel.keepLease()
            let writer = ChunkWriter(
                job: job.job, phase: job.whole, isJournaled: false, collectionUUID: checkedUUID)
            unset += try kernel.retrying {
                let lease = kernel.leaseForAttempt()
                do throws(MongoError) { return try writer.unset(part, under: lease, on: kernel.client) } catch {
                    kernel.doubt(error)
                    throw error
                }
            }
        }
        return unset
    }
}

/// Documents that cannot be written: each was found by itself, recorded, and is passed over.
struct SkippedDocuments {
    /// The most before the run stops.
    private let most: Int
    /// Those of this run.
    private(set) var failures: [BSONValue: Failure] = [:]
    /// Those of earlier runs, which this one tries again.
    private let earlier: Set<BSONValue>

    init(most: Int, earlier: Set<BSONValue> = []) { (self.most, self.earlier) = (most, earlier) }

    /// Whether this run passes over a document.
    func contains(_ id: BSONValue) -> Bool { failures[id] != nil }

    /// The reason to stop, where one more is too many; that one is not passed over: the next run meets it again.
    func refusal(of failure: Failure) -> RunStop? {
        let count = Set(failures.keys).union(earlier).count
        guard !contains(failure.id), !earlier.contains(failure.id), count >= most else { return nil }
        return .failures(count + 1, allowed: most)
    }

    /// Adds a document that was recorded.
    /// - Returns: whether it is new in this run.
    mutating func add(_ failure: Failure) -> Bool { failures.updateValue(failure, forKey: failure.id) == nil }

    /// Those of this run in slices that a command takes each.
    var slices: [[BSONValue]] { Array(failures.keys).commandSlices(count: 1_000) }
}
