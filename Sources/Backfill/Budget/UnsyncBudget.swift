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

/// The budget of unsynced documents: before each chunk that can do harm, how much of it may be written.
struct UnsyncBudget {
    /// The job, with the schema that is active now.
    let job: CompiledJob
    let collection: MongoCollection
    let ledger: UnsyncLedger
    let limits: Job.Limits
    let stop: StopSignal

    /// The limit that the job shares with all others.
    var limit: SharedLimit { SharedLimit(ledger: ledger, limits: limits) }

    /// The part of a chunk that may be written, and what has to be recorded before.
    struct Decision {
        /// The documents that there is room for, judged.
        var documents: [DueDocument] = []
        /// The ones that are recorded before the write: they take room until they are known to be unharmed, or the ledger
        /// shows them.
        var counted: [BSONValue] { documents.filter { $0.judgement?.isCounted ?? false }.map(\.id) }
        /// Those of ``counted`` that this job had not recorded before.
        var newlyRecorded: [BSONValue] = []
        /// Those that sync and that the ledger shows nevertheless: it has not noticed their repair yet.
        var stale: [BSONValue] = []
    }

    /// Judges documents, and takes as many as there is room for.
    ///
    /// A document that a run which died recorded, or another job, is pending already, and one at risk that the ledger
    /// shows is counted there: none of them takes room again.
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

    /// The documents with what the phase does to them under the active schema.
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
        /// Whether it is counted already.
        var isRecorded: Bool
        /// Whether the job itself recorded it.
        var isOwn: Bool
        /// Whether it is harmful and the ledger shows it.
        var isStale: Bool
        var isCounted: Bool { document.judgement?.isCounted ?? false }
    }

    /// Completes a batch by what is known of its documents.
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

    /// Documents that are looked up at once.
    static let batch = 1_000
}

extension UnsyncBudget {
    /// Of documents at risk that were written, those that were not harmed: they sync, are gone, or fail for something that
    /// no step which can do harm has changed, and so failed before.
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

    /// Frees the room of documents that jobs once harmed and that sync again, or are gone.
    ///
    /// Each keeps its room for as long as the ledger may lag: it may still show what was repaired. Of the jobs only those
    /// count that no runner holds.
    /// - Parameter runners: jobs that the caller holds, while no chunk is recorded and not yet written.
    /// - Returns: how many sync again, or are gone.
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

    /// Frees the room of those that have been repaired for long enough.
    func takeBackRepaired(_ store: borrowing StateStore, by jobs: [String]) throws(MongoError) {
        try store.reservations.removeRepaired(since: grace(store), of: collection.namespace, by: jobs)
    }

    /// How long a document that was repaired keeps its room: the ledger may still show it.
    func grace(_ store: borrowing StateStore) -> Duration {
        ledger.isNone ? .zero : max(limits.throttle.ledgerLag, store.terms.writeLimit)
    }

    /// Notes which of these documents sync again, or are gone.
    /// - Returns: how many.
    func noteRepaired(among ids: [BSONValue], by jobs: [String], _ store: borrowing StateStore) throws -> Int {
        let namespace = collection.namespace
        let repaired = try repaired(among: ids)
        let isRepaired = Set(repaired)
        try store.reservations.note(
            repaired: repaired, harmed: ids.filter { !isRepaired.contains($0) }, of: namespace, by: jobs)
        // What was harmed so long ago the ledger would show, had it not noticed the repair.
        let shown = try ledger.holding(repaired, of: namespace)
        let grace = grace(store)
        try store.reservations.removeUnseen(
            repaired.filter { !shown.contains($0) }, olderThan: grace + grace, of: namespace, by: jobs)
        return repaired.count
    }

    /// The documents that these jobs harmed and that are pending, some at a time.
    func pending(_ store: borrowing StateStore, by jobs: [String]) throws(MongoError) -> [[BSONValue]] {
        try store.reservations.pending(of: collection.namespace, by: jobs).commandSlices(count: Self.batch)
    }

    /// How many documents that jobs once harmed sync again, or are gone: a run frees their room.
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

    /// Lends those of the documents that do not sync under the active schema.
    private func eachFailing(
        _ ids: [BSONValue], _ active: CompiledSchema, _ body: (borrowing BSONView) throws -> Void
    ) throws {
        let documents = IDReader(collection: collection, options: ["readConcern": ["level": "majority"]])
        try documents.read(ids) { if try active.check($0) == .certain { try body($0) } }
    }
}

extension SchemaPath {
    /// Whether one of the two leads to the other.
    fileprivate func meets(_ path: FieldPath) -> Bool {
        zip(steps, path.components).allSatisfy { step, name in
            step == .field(name) || step == .values || name == FieldPath.each
        }
    }
}

/// What a run knows of the documents that it makes unsyncable.
struct UnsyncAccount {
    /// Documents that it made unsyncable under the active schema.
    private(set) var harmed = 0
    /// The sum of unsynced documents at the chunk before; `nil` when it has to be read anew.
    var headroom: Headroom?
    /// Documents at risk that were recorded since the last look at what became of them.
    private(set) var unsettled: [BSONValue] = []
    /// Harmed documents of writes that failed, which may be met again.
    private var inDoubt: Set<BSONValue> = []

    /// Documents were recorded before their write, though nothing is done to them as of now.
    mutating func reserve(atRisk ids: [BSONValue]) { unsettled += ids }

    /// A write begins that makes these unsyncable: counted before it, as the record is, since of one that fails nobody knows
    /// how far it came.
    mutating func begin(harming ids: [BSONValue]) {
        harmed += ids.count { !inDoubt.contains($0) }
        inDoubt.formUnion(ids)
    }

    /// The write of these is checkpointed.
    mutating func confirm(harming ids: [BSONValue]) { inDoubt.subtract(ids) }

    /// The document was not written after all.
    mutating func skip(_ id: BSONValue) {
        unsettled.append(id)
        if inDoubt.remove(id) != nil { harmed -= 1 }
    }

    /// The documents at risk, to be looked at.
    mutating func settle() -> [BSONValue] {
        defer { unsettled = [] }
        return unsettled
    }
}

/// What the budget found of one document that needs the job.
enum Judgement: Hashable {
    /// It syncs under the active schema as it is and would not as it would be.
    case harmful
    /// A step that can do harm changes it without doing any: it fails already, or its values fit. A user may change it
    /// before it is written, and make it harmful.
    case atRisk
    /// No step that can do harm changes it.
    ///
    /// Written by the other steps alone, and so whatever a user makes of it meanwhile: each of them is proven to leave a
    /// document syncing.
    case harmless

    /// Whether the document is recorded before it is written, and takes room until it is known to be unharmed, or the
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
