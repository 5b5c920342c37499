package import BSON
package import Checking
package import Concurrency
package import JobReports
package import JobState
import Jobs
package import Mongo
package import Running
import Scanning
import Steps

/// Undoes the changes of a job, from its journal.
///
/// The functions block, so call them on a separate thread, not on a thread of Swift's concurrency.
package struct UndoRunner: Sendable {
    let job: String
    /// The collection that the job's file names; `nil` if the operator gave only the job's name.
    let named: Namespace?
    let options: RunOptions
    let assumptions: CheckOptions
    let stop: StopSignal
    let events: @Sendable (RunEvent) -> Void
    let identity = RunnerIdentity.current()

    /// Creates a runner for the undo of a job; `events` is called on the runner's thread.
    package init(
        _ job: String, on named: Namespace?, options: RunOptions, assuming assumptions: CheckOptions, stop: StopSignal,
        events: @escaping @Sendable (RunEvent) -> Void
    ) {
        self.job = job
        self.named = named
        self.options = options
        self.assumptions = assumptions
        self.stop = stop
        self.events = events
    }

    /// The retry policy for the work before the undo; unlike ``retry``, it reports an error at once if no server can be
    /// selected.
    package var early: RetryPolicy { retry.early }
    var retry: RetryPolicy { RetryPolicy(limit: options.retryLimit, stop: stop, events: events) }

    private func store(_ pool: ClientPool) throws(MongoError) -> StateStore {
        StateStore(
            client: StoreClient(database: options.stateDatabase, client: try pool.client()), job: job,
            identity: identity, terms: options.lease)
    }

    private func subject(_ store: borrowing StateStore, on pool: ClientPool) throws -> UndoSubject {
        let collection = RecordedCollection(
            named: named, stateDatabase: options.stateDatabase, ledger: options.ledger.location.namespace)
        guard let subject = try retry.run({ try UndoSubject.find(store, in: collection, assuming: assumptions) }) else {
            throw try JobRegistry(options.stateDatabase, on: pool).unknown(job)
        }
        return subject
    }

    private func budget(_ subject: UndoSubject, on client: borrowing Client, _ pool: ClientPool) throws -> UnsyncBudget?
    {
        // The documents are judged by the schema that is active now. Another schema may have been active while the job
        // ran.
        let control = try retry.run { try store(pool).jobs.control() }
        guard let compiled = subject.job?.judged(by: control), compiled.countsUnsyncable else { return nil }
        let runner = BackfillRunner(compiled, options: options, stop: stop, events: events)
        return UnsyncBudget(
            job: compiled, collection: client.collection(subject.namespace), ledger: try runner.openLedger(on: pool),
            limits: compiled.job.limits, stop: stop)
    }

    /// Compares the documents with the journal, and reports what an undo would do; nothing is written.
    /// - Parameter isAsked: whether an operator decides by the counts; if not, the documents are compared only if the
    ///   operator has to know more before the undo begins; see ``mustCompare(_:_:)``.
    package func dryRun(on pool: ClientPool, isAsked: Bool = true) throws -> UndoReport {
        let started = ContinuousClock.now
        let store = try store(pool)
        let subject = try subject(store, on: pool)
        var report = UndoReport(job: job, namespace: subject.namespace, outcome: .dryRun)
        let contents = try fill(&report, of: subject, store)
        let left = try retry.run { try store.skipped.ofJob() }
        let isRetry = subject.undoing?.ended != nil
        if isRetry, !left.contains(where: \.left.reason.isTrouble) {
            report.outcome = .undoneBefore
            report.skipped = Self.grouped(left)
            return report
        }
        try subject.checkOrder()
        var loop = try loop(subject, store, on: pool)
        guard isAsked || mustCompare(subject, loop.budget) else {
            report.isCounted = false
            return report
        }
        loop.overlay = UndoOverlay(contents.passes, judgesWhole: loop.reads.isWhole)
        let children = isRetry ? nil : subject.undoing?.children
        if let stopped = try loop.run() ?? loop.removeChildren(from: children) { report.outcome = .stopped(stopped) }
        report.children = loop.reportOfChildren(left: loop.children)
        try add(loop, to: &report)
        if loop.overlay?.isFull == true {
            report.notes.append(
                "the job changed more than \(UndoOverlay.maximum.grouped) documents in more than one pass: the "
                    + "changes of the others are counted one by one, so the counts are upper bounds")
        }
        report.skipped = loop.tally.report
        do { try checkHeadroom(of: report) } catch { report.refusal = error.message }
        report.seconds = started.duration(to: .now).seconds
        return report
    }

    /// Whether the documents are compared with the journal before the undo even if the operator is not asked.
    ///
    /// The comparison shows whether the undo would be refused, and which documents the validator refuses.
    private func mustCompare(_ subject: UndoSubject, _ budget: UnsyncBudget?) -> Bool {
        let createsNone = subject.job?.steps.allSatisfy { $0.step.kind.creates == nil } ?? false
        return budget != nil || subject.target.validator != nil || !createsNone
    }

    /// Refuses an undo that would make too many documents unsyncable.
    ///
    /// The undo is refused only if the number of these documents exceeds two limits: the room that is left in the
    /// unsync budget, and the number that the operator accepted with `--allow-unsync`.
    package func checkHeadroom(of report: UndoReport) throws(RunError) {
        guard let headroom = report.headroom, let count = report.madeUnsyncable, count > headroom.documents,
            count > options.allowUnsync ?? 0
        else { return }
        throw RunError(
            .exceedsHeadroom,
            "the undo of job \"\(job)\" would make \(count.grouped) documents unsyncable under the active schema, "
                + "but there is room for \(headroom.documents.grouped) (\(headroom)); accept it with --allow-unsync "
                + "\(count): the undo then stops below the limit and can be resumed")
    }

    /// Undoes the job, or resumes its undo, until all changes are undone or the undo has to stop.
    /// - Throws: ``RunError``, for example when another runner holds the job, or the job cannot be undone;
    ///   ``MongoError``, for example when the deployment stays unreachable. Batches with a checkpoint stay done, and
    ///   the next undo continues after them.
    package func run(on pool: ClientPool) throws -> UndoReport {
        let started = ContinuousClock.now
        try retry.run { try TransactionSession.check(try pool.client()) }
        let store = try store(pool)
        _ = try subject(store, on: pool)
        // The lease is stored in the job's record in the collection `ranges`. A missing record is created again. The
        // undo does not need its earlier content, because it needs only the job's journal.
        try retry.run { if try store.ranges.document() == nil { try store.createRange() } }
        let (heldLease, range) = try LeaseSeeker(options: options, identity: identity, retry: retry, events: events)
            .take(store, for: .undo)
        // The job is read again, because another runner may have continued it before the lease was taken.
        let subject = try subject(store, on: pool)
        let undoing = range["undo"]?.document.map(Undoing.init)
        var report = UndoReport(job: job, namespace: subject.namespace, outcome: .done)
        try fill(&report, of: subject, store)
        let left = try retry.run { try store.skipped.ofJob() }
        var loop = try loop(
            subject, store, on: pool, deadline: options.maxRuntime.map { started + $0 }, heldLease: heldLease)
        do {
            try loop.kernel.beginTransactions(after: range)
            if undoing?.ended == nil || left.contains(where: \.left.reason.isTrouble) {
                try subject.checkOrder()
                // The journal still has the changes that earlier undos skipped, so they are tried again.
                try retry.run { try loop.kernel.store.skipped.dropOwn() }
                let children = undoing?.ended == nil ? undoing?.children : nil
                if let stop = try loop.run() ?? loop.removeChildren(from: children) ?? loop.releaseRepaired() {
                    report.outcome = .stopped(stop)
                } else {
                    try checkJournal(loop.kernel.store, holds: report.journal.chunks, of: subject)
                    try loop.kernel.renew(setting: RangeChange.undoEnded)
                }
            } else {
                report.outcome = .undoneBefore
                try loop.kernel.renew(setting: ["state": "undone"])
            }
        } catch {
            _ = loop.kernel.leave()
            throw (error as? RunError)?.reporting("undid \(loop.tally.restored.grouped) changes") ?? error
        }
        if let note = loop.kernel.leave() { report.notes.append(note) }
        report.taken.earlier = loop.earlier
        try add(loop, to: &report)
        report.skipped = Self.grouped(try retry.run { try loop.kernel.store.skipped.ofJob() })
        report.children = loop.reportOfChildren(left: try retry.run { try loop.kernel.store.skipped.children() })
        report.seconds = started.duration(to: .now).seconds
        return report
    }

    private func add(_ loop: borrowing UndoLoop, to report: inout UndoReport) throws {
        (report.taken.restored, report.taken.asBefore) = (loop.tally.restored, loop.tally.asBefore)
        report.notes += loop.notes
        guard let budget = loop.budget else { return }
        report.madeUnsyncable = loop.tally.madeUnsyncable
        report.headroom = try retry.run { try budget.limit.exactHeadroom(loop.kernel.store, marks: false) }
    }

    @discardableResult
    private func fill(
        _ report: inout UndoReport, of subject: UndoSubject, _ store: borrowing StateStore
    ) throws -> JournalStore.Contents {
        let contents = try retry.run { try store.journal.contents(of: subject.journaled) }
        report.journal.chunks = contents.passes.reduce(0) { $0 + $1.chunks }
        report.journal.changes = contents.passes.reduce(0) { $0 + $1.changes }
        (report.journal.attempts, report.journal.missing) = (contents.attempts, contents.missing)
        report.notes = subject.notes + [store.ranges.terms.note].compactMap(\.self)
        return contents
    }

    /// Throws if the journal was dropped during the undo, because the undo then missed changes.
    private func checkJournal(_ store: borrowing StateStore, holds chunks: Int, of subject: UndoSubject) throws {
        let contents = try retry.run { try store.journal.contents(of: subject.journaled) }
        guard contents.passes.reduce(0, { $0 + $1.chunks }) < chunks else { return }
        throw RunError(
            .undoRefused,
            "the undo of job \"\(job)\" cannot continue: its journal was dropped while it ran; changes that were "
                + "undone stay undone, and the others can no longer be undone")
    }

    private func loop(
        _ subject: UndoSubject, _ store: consuming StateStore, on pool: ClientPool,
        deadline: ContinuousClock.Instant? = nil, heldLease: HeldLease? = nil
    ) throws -> UndoLoop {
        let client = try pool.client()
        let byBytes = subject.target.averageSize.map { max(1, (16 << 20) / max(1, $0)) } ?? UndoLoop.batch
        let budget = try budget(subject, on: client, pool)
        let throttler: Throttler? =
            if let job = subject.job?.job, heldLease != nil { Throttler(job, store: try self.store(pool)) } else { nil }
        let kernel = Kernel(
            retry: retry, events: events, pool: pool, client: client, store: store, throttler: throttler,
            deadline: deadline, heldLease: heldLease)
        // The undo checks whole documents against the active schema or, in a dry run, against the validator.
        let judgesWhole = budget != nil || kernel.isDry && subject.target.validator != nil
        let reads = UndoReads(collectionUUID: subject.target.checkedUUID, isWhole: judgesWhole)
        return UndoLoop(
            runner: self, subject: subject, kernel: kernel, budget: budget, earlier: subject.undoing?.restored ?? 0,
            earlierRemoved: subject.undoing?.removed ?? 0, batch: min(UndoLoop.batch, byBytes), reads: reads)
    }

    private static func grouped(_ left: [(id: BSONValue, left: UndoReport.LeftDocument)]) -> [UndoReport.Skipped] {
        var tally = UndoTally()
        for (id, document) in left { tally.leave(id, document) }
        return tally.report
    }
}
