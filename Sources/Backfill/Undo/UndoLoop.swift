import BSON
import Checking
import Concurrency
import JobState
import Jobs
import Mongo
import Running
import Steps

/// The loop of an undo over the journal: it processes batches of entries, the newest first, and writes a checkpoint
/// after each.
struct UndoLoop: ~Copyable {
    let runner: UndoRunner
    let subject: UndoSubject
    /// The services that the undo shares with runs, such as retries and the lease; a dry run has no lease.
    var kernel: Kernel
    /// The limit on documents that the undo may make unsyncable; `nil` if the undo does not check this.
    let budget: UnsyncBudget?
    var overlay: UndoOverlay?
    var tally = UndoTally()
    /// How many changes earlier undos of the job undid.
    let earlier: Int
    var memory: UndoMemory
    /// The counts of this undo for the documents that the job inserted in other collections, such as how many it
    /// removed.
    var children = ChildTally()
    /// The number of documents in other collections that earlier undos of the job removed.
    let earlierRemoved: Int
    var batch: Int
    var reads: UndoReads
    /// Whether the undo also undoes changes that the job might not have made.
    var includesUncertain = false

    /// The most entries of a batch.
    static let batch = 2_000

    var collection: MongoCollection { kernel.client.collection(subject.namespace) }

    /// Undoes the entries of the journal from `start` (if `nil`, from the newest entry) back to the oldest one.
    /// - Returns: why the undo has to stop; `nil` if it can continue.
    mutating func run(from start: JournalPosition?) throws -> RunStop? {
        var position = start
        var isIncluded = true
        while let part = try nextPart(upTo: position, orAt: isIncluded) {
            var done = 0
            if isIncluded, let position, position.sequence == part.position.sequence,
                position.part == part.position.part
            {
                done = position.entries
            }
            overlay?.enter(part)
            memory.begin(try kernel.retrying { try kernel.store.journal.written(part.position.sequence) })
            while done < part.entries.count {
                kernel.throttler?.note(changed: earlier + tally.restored, size: subject.target.averageSize)
                if let stop = try kernel.waitForThrottle() { return stop }
                kernel.restart()
                let entries = part.entries[done..<min(done + batch, part.entries.count)]
                let next = part.entries[entries.endIndex...].prefix(grown)
                let attempt: Attempt
                do { attempt = try undo(entries, before: next, of: part) } catch let error as MongoError
                    where error.code == .collectionUUIDMismatch
                {
                    try checkCollection()
                    throw error
                }
                switch attempt {
                case .done(let count):
                    done += count
                    let memory = memory
                    tally.finish(entries.prefix(count).map(\.id)) { memory.isOpen($0) }
                    self.memory.endBatch()
                case .tooSlow:
                    batch = max(1, batch / 2)
                    continue
                case .stopped(let stop): return stop
                }
                batch = grown
                try checkpoint(
                    JournalPosition(sequence: part.position.sequence, part: part.position.part, entries: done))
                runner.events(.chunk(documents: entries.count, modified: 0))
                if !kernel.isDry { try kernel.sleep(kernel.worked * (subject.job?.job.limits.nice ?? 0)) }
            }
            (position, isIncluded) = (part.position, false)
        }
        return nil
    }

    /// The number of entries of the next batch, if the current batch succeeds.
    private var grown: Int { min(Self.batch, batch + max(1, batch / 2)) }

    private func nextPart(upTo position: JournalPosition?, orAt isIncluded: Bool) throws -> JournalPart? {
        try kernel.retrying { try kernel.store.journal.part(upTo: position, orAt: isIncluded) }
    }

    /// Throws if the collection was dropped, renamed or created again during the undo.
    ///
    /// A server before MongoDB 6.0 cannot check at each command that the collection still has the same UUID. Without
    /// the check in this function, the documents of the journal would look as if other clients had deleted them.
    func checkCollection() throws {
        let (name, namespace, uuid) = (subject.name, subject.namespace, subject.target.uuid)
        guard let fate = try kernel.retrying({ try Target.fate(of: namespace, uuid, for: name, on: kernel.client) })
        else {
            return
        }
        throw RunError(.bindingChanged, "the undo of job \"\(name)\" cannot continue: \(fate)")
    }

    private mutating func checkpoint(_ position: JournalPosition) throws {
        guard !kernel.isDry else { return }
        FaultInjection.reached(.afterRestore)
        // An undo that only retries skipped documents is never resumed, so it stores no position.
        let changes = memory.isRetry ? [:] : RangeChange.undone(to: position, restored: earlier + tally.restored)
        try kernel.renew(setting: changes)
    }
}

/// Releases the places in the unsync budget that the job reserved for documents which sync again after the undo.
extension UndoLoop {
    /// Records which of the restored documents sync again after the job had made them unsyncable.
    ///
    /// Such a document still counts against the unsync budget while the ledger of unsynced documents might list it.
    func noteRepaired(_ restored: [Restoring]) throws {
        guard let active = budget?.job.active else { return }
        var repaired: [BSONValue] = []
        for document in restored {
            let after = try document.restored()
            if try active.check(after.view) != .certain { repaired.append(document.id) }
        }
        let namespace = subject.namespace
        try kernel.retrying {
            let pending = try kernel.store.reservations.pending(among: repaired, of: namespace)
            guard !pending.isEmpty else { return }
            try kernel.store.reservations.note(
                repaired: repaired.filter(pending.contains), unsyncable: [], of: namespace)
        }
    }

    /// Waits until the ledger of unsynced documents can no longer list the documents that sync again after the undo.
    ///
    /// Then their reservations in the unsync budget are released.
    /// - Returns: why the undo has to stop; `nil` if all these reservations are released.
    mutating func releaseRepaired() throws -> RunStop? {
        guard let budget else { return nil }
        let grace = budget.grace(kernel.store)
        var isReported = false
        while true {
            let left = try kernel.retrying { () throws -> Int in
                try budget.freeRepaired(kernel.store, including: [kernel.store.job])
                return try kernel.store.reservations.repairedCount(of: subject.namespace)
            }
            guard left > 0 else { return nil }
            if !isReported { runner.events(.waitingForLedger(documents: left, seconds: grace.seconds)) }
            isReported = true
            try kernel.sleep(min(grace, .seconds(2)))
            if runner.stop.isRaised { return .signal }
            if let deadline = kernel.deadline, .now >= deadline { return .timeBudget }
        }
    }
}
