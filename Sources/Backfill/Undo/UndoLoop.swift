import BSON
import Mongo

/// The loop over the journal: a batch of entries at a time, newest first, each checkpointed.
struct UndoLoop: ~Copyable {
    let runner: UndoRunner
    let subject: UndoSubject
    let client: Client
    let store: StateStore
    /// `nil` when what the documents become is not judged.
    let gate: Gate?
    /// `nil` in a dry run, and for a job whose text cannot be read any more.
    let brakes: Brakes?
    let deadline: ContinuousClock.Instant?
    /// `nil` in a dry run, which writes nothing.
    var holding: Holding?
    var overlay: UndoOverlay?
    var tally = UndoTally()
    /// What earlier undos of the job took back.
    let earlier: Int
    /// The only documents that are looked at; `nil` for all.
    let retried: Set<BSONValue>?
    /// Documents that an earlier undo left alone.
    let leftBefore: Set<BSONValue>
    /// Documents of other collections.
    var children = ChildTally()
    /// Those that earlier undos of the job removed.
    let earlierRemoved: Int
    var gaps: UndoGaps
    var batch: Int

    /// The most entries of a batch.
    static let batch = 2_000

    var collection: MongoCollection { client.collection(subject.namespace) }

    /// Walks from a place in the journal to its oldest entry, or gives the reason to stop.
    mutating func run(from start: JournalPosition?) throws -> BackfillReport.Stop? {
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
            while done < part.entries.count {
                if runner.stop.isRaised { return .signal }
                if let deadline, .now >= deadline { return .timeBudget }
                if let stop = try passBrakes() { return stop }
                let started = ContinuousClock.now
                let entries = part.entries[done..<min(done + batch, part.entries.count)]
                switch try undo(entries, of: part) {
                case .done(let count): done += count
                case .tooSlow:
                    batch = max(1, batch / 2)
                    continue
                case .stopped(let stop): return stop
                }
                batch = min(Self.batch, batch + max(1, batch / 2))
                try checkpoint(
                    JournalPosition(sequence: part.position.sequence, part: part.position.part, entries: done))
                runner.events(.chunk(documents: entries.count, modified: 0))
                try rest(after: started.duration(to: .now))
            }
            (position, isIncluded) = (part.position, false)
        }
        return nil
    }

    private func nextPart(upTo position: JournalPosition?, orAt isIncluded: Bool) throws -> JournalPart? {
        try runner.patience.bridging { try store.journalPart(upTo: position, orAt: isIncluded) }
    }

    /// Waits until no brake holds.
    /// - Returns: the reason to stop when there is one.
    mutating func passBrakes() throws -> BackfillReport.Stop? {
        guard let brakes else { return nil }
        var recorded: [Brake] = []
        let runner = runner
        return try brakes.wait(stop: runner.stop, deadline: deadline, events: runner.events) { holds in
            guard recorded != holds.map(\.brake) || holding?.isHalfOver == true else { return }
            try renew(setting: StateStore.waiting(for: holds))
            recorded = holds.map(\.brake)
        }
    }

    private mutating func checkpoint(_ position: JournalPosition) throws {
        guard holding != nil else { return }
        FaultPoint.afterRestore.reached()
        // A further walk over what is left has no place to go on from.
        let changes = retried == nil ? StateStore.undone(to: position, restored: earlier + tally.restored) : [:]
        try renew(setting: changes)
    }

    mutating func renew(setting changes: BSONDocument = [:]) throws {
        guard let lease = holding?.lease else { return }
        let (renewed, askedAt) = try runner.patience.bridging {
            let askedAt = ContinuousClock.now
            return (try store.renew(lease, setting: changes), askedAt)
        }
        holding?.renew(renewed, askedAt: askedAt)
    }

    /// Rests in proportion to the work, as the job does.
    private mutating func rest(after work: Duration) throws {
        guard let holding else { return }
        let end = ContinuousClock.now + work * (subject.job?.job.limits.nice ?? 0)
        let until = min(end, deadline ?? end)
        while .now < until, !runner.stop.isRaised {
            Thread.sleep(min(ContinuousClock.now.duration(to: until), .milliseconds(200)))
            if holding.isHalfOver { try renew() }
        }
    }
}
