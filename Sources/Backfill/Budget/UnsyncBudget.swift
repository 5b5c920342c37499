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

/// The budget of unsynced documents: how much of a chunk that can make documents unsyncable may be written.
struct UnsyncBudget {
    /// The job, with the schema that is active now.
    let job: CompiledJob
    let collection: MongoCollection
    let ledger: UnsyncLedger
    let limits: Job.Limits
    let stop: StopSignal

    /// The limit that the job shares with all other jobs and partners.
    var limit: SharedLimit { SharedLimit(ledger: ledger, limits: limits) }

    /// The part of a chunk that may be written, and the documents to reserve before.
    struct Decision {
        /// The documents that there is room for, with their judgements.
        var documents: [DueDocument] = []
        /// The documents to reserve before the write: they take room until they turn out to be syncable, or the ledger
        /// shows them.
        var counted: [BSONValue] { documents.filter { $0.judgement?.isCounted ?? false }.map(\.id) }
        /// The documents of ``counted`` that this job had not reserved before.
        var newlyRecorded: [BSONValue] = []
        /// The documents that sync although the ledger shows them, because it has not noticed their repair yet.
        var stale: [BSONValue] = []
    }

    /// Judges documents, and returns as many as there is room for.
    ///
    /// A document that an earlier, killed run or another job reserved is pending already, and one that may become
    /// unsyncable and that the ledger shows is counted there. Neither takes room again.
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

    /// Returns the documents with the judgement of what the phase does to them under the active schema.
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
        /// Whether it takes room already.
        var isRecorded: Bool
        /// Whether this job itself reserved it.
        var isOwn: Bool
        /// Whether the write makes it unsyncable although the ledger shows it already.
        var isStale: Bool
        var isCounted: Bool { document.judgement?.isCounted ?? false }
    }

    /// Completes a batch with what the reservations and the ledger show of its documents.
    private func recorded(_ batch: [DueDocument], _ store: borrowing StateStore) throws -> [Recorded] {
        let counted = batch.filter { $0.judgement?.isCounted ?? false }.map(\.id)
        let pending = try store.reservations.pendingOfAny(among: counted, of: collection.namespace)
        let own = try store.reservations.pending(among: Array(pending), of: collection.namespace)
        let shown = try ledger.holding(counted, of: collection.namespace)
        return batch.map { document in
            let isShown = shown.contains(document.id)
            return Recorded(
                document: document,
                isRecorded: pending.contains(document.id) || document.judgement == .atRisk && isShown,
                isOwn: own.contains(document.id),
                isStale: document.judgement == .harmful && isShown)
        }
    }

    /// How many documents are looked up at once.
    static let batch = 1_000
}

extension UnsyncBudget {
    /// Returns which of these written documents the phase did not make unsyncable: they sync, are gone, or fail at a
    /// field that no risky step changes, and so failed before.
    func unharmed(among ids: [BSONValue], by phase: Phase) throws -> [BSONValue] {
        guard let active = job.active else { return ids }
        var harmed: Set<BSONValue> = []
        try eachFailing(ids, active) { view in
            let violations = try active.violations(in: view, includingInfo: false).filter { $0.level == .certain }
            let isTheirs = violations.contains { violation in
                !phase.riskySteps.flatMap(\.step.targets).contains { violation.path.meets($0) }
            }
            if !isTheirs, let id = BSONDocument(copying: view)["_id"] { harmed.insert(id) }
        }
        return ids.filter { !harmed.contains($0) }
    }

    /// Releases the reservations of documents that jobs made unsyncable and that sync again, or are gone.
    ///
    /// A document keeps its reservation while the ledger may still show it. Only the jobs that no runner holds count,
    /// and those of `runners`.
    /// - Parameter runners: jobs that the caller holds, while they have no chunk that is reserved and not yet written.
    /// - Returns: how many documents sync again, or are gone.
    @discardableResult
    func freeRepaired(_ store: borrowing StateStore, besides runners: [String]) throws -> Int {
        let jobs = try store.reservations.settledJobs(of: collection.namespace, besides: runners)
        var count = 0
        for batch in try pending(store, by: jobs) where !stop.isRaised {
            count += try noteRepaired(among: batch, by: jobs, store)
        }
        try takeBackRepaired(store, by: jobs)
        return count
    }

    /// Releases the reservations of documents that have been repaired for long enough.
    func takeBackRepaired(_ store: borrowing StateStore, by jobs: [String]) throws(MongoError) {
        try store.reservations.removeRepaired(since: grace(store), of: collection.namespace, by: jobs)
    }

    /// Returns how long a repaired document keeps its reservation, because the ledger may still show it.
    func grace(_ store: borrowing StateStore) -> Duration {
        ledger.isNone ? .zero : max(limits.throttle.ledgerLag, store.terms.writeLimit)
    }

    /// Records which of these documents sync again, or are gone.
    /// - Returns: how many they are.
    func noteRepaired(among ids: [BSONValue], by jobs: [String], _ store: borrowing StateStore) throws -> Int {
        let namespace = collection.namespace
        let repaired = try repaired(among: ids)
        let isRepaired = Set(repaired)
        try store.reservations.note(
            repaired: repaired, harmed: ids.filter { !isRepaired.contains($0) }, of: namespace, by: jobs)
        // The ledger would show documents that were reserved so long ago if it had not noticed their repair.
        let shown = try ledger.holding(repaired, of: namespace)
        let grace = grace(store)
        try store.reservations.removeUnseen(
            repaired.filter { !shown.contains($0) }, olderThan: grace + grace, of: namespace, by: jobs)
        return repaired.count
    }

    /// Returns the pending documents that these jobs reserved, in batches.
    func pending(_ store: borrowing StateStore, by jobs: [String]) throws(MongoError) -> [[BSONValue]] {
        try store.reservations.pending(of: collection.namespace, by: jobs).commandSlices(count: Self.batch)
    }

    /// Returns how many documents that jobs made unsyncable sync again, or are gone; a run releases their reservations.
    func repairedCount(_ store: borrowing StateStore) throws -> Int {
        let jobs = try store.reservations.settledJobs(of: collection.namespace, besides: [store.job])
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

    /// Calls `body` with each of these documents that does not sync under the active schema.
    private func eachFailing(
        _ ids: [BSONValue], _ active: CompiledSchema, _ body: (borrowing BSONView) throws -> Void
    ) throws {
        let documents = IDReader(collection: collection, options: ["readConcern": ["level": "majority"]])
        try documents.read(ids) { if try active.check($0) == .certain { try body($0) } }
    }
}

extension SchemaPath {
    /// Whether one of the two paths is the beginning of the other.
    fileprivate func meets(_ path: FieldPath) -> Bool {
        zip(steps, path.components).allSatisfy { step, name in
            step == .field(name) || step == .values || name == FieldPath.each
        }
    }
}

/// The account of the documents that a run makes unsyncable.
struct UnsyncAccount {
    /// How many documents the run made unsyncable under the active schema.
    private(set) var harmed = 0
    /// The sum of unsynced documents at the previous chunk; `nil` when it has to be read again.
    var headroom: Headroom?
    /// Documents that may have become unsyncable, reserved since the last check of what became of them.
    private(set) var unsettled: [BSONValue] = []
    /// Documents whose write makes them unsyncable and is not confirmed; a repeated write does not count them again.
    private var inDoubt: Set<BSONValue> = []

    /// Adds documents that were reserved although their write, by what is known now, does not make them unsyncable.
    mutating func reserve(atRisk ids: [BSONValue]) { unsettled += ids }

    /// Counts documents that a write is about to make unsyncable: before it, like the reservation, because a failed
    /// write may have been done in part.
    mutating func begin(harming ids: [BSONValue]) {
        harmed += ids.count { !inDoubt.contains($0) }
        inDoubt.formUnion(ids)
    }

    /// Removes the doubt about documents whose write is checkpointed.
    mutating func confirm(harming ids: [BSONValue]) { inDoubt.subtract(ids) }

    /// Corrects the count for a document that was not written after all, and has its reservation checked.
    mutating func skip(_ id: BSONValue) {
        unsettled.append(id)
        if inDoubt.remove(id) != nil { harmed -= 1 }
    }

    /// Returns the documents that may have become unsyncable, which are to be checked now.
    mutating func settle() -> [BSONValue] {
        defer { unsettled = [] }
        return unsettled
    }
}

/// The budget's judgement of one document that needs the job.
enum Judgement: Hashable {
    /// The document syncs under the active schema as it is, and would not after the change.
    case harmful
    /// A risky step changes the document without making it unsyncable, because it fails already or its new values fit;
    /// a user may change it before it is written, so that the write makes it unsyncable.
    case atRisk
    /// No risky step changes the document.
    ///
    /// Only the other steps write it, whatever a user changes before, and they are proven to keep a document syncing.
    case harmless

    /// Whether the document is reserved before it is written, and takes room until it turns out to be syncable, or the
    /// ledger shows it.
    var isCounted: Bool { self != .harmless }

    /// Judges a document as it is and as it would be.
    init(_ change: DueDocument.Change, of phase: Phase, under active: CompiledSchema) throws {
        let isTouched = try phase.riskySteps.flatMap(\.step.kind.touched).contains { target in
            let (old, new) = (try change.before.value(at: target), try change.after.value(at: target))
            return if let old, let new { !old.hasSameBytes(as: new) } else { old != new }
        }
        guard isTouched else {
            self = .harmless
            return
        }
        let isHarmed = try active.check(change.before.view) != .certain && active.check(change.after.view) == .certain
        self = isHarmed ? .harmful : .atRisk
    }
}
