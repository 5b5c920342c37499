import BSON
import Concurrency
import JobReports
import JobState
import Jobs
import Mongo
import Running
import Scanning
import Steps

/// The handling of documents that cannot be written now.
///
/// If the server refuses one document, the whole update fails. The run then finds the refused document, records it as
/// skipped, and writes the others. If Device Sync's translator has locked documents, the run waits for them.
extension BackfillRun {
    /// Continues after the server refused a document of a chunk, and nothing of the chunk was written.
    ///
    /// In the first attempt, many documents share a statement, so the second one has a statement for each document,
    /// which names the refused document. The run records this document as skipped, or stops because too many documents
    /// would be skipped.
    /// - Parameters:
    ///   - ids: the documents that the chunk was to write, in the order of the statements.
    ///   - index: the index of the refused document; `nil` if it is unknown.
    mutating func narrow(_ chunk: Chunk, _ ids: [BSONValue], at index: Int?, _ error: MongoError) throws -> Attempt {
        guard let index = ids.count == 1 ? 0 : chunk.isCareful ? index : nil, ids.indices.contains(index) else {
            // An error that names no document, for example of a read, leads to it by halves.
            let size = chunk.isCareful ? (ids.count + 1) / 2 : ids.count
            return .again(chunk.parts(of: max(1, size), ids, carefully: true))
        }
        let id = ids[index]
        let failure = Failure(id, error, phase: chunk.phase)
        if let stop = skipped.refusal(of: failure) { return .stopped(stop) }
        try kernel.retrying { try kernel.store.failures.skip(failure) }
        if skipped.add(failure) { kernel.events(.skipped(failure)) }
        let phase = job.phase(at: chunk.phase)
        if !phase.isSafe { try release(id, phase) }
        // The documents before the refused one can be written, so they stay together.
        let (before, after) = (Array(ids[..<index]), Array(ids[(index + 1)...]))
        return .again(
            [before, after].filter { !$0.isEmpty }.flatMap { chunk.parts(of: $0.count, $0, carefully: true) })
    }

    /// Releases the reservation of a document that was not written, unless an earlier phase made it unsyncable.
    private mutating func release(_ id: BSONValue, _ phase: Phase) throws {
        // The budget reads what a majority has.
        try kernel.renew()
        let (budget, namespace) = (budget, job.job.namespace)
        let syncable = try kernel.retrying { try budget.syncable(among: [id], by: phase) }
        try kernel.retrying { try kernel.store.reservations.remove(syncable, of: namespace) }
    }

    /// Deletes the record of each skipped document that no longer needs the job, and returns the other records.
    func pruneFailures() throws -> [Failure] {
        let (collection, phases) = (collection, job.phases)
        return try kernel.retrying {
            let recorded = try kernel.store.failures.all()
            var open: Set<BSONValue> = []
            var slices = recorded.map(\.id).commandSlices()
            while let slice = slices.popLast() {
                let needing = phases.flatMap(\.steps).need
                let filter: BSONDocument = ["_id": ["$in": .array(of: slice)], "$expr": needing.bson]
                do {
                    let cursor = collection.find(filter, options: ["projection": ["_id": 1]])
                    open.formUnion(try cursor.documents().compactMap { $0["_id"] })
                } catch let error as MongoError where error.isOfOneDocument {
                    // The server still cannot compute a step for one of the documents.
                    if slice.count == 1 { open.insert(slice[0]) } else { slices += slice.halves }
                }
            }
            try kernel.store.failures.forget(recorded.map(\.id).filter { !open.contains($0) })
            return recorded.filter { open.contains($0.id) }
        }
    }
}

/// The state of the wait for documents that Device Sync's translator has locked.
struct LockWait: Sendable {
    /// When the wait for locked documents ends; `nil` before it begins.
    fileprivate var end: ContinuousClock.Instant?
    /// The `_id`s of locked documents, and their locks when the wait began; empty unless the run may remove locks.
    fileprivate var locks: [(id: BSONValue, lock: BSONDocument)] = []
    /// The number of locked documents that were not recorded as skipped, because there were more than ``remembered``.
    fileprivate(set) var unlisted = 0

    /// The most locks that are read, to remove them or to record their documents as skipped.
    fileprivate static let remembered = 10_000

    fileprivate static let comment = "locks"

    /// The options of a count of locked documents.
    ///
    /// The count has the read concern of ``BackfillRun/countNeeding()``. Otherwise, a document whose lock was removed a
    /// moment ago could be counted neither as locked nor as needing the job, and the run would end without writing it.
    fileprivate static let options = ReadScope.collection.options(comment)
}

extension BackfillRun {
    /// Waits for locked documents; all such waits of a run together last at most as long as the setting `lock-wait`
    /// says.
    /// - Returns: whether documents that are not locked may need the job, so that another pass is due.
    mutating func waitForLocks() throws -> Bool {
        let seen = (survey?.before ?? plan.before).flatMap(\.skipped).contains { left in
            left.reason == CompiledStep.Reason.locked.rawValue && left.count > 0
        }
        guard seen else { return false }
        // The counts in `survey` are out of date after the wait, so the documents have to be counted again.
        survey = nil
        // Documents may have been unlocked since they were last counted. If no document is locked now, another pass is
        // therefore due if a document needs the job.
        guard try countLocked() > 0 else { return try countNeeding() > 0 }
        if skipped.locks.end == nil {
            skipped.locks.end = .now + runner.options.lockWait
            if runner.options.unsetsLocks { skipped.locks.locks = try readLocks() }
            kernel.events(.waitingForLocks(documents: try countLocked(), seconds: runner.options.lockWait.seconds))
        }
        while let end = skipped.locks.end, .now < end, !kernel.stop.isRaised, !isOutOfTime {
            try kernel.sleep(.milliseconds(250))
            let isLeft = try countLocked() > 0
            if try countNeeding() > 0 { return true }
            if !isLeft { return false }
        }
        // Before the end of `lock-wait`, it is unknown which locks stay the same.
        guard !kernel.stop.isRaised, !(isOutOfTime && waitsForLocks) else { return false }
        if runner.options.unsetsLocks, !skipped.locks.locks.isEmpty {
            let unset = try unset(skipped.locks.locks)
            skipped.locks.locks = []
            if unset > 0 { return true }
        }
        let held = try readLocks()
        // All locked documents may have been unlocked since the previous count. Another pass is then due if one of them
        // needs the job.
        if held.isEmpty { return try countNeeding() > 0 }
        for ids in held.map(\.id).commandSlices(count: 1_000) {
            try kernel.retrying { try kernel.store.failures.skip(locked: ids, phase: 0) }
            for id in ids { kernel.events(.skipped(.locked(id, phase: 0))) }
            try kernel.keepLease()
        }
        // Only the first 10,000 locked documents are recorded as skipped; any others are only counted.
        skipped.locks.unlisted = held.count < LockWait.remembered ? 0 : max(0, try countLocked() - held.count)
        return false
    }

    var waitsForLocks: Bool { skipped.locks.end.map { .now < $0 } ?? false }

    /// Whether the time of `--max-runtime` is over.
    var isOutOfTime: Bool { kernel.deadline.map { .now >= $0 } ?? false }

    private mutating func countLocked() throws -> Int {
        let isLocked = job.isLocked
        return try kernel.reading(job.job.namespace) { try $0.countDocuments(isLocked, options: LockWait.options) }
    }

    private mutating func readLocks() throws -> [(id: BSONValue, lock: BSONDocument)] {
        let (isLocked, remembered) = (job.isLocked, LockWait.remembered)
        return try kernel.reading(job.job.namespace) { collection in
            let options = ReadScope.collection.options(
                LockWait.comment,
                ["projection": .object(BSONDocument(SyncLock.fields.map { ($0, 1) })), "limit": .integer(remembered)])
            return try collection.find(isLocked, options: options).documents()
                .compactMap { document in document["_id"].map { ($0, document) } }
        }
    }

    private mutating func unset(_ locks: [(id: BSONValue, lock: BSONDocument)]) throws -> Int {
        var unset = 0
        for part in locks.parts(of: 500) {
            try kernel.keepLease()
            unset += try LockRemoval(job: job.job, collectionUUID: checkedUUID).remove(part, kernel)
            // The counts that follow read what a majority has.
            try kernel.renew()
        }
        return unset
    }
}

/// The documents that a run skips: those that the server refuses, and those that stay locked.
struct SkippedDocuments: Sendable {
    /// The most documents that may be skipped; one more stops the run.
    private let maximum: Int
    /// The documents that this run skipped because the server refused them, by `_id`.
    private(set) var failures: [BSONValue: Failure] = [:]
    /// The wait for documents that Device Sync's translator has locked; documents that are still locked after it are
    /// skipped.
    var locks = LockWait()
    /// The documents that earlier runs skipped and that this run tries again.
    private let earlier: Set<BSONValue>

    init(maximum: Int, earlier: Set<BSONValue> = []) { (self.maximum, self.earlier) = (maximum, earlier) }

    /// Whether this run has skipped a document because the server refused it.
    func contains(_ id: BSONValue) -> Bool { failures[id] != nil }

    /// Returns the reason to stop if one more skipped document would be too many; `nil` if the document may be skipped.
    ///
    /// If the run stops, the document does not count as skipped, and the next run tries it again.
    func refusal(of failure: Failure) -> RunStop? {
        let count = Set(failures.keys).union(earlier).count
        guard !contains(failure.id), !earlier.contains(failure.id), count >= maximum else { return nil }
        return .failures(count + 1, allowed: maximum)
    }

    /// Adds a document that was recorded as skipped.
    /// - Returns: whether this run skips the document for the first time.
    mutating func add(_ failure: Failure) -> Bool { failures.updateValue(failure, forKey: failure.id) == nil }

    /// The `_id`s of the documents that the server refused, in slices that each fit into a command.
    var slices: [[BSONValue]] { Array(failures.keys).commandSlices(count: 1_000) }
}
