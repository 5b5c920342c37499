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

/// Decides how many documents of a chunk may be written, so that a job does not make too many documents unsyncable.
///
/// The budget applies only to chunks that can make documents unsyncable. A document is unsyncable if it does not fit
/// the active schema. The sync engine lists such documents in its ledger of unsynced documents.
struct UnsyncBudget {
    /// The job, compiled with the schema that is active now.
    let job: CompiledJob
    let collection: MongoCollection
    let ledger: UnsyncLedger
    let limits: Job.Limits
    let stop: StopSignal

    var limit: SharedLimit { SharedLimit(ledger: ledger, limits: limits) }

    /// The documents of a chunk that may be written, and those among them that need a reservation first.
    struct Decision {
        /// The first documents of the chunk, as many as the unsync budget has room for, each with its judgement.
        var documents: [DueDocument] = []
        /// The `_id`s of the documents that need a reservation before the write.
        ///
        /// A reservation takes room in the unsync budget until its document turns out to be syncable, or until the
        /// ledger of unsynced documents lists the document.
        var counted: [BSONValue] { documents.filter(\.isCounted).map(\.id) }
        /// The `_id`s in ``counted`` that this job has not reserved yet.
        var newlyRecorded: [BSONValue] = []
        /// The `_id`s of documents that sync now and will not sync after the write, but that the ledger of unsynced
        /// documents still lists, because they did not sync earlier.
        var stale: [BSONValue] = []
    }

    /// Judges documents in order, and returns those before the first one for which the unsync budget has no room.
    ///
    /// At most `room` of the returned documents take room in the budget. A document takes no room in three cases: it
    /// has no judgement; the phase does not make it unsyncable; a killed run or another job has already reserved it.
    func decide(
        _ documents: [DueDocument], of phase: Phase, room: Int, _ store: borrowing StateStore
    ) throws -> Decision {
        var decision = Decision()
        var room = room
        let namespace = collection.namespace
        for batch in documents.parts(of: Self.batch) {
            let judged = try judged(batch, of: phase)
            // Documents that do not count in the unsync budget are not looked up.
            let counted = judged.filter(\.isCounted).map(\.id)
            let pending = try store.reservations.pendingOfAny(among: counted, of: namespace)
            let own = try store.reservations.pending(among: Array(pending), of: namespace)
            let shown = try ledger.listed(counted, of: namespace)
            for document in judged {
                let isShown = shown.contains(document.id)
                let isRecorded = pending.contains(document.id) || document.judgement == .keptUnsyncable && isShown
                if document.isCounted, !isRecorded {
                    guard room > 0 else { return decision }
                    room -= 1
                }
                if document.isCounted, !own.contains(document.id) { decision.newlyRecorded.append(document.id) }
                if document.judgement == .unsyncable, isShown { decision.stale.append(document.id) }
                decision.documents.append(document)
            }
        }
        return decision
    }

    /// Returns the documents, each with a judgement of what the phase would do to it under the active schema.
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

    /// The number of documents that are looked up at once, in the reservations and in the ledger of unsynced documents.
    static let batch = 1_000
}

extension UnsyncBudget {
    /// Returns which of the given documents the phase did not make unsyncable when it wrote them.
    ///
    /// Each returned document syncs, no longer exists, or did not sync before the write either. A document did not sync
    /// before if it violates the active schema at a field that no step in ``Phase/riskySteps`` changes. If there is no
    /// active schema, all documents are returned.
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
    /// A document keeps its reservation while the ledger of unsynced documents may still list it. The function examines
    /// the reservations of the jobs in `runners`, and of jobs whose lease no runner holds. It skips documents that a
    /// run has already seen in the ledger.
    /// - Parameter runners: the names of jobs whose leases the caller holds; these jobs must have written every chunk
    ///   for which they reserved documents.
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

    /// Releases the reservations of documents that were found to sync again, or to be gone, so long ago that the ledger
    /// of unsynced documents no longer lists them.
    func removeRepaired(_ store: borrowing StateStore, by jobs: [String]) throws(MongoError) {
        try store.reservations.removeRepaired(since: grace(store), of: collection.namespace, by: jobs)
    }

    /// Returns how long a document keeps its reservation after it was found to sync again or to be gone, because the
    /// ledger of unsynced documents may still list it.
    func grace(_ store: borrowing StateStore) -> Duration {
        ledger.isNone ? .zero : max(limits.throttle.ledgerLag, store.terms.writeLimit)
    }

    /// Marks the reservations of documents that sync again or no longer exist, and removes the marks of the other
    /// reservations.
    ///
    /// The mark is the time at which the document was found to sync again or to be gone. A marked reservation is
    /// removed at once if it is older than twice ``grace(_:)``, and the ledger of unsynced documents does not list its
    /// document.
    /// - Returns: how many of the documents sync again or no longer exist.
    func noteRepaired(among ids: [BSONValue], by jobs: [String], _ store: borrowing StateStore) throws -> Int {
        let namespace = collection.namespace
        let repaired = try repaired(among: ids)
        let isRepaired = Set(repaired)
        try store.reservations.note(
            repaired: repaired, unsyncable: ids.filter { !isRepaired.contains($0) }, of: namespace, by: jobs)
        // The sync engine lists an unsynced document in its ledger some time after the write. If the document of an old
        // reservation syncs, and the ledger does not list it by now, the ledger will not list it later, so the
        // reservation is not needed.
        let shown = try ledger.listed(repaired, of: namespace)
        let grace = grace(store)
        try store.reservations.removeUnseen(
            repaired.filter { !shown.contains($0) }, olderThan: grace + grace, of: namespace, by: jobs)
        return repaired.count
    }

    /// Returns, in batches, the `_id`s of documents that the given jobs reserved and that no run has seen in the ledger
    /// of unsynced documents yet.
    func pending(_ store: borrowing StateStore, by jobs: [String]) throws(MongoError) -> [[BSONValue]] {
        try store.reservations.pending(of: collection.namespace, by: jobs).commandSlices(count: Self.batch)
    }

    /// Returns how many reserved documents sync again or no longer exist; a run would release their reservations.
    ///
    /// The function examines the reservations of this job, and of jobs whose lease no runner holds. It skips documents
    /// that a run has already seen in the ledger of unsynced documents.
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

    private func eachFailing(
        _ ids: [BSONValue], _ active: CompiledSchema, _ body: (borrowing BSONView) throws -> Void
    ) throws {
        let documents = IDReader(collection: collection, options: ["readConcern": ["level": "majority"]])
        try documents.read(ids) { if try active.check($0) == .certain { try body($0) } }
    }
}

extension SchemaPath {
    /// Whether this path and `path` are equal, or one of them is the beginning of the other.
    ///
    /// A component `[]` of `path` matches every step of this path. A step of this path for the values of a dictionary
    /// matches every component of `path`.
    fileprivate func meets(_ path: FieldPath) -> Bool {
        zip(steps, path.components).allSatisfy { step, name in
            step == .field(name) || step == .values || name == FieldPath.each
        }
    }
}

struct UnsyncAccount {
    private(set) var unsyncable = 0
    /// The remaining room in the unsync budget, as read for the previous chunk; `nil` if it has to be read before the
    /// next chunk.
    var headroom: Headroom?

    /// Counts the documents of a committed chunk.
    mutating func add(_ documents: [DueDocument]) {
        unsyncable += documents.count { $0.judgement == .unsyncable }
    }
}

/// The effect of a phase on one document: whether the document syncs before and after the phase's change.
enum Judgement: Hashable {
    /// The document syncs under the active schema before the change, and would not after it.
    case unsyncable
    /// The document fails under the active schema already, and would fail after the change only because of the steps
    /// that can make documents unsyncable.
    ///
    /// The other steps would make it syncable.
    case keptUnsyncable
    /// The document fails under the active schema before and after the change, also because of other fields.
    case failing
    /// No step that can make documents unsyncable changes the document, or its new values fit.
    case safe

    init(_ change: DueDocument.Change, of phase: Phase, under active: CompiledSchema) throws {
        let isTouched = try phase.riskySteps.flatMap(\.step.kind.touched).contains { target in
            let (old, new) = (try change.before.value(at: target), try change.after.value(at: target))
            return if let old, let new { !old.hasSameBytes(as: new) } else { old != new }
        }
        guard isTouched else {
            self = .safe
            return
        }
        guard try active.check(change.after.view) == .certain else {
            self = .safe
            return
        }
        guard try active.check(change.before.view) == .certain else {
            self = .unsyncable
            return
        }
        let violations = try active.violations(in: change.after.view, includingInfo: false)
        let isOfOthers = violations.contains { violation in
            violation.level == .certain
                && !phase.riskySteps.flatMap(\.step.targets).contains { violation.path.meets($0) }
        }
        self = isOfOthers ? .failing : .keptUnsyncable
    }
}
