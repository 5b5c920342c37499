import BSON
import Checking
import Concurrency
import JobState
import Jobs
import Mongo
import Running
import Steps

/// The loop of an undo over the journal, the newest chunk first: each batch of entries is one transaction, which reads
/// the documents, compares them, restores them and replaces the entries by what is left of them.
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
    var memory = UndoMemory()
    /// The counts of this undo for the documents that the job inserted in other collections, such as how many it
    /// removed.
    var children = ChildTally()
    /// The number of documents in other collections that earlier undos of the job removed.
    let earlierRemoved: Int
    var batch: Int
    let reads: UndoReads

    /// The most entries of a batch.
    static let batch = 2_000

    var collection: MongoCollection { kernel.client.collection(subject.namespace) }

    /// Undoes the entries of the journal, from the newest one back to the oldest one.
    mutating func run() throws -> RunStop? {
        var position: JournalPosition?
        while let part = try kernel.retrying({ try kernel.store.journal.part(before: position) }) {
            overlay?.enter(part)
            memory.begin()
            var open = part.entries.indices[...]
            var isFallenBack = false
            while !open.isEmpty, !isFallenBack {
                kernel.throttler?.note(changed: earlier + tally.restored, size: subject.target.averageSize)
                if let stop = try kernel.waitForThrottle() { return stop }
                kernel.restart()
                let entries = open.prefix(batch)
                let attempt: Attempt
                do { attempt = try undo(Array(entries), of: part) } catch let error as MongoError
                    where error.code == .collectionUUIDMismatch
                {
                    try checkCollection()
                    throw error
                }
                switch attempt {
                case .done(let count):
                    open = open.dropFirst(count)
                    batch = min(Self.batch, batch + max(1, batch / 2))
                    runner.events(.chunk(documents: count, modified: 0))
                    if !kernel.isDry { try kernel.sleep(kernel.worked * (subject.job?.job.limits.nice ?? 0)) }
                case .again(let size): batch = max(1, size)
                case .fallenBack: isFallenBack = true
                case .stopped(let stop): return stop
                }
            }
            // After an election, newer entries may be there again.
            position = isFallenBack ? nil : part.position
        }
        // The next steps read only data that a majority has.
        try kernel.renew()
        guard let record = try kernel.takeFallenBack() else { return nil }
        resume(record)
        return try run()
    }

    /// Continues from the job's record, which differs from what the undo remembers.
    mutating func resume(_ record: BSONDocument) {
        let undoing = record["undo"]?.document.map(Undoing.init)
        tally.restored = max(0, (undoing?.restored ?? 0) - earlier)
        memory = UndoMemory()
        kernel.events(.rerun)
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
