import BSON
import Checking
import Concurrency
import JobState
import Jobs
import Mongo
import Running
import Scanning
import ServerSchema
import Steps

/// The unsync budget of a job: it decides how many documents of a chunk may be written.
///
/// The budget applies only to chunks that can make documents unsyncable.
struct UnsyncBudget {
    /// The job, compiled with the schema that is active now.
    let job: CompiledJob
    let collection: MongoCollection
    let ledger: UnsyncLedger
    let limits: Job.Limits
    let stop: StopSignal

    /// The limit of unsynced documents, which the job shares with everything else that reserves in the same state
    /// database.
    var limit: SharedLimit { SharedLimit(ledger: ledger, limits: limits) }

    /// The documents of a chunk that may be written, and which of them need a reservation first.
    struct Decision {
        /// The first documents of the chunk, as many as the budget has room for, with their judgements.
        var documents: [DueDocument] = []
        /// The `_id`s of the documents that need a reservation before the write.
        ///
        /// A reservation takes room in the budget until its document turns out to be syncable, or the ledger shows it.
        var counted: [BSONValue] { documents.filter { $0.judgement?.isCounted ?? false }.map(\.id) }
        /// The documents of ``counted`` that this job has not reserved yet.
        var newlyRecorded: [BSONValue] = []
        /// The documents for which the ledger has an outdated entry: they sync now, but will not after the write.
        var stale: [BSONValue] = []
    }

    /// Judges documents in order, and returns the documents before the first one that the budget has no room for.
    ///
    /// At most `room` of the returned documents take room in the budget. A document takes no room in four cases: it has
    /// no judgement; the phase cannot make it unsyncable; a killed run or another job has already reserved it; or the
    /// ledger shows it and its judgement is ``Judgement/possiblyUnsyncable``.
    func decide(
        _ documents: [DueDocument], of phase: Phase, room: Int, _ store: borrowing StateStore
    ) throws -> Decision {
        var decision = Decision()
        var room = room
        for batch in documents.parts(of: Self.batch) {
            for document in try recorded(try judged(batch, of: phase), store) {
                if document.isCounted, !document.isRecorded {
                    guard room > 0 else { return decision }
                    room -= 1
                }
                if document.isCounted, !document.isOwn { decision.newlyRecorded.append(document.document.id) }
                if document.isStale { decision.stale.append(document.document.id) }
                decision.documents.append(document.document)
            }
        }
        return decision
    }

    /// Returns the documents with judgements of what the phase does to them under the active schema.
    ///
    /// A document has no judgement if there is no active schema, or if its change is unknown.
    func judged(_ documents: [DueDocument], of phase: Phase) throws -> [DueDocument] {
        guard let active = job.active else { return documents }
        return try documents.map { document in
            var judged = document
            judged.judgement = try document.change.map { try Judgement($0, of: phase, under: active) }
            return judged
        }
    }

    private struct Recorded {
        let document: DueDocument
        /// Whether the document already counts in the budget, and so takes no more room.
        ///
        /// Either the document is reserved already, or the ledger shows it and its judgement is
        /// ``Judgement/possiblyUnsyncable``.
        var isRecorded: Bool
        /// Whether this job itself has reserved the document, for example in a run that was killed.
        var isOwn: Bool
        /// Whether the ledger still has an outdated entry for the document, which syncs now but will not after the
        /// write.
        var isStale: Bool
        var isCounted: Bool { document.judgement?.isCounted ?? false }
    }

    /// Looks up which documents of a batch are reserved, and which documents of the batch the ledger shows.
    ///
    /// Documents that the budget does not count are not looked up.
    private func recorded(_ batch: [DueDocument], _ store: borrowing StateStore) throws -> [Recorded] {
        let counted = batch.filter { $0.judgement?.isCounted ?? false }.map(\.id)
        let pending = try store.reservations.pendingOfAny(among: counted, of: collection.namespace)
        let own = try store.reservations.pending(among: Array(pending), of: collection.namespace)
        let shown = try ledger.listed(counted, of: collection.namespace)
        return batch.map { document in
            let isShown = shown.contains(document.id)
            return Recorded(
                document: document,
                isRecorded: pending.contains(document.id) || document.judgement == .possiblyUnsyncable && isShown,
                isOwn: own.contains(document.id),
                isStale: document.judgement == .unsyncable && isShown)
        }
    }

    /// How many documents are looked up at once in the reservations and in the ledger.
    static let batch = 1_000
}

extension UnsyncBudget {
    /// Returns which of the given documents the phase did not make unsyncable when it wrote them.
    ///
    /// Each returned document syncs, no longer exists, or did not sync before the write either. If a document violates
    /// the active schema at a field that no step in ``Phase/riskySteps`` changes, it did not sync before. All documents
    /// are returned if there is no active schema.
    func syncable(among ids: [BSONValue], by phase: Phase) throws -> [BSONValue] {
        guard let active = job.active else { return ids }
        var unsyncable: Set<BSONValue> = []
        try eachFailing(ids, active) { view in
            let violations = try active.violations(in: view, includingInfo: false).filter { $0.level == .certain }
            let isTheirs = violations.contains { violation in
                !phase.riskySteps.flatMap(\.step.targets).contains { violation.path.meets($0) }
            }
            if !isTheirs, let id = BSONDocument(copying: view)["_id"] { unsyncable.insert(id) }
        }
        return ids.filter { !unsyncable.contains($0) }
    }

    /// Releases the reservations of documents that sync again, or no longer exist.
    ///
    /// A document keeps its reservation while the ledger may still show it. The function examines the reservations of
    /// the jobs in `runners`, and of jobs that no runner holds. It skips documents that a run has seen in the ledger.
    /// - Parameter runners: the names of jobs whose leases the caller holds; these jobs must have written every chunk
    ///   that they reserved.
    /// - Returns: how many of the examined documents sync again, or no longer exist.
    @discardableResult
    func freeRepaired(_ store: borrowing StateStore, including runners: [String]) throws -> Int {
        let jobs = try store.reservations.idleJobs(of: collection.namespace, including: runners)
        var count = 0
        for batch in try pending(store, by: jobs) where !stop.isRaised {
            count += try noteRepaired(among: batch, by: jobs, store)
        }
        try removeRepaired(store, by: jobs)
        return count
    }

    /// Releases the reservations of documents that were repaired so long ago that the ledger no longer shows them.
    func removeRepaired(_ store: borrowing StateStore, by jobs: [String]) throws(MongoError) {
        try store.reservations.removeRepaired(since: grace(store), of: collection.namespace, by: jobs)
    }

    /// Returns how long a repaired document keeps its reservation, because the ledger may still show it.
    func grace(_ store: borrowing StateStore) -> Duration {
        ledger.isNone ? .zero : max(limits.throttle.ledgerLag, store.terms.writeLimit)
    }

    /// Marks the reservations of documents that sync again or no longer exist, and removes the mark of the others.
    ///
    /// The mark is the time at which the document was found to sync again or to be gone. If the reservation of a marked
    /// document is older than twice ``grace(_:)``, and the ledger does not show the document, the reservation is
    /// removed at once.
    /// - Returns: how many of the documents sync again or no longer exist.
    func noteRepaired(among ids: [BSONValue], by jobs: [String], _ store: borrowing StateStore) throws -> Int {
        let namespace = collection.namespace
        let repaired = try repaired(among: ids)
        let isRepaired = Set(repaired)
        try store.reservations.note(
            repaired: repaired, unsyncable: ids.filter { !isRepaired.contains($0) }, of: namespace, by: jobs)
        // Long after a reservation, the ledger shows the document if it does not sync. If the ledger does not show a
        // repaired document by then, its reservation is not needed any more.
        let shown = try ledger.listed(repaired, of: namespace)
        let grace = grace(store)
        try store.reservations.removeUnseen(
            repaired.filter { !shown.contains($0) }, olderThan: grace + grace, of: namespace, by: jobs)
        return repaired.count
    }

    /// Returns, in batches, the documents that the given jobs reserved and that no run has seen in the ledger yet.
    func pending(_ store: borrowing StateStore, by jobs: [String]) throws(MongoError) -> [[BSONValue]] {
        try store.reservations.pending(of: collection.namespace, by: jobs).commandSlices(count: Self.batch)
    }

    /// Returns how many reserved documents sync again or no longer exist.
    ///
    /// The function examines the reservations of this job and of jobs that no runner holds. It skips documents that a
    /// run has seen in the ledger. A run releases the reservations of the counted documents.
    func repairedCount(_ store: borrowing StateStore) throws -> Int {
        let jobs = try store.reservations.idleJobs(of: collection.namespace, including: [store.job])
        var count = 0
        for batch in try pending(store, by: jobs) where !stop.isRaised { count += try repaired(among: batch).count }
        return count
    }

    private func repaired(among ids: [BSONValue]) throws -> [BSONValue] {
        guard let active = job.active else { return [] }
        var failing: Set<BSONValue> = []
        try eachFailing(ids, active) { view in
            if let id = BSONDocument(copying: view)["_id"] { failing.insert(id) }
        }
        return ids.filter { !failing.contains($0) }
    }

    /// Calls `body` with each listed document that does not sync under the active schema.
    private func eachFailing(
        _ ids: [BSONValue], _ active: CompiledSchema, _ body: (borrowing BSONView) throws -> Void
    ) throws {
        let documents = IDReader(collection: collection, options: ["readConcern": ["level": "majority"]])
        try documents.read(ids) { if try active.check($0) == .certain { try body($0) } }
    }
}

extension SchemaPath {
    /// Whether one of the two paths is a prefix of the other.
    ///
    /// A component `[]` of `path` matches every step. The step for the values of a dictionary matches every name.
    fileprivate func meets(_ path: FieldPath) -> Bool {
        zip(steps, path.components).allSatisfy { step, name in
            step == .field(name) || step == .values || name == FieldPath.each
        }
    }
}

/// The number of documents that a run makes unsyncable, the headroom for them, and the reserved documents that the run
/// still has to check.
struct UnsyncAccount {
    /// How many documents the run made unsyncable under the active schema, or tried to make unsyncable by a failed
    /// write.
    private(set) var unsyncable = 0
    /// The headroom as read for the previous chunk; `nil` if it has to be read before the next chunk.
    var headroom: Headroom?
    /// Reserved documents that may still be syncable; they were not checked after their write.
    private(set) var unconfirmed: [BSONValue] = []
    /// Documents that ``unsyncable`` counts although their write has no checkpoint yet; a repeated write does not count
    /// them again.
    private var inDoubt: Set<BSONValue> = []

    /// Adds to ``unconfirmed`` the documents that were reserved because they may become unsyncable.
    ///
    /// The write makes such a document unsyncable only if a user changes the document first.
    mutating func reserve(possiblyUnsyncable ids: [BSONValue]) { unconfirmed += ids }

    /// Counts documents that a write is about to make unsyncable.
    ///
    /// The caller counts them before the write, because a write that fails may have changed some of them.
    mutating func begin(unsyncable ids: [BSONValue]) {
        unsyncable += ids.count { !inDoubt.contains($0) }
        inDoubt.formUnion(ids)
    }

    /// Records that a checkpoint confirms the write of the given documents.
    mutating func confirm(unsyncable ids: [BSONValue]) { inDoubt.subtract(ids) }

    /// Removes a document from the count, because it was not written, and adds it to ``unconfirmed``.
    mutating func skip(_ id: BSONValue) {
        unconfirmed.append(id)
        if inDoubt.remove(id) != nil { unsyncable -= 1 }
    }

    /// Empties ``unconfirmed``, and returns its documents, which the caller has to check.
    mutating func takeUnconfirmed() -> [BSONValue] {
        defer { unconfirmed = [] }
        return unconfirmed
    }
}

/// The budget's judgement of the change that a phase makes to one document.
enum Judgement: Hashable {
    /// The document syncs under the active schema before the change, and would not after it.
    case unsyncable
    /// The phase changes the document by a step that can make documents unsyncable, but does not make this one
    /// unsyncable.
    ///
    /// Either the document fails under the active schema already, or its new values fit. If a user changes it before
    /// the write, the write may still make it unsyncable.
    case possiblyUnsyncable
    /// No step that can make documents unsyncable changes the document.
    ///
    /// The write leaves out all such steps, so it cannot make the document unsyncable even if a user changes the
    /// document first.
    case safe

    /// Whether the document is reserved before it is written.
    ///
    /// A reserved document takes room in the budget until it turns out to be syncable, or the ledger shows it.
    var isCounted: Bool { self != .safe }

    /// Judges a document by its fields before and after the change.
    init(_ change: DueDocument.Change, of phase: Phase, under active: CompiledSchema) throws {
        let isTouched = try phase.riskySteps.flatMap(\.step.kind.touched).contains { target in
            let (old, new) = (try change.before.value(at: target), try change.after.value(at: target))
            return if let old, let new { !old.hasSameBytes(as: new) } else { old != new }
        }
        guard isTouched else {
            self = .safe
            return
        }
        let isUnsyncable =
            try active.check(change.before.view) != .certain && active.check(change.after.view) == .certain
        self = isUnsyncable ? .unsyncable : .possiblyUnsyncable
    }
}
