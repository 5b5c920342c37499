import BSON
package import Checking
import Concurrency
package import JobReports
import JobState
import Jobs
package import Mongo
import Running
import Scanning
import ServerSchema
package import Steps

extension BackfillRunner {
    /// Runs the job, or resumes it, until it is done or has to stop.
    ///
    /// - Throws: ``RunError``, for example when another runner holds the job or took it over; ``MongoError``, for
    ///   example when the deployment stays unreachable. Chunks with a checkpoint stay done, and the next run continues
    ///   after them.
    package func run(_ plan: BackfillPlan, on pool: ClientPool) throws -> BackfillReport {
        let started = ContinuousClock.now
        try checkDeploy(of: plan)
        try checkObstacles(of: plan)
        try retry.run { try TransactionSession.check(try pool.client()) }
        let runner = try prepared(on: try pool.client())
        let store = try store(pool)
        try begin(plan, in: store)
        return try runner.resolved(by: store).run(plan, on: pool, since: started)
    }

    /// Returns the runner with `$now` in its steps replaced by the time when the job was first started.
    ///
    /// The runner is unchanged if the job was never started, or if the user lacks access to the state database.
    func resolved(by store: borrowing StateStore) throws -> BackfillRunner {
        let record = try early.run { () throws -> BSONDocument? in
            do { return try store.jobs.record() } catch let error as MongoError where error.isAuthorization {
                return nil
            }
        }
        guard case .date(let now)? = record?["created"] else { return self }
        var runner = self
        runner.job = job.resolved(at: now)
        return runner
    }

    private func run(
        _ plan: BackfillPlan, on pool: ClientPool, since started: ContinuousClock.Instant
    ) throws -> BackfillReport {
        let store = try store(pool)
        let (heldLease, range) = try LeaseSeeker(options: options, identity: identity, retry: retry, events: events)
            .take(store, for: .backfill)
        let (ledger, throttler): (UnsyncLedger, Throttler)
        do {
            // Another command may have cleaned up the job before the lease was taken, so the job is checked again.
            let binding = binding(to: plan.target.uuid)
            try retry.run {
                try store.check(binding)
            }
            ledger = try openLedger(on: pool)
            throttler = Throttler(
                job.job, store: try self.store(pool), missing: plan.missingMetrics, veto: job.job.veto)
        } catch {
            // No document was written yet, so the lease can be released at once.
            try? store.ranges.release(heldLease.lease)
            throw error
        }
        let kernel = Kernel(
            retry: retry, events: events, pool: pool, client: try pool.client(), store: store,
            throttler: throttler,
            deadline: options.maxRuntime.map { started + $0 }, heldLease: heldLease)
        do { try kernel.beginTransactions(after: range) } catch {
            _ = kernel.leave()
            throw error
        }
        var run = BackfillRun(self, plan, ledger: ledger, kernel: kernel, progress: Progress(range))
        let stopped: RunStop?
        do {
            stopped = try run.run()
            // The numbers of the report are those that a majority has.
            try run.confirm()
            // The recorded reason only informs operators, so a failure to record it is ignored.
            if let stopped { try? run.kernel.renew(setting: RangeChange.stopping(by: stopped.reason)) }
        } catch {
            // If the lease cannot be released, the original error is still thrown, and the lease expires.
            _ = run.kernel.leave()
            throw (error as? RunError)?.reporting("changed \(run.changed.grouped) documents") ?? error
        }
        let note = run.kernel.leave()
        var report = try report(plan, run, stopped, on: pool, since: started)
        report.notes += note.map { [$0] } ?? []
        return report
    }

    private func begin(_ plan: BackfillPlan, in store: borrowing StateStore) throws {
        let binding = binding(to: plan.target.uuid)
        try retry.run { try store.begin(binding, keepsJournal: keepsJournal) }
        // After the plan was made, another runner may have started the job with another file.
        try retry.run { try store.check(binding, restarts: options.restarts) }
        if let proof = job.proof { try retry.run { try store.jobs.keep(proof: proof) } }
        // Documents are judged under the next schema only if the deployment of that schema is recorded. If the operator
        // stated the deployment with a flag of this run, it is recorded now.
        try retry.run {
            guard plan.deploy == .done, try store.jobs.control().deployed == nil else { return }
            try store.jobs.recordDeploy(isVerified: false, by: Operator.current)
        }
    }

    private func report(
        _ plan: BackfillPlan, _ run: borrowing BackfillRun, _ stopped: RunStop?, on pool: ClientPool,
        since started: ContinuousClock.Instant
    ) throws -> BackfillReport {
        let outcome: BackfillReport.Outcome =
            if let stopped { .stopped(stopped) } else { run.chunks == 0 ? .nothingToDo : .done }
        var report = BackfillReport(
            job: plan.job, namespace: plan.namespace, outcome: outcome, estimatedDocuments: plan.documents,
            before: plan.before, after: [])
        (report.work.modified, report.work.updates) = (run.changed, run.progress.updates - run.begun.updates)
        report.work.refreshed = job.refreshing == nil ? nil : run.refreshing.documents
        report.work.chunks = run.chunks
        report.work.earlierChunks = run.progress.chunks - run.chunks
        report.isRepair = job.job.repairsDocuments
        report.madeUnsyncable = job.countsUnsyncable ? run.account.unsyncable : nil
        (report.notes, report.disagreement) = (plan.notes, plan.disagreement)
        report.work.waits = run.kernel.throttler?.waits ?? []
        report.work.bound = run.chunks == 0 ? nil : run.bound
        // After a stop signal, the program has to end soon. The report then lacks the room that is left in the unsync
        // budget, and the counts of the remaining, unsyncable and skipped documents.
        do {
            guard stopped != .signal else { throw StopAsked() }
            let known = stopped == nil && options.only == nil ? run.survey : nil
            report.after = try (known ?? counted(on: pool)).before
            if let next = job.next, options.only == nil {
                report.unsyncable = (nil, try failing(under: next, on: pool), next.dialect)
            }
            report.failures = BackfillReport.FailureGroup.all(
                of: try run.pruneFailures(), unlisted: run.skipped.locks.unlisted)
            let copies = StaleCopies(job: job, collection: run.collection)
            report.notes += try retry.run {
                try copies.notes(report.after, journal: run.kernel.store, keepsJournal: keepsJournal)
            }
            if !run.job.isSafe {
                report.headroom = try retry.run { try run.budget.limit.exactHeadroom(run.kernel.store) }
            }
        } catch is StopAsked {
            report.notes.append("the remaining documents were not counted, because the run was asked to stop")
        }
        report.work.seconds = started.duration(to: .now).seconds
        return report
    }

    /// Returns how many documents in the job's scope do not sync under the next schema.
    ///
    /// A whole collection is divided into parts that several connections read at the same time.
    private func failing(under next: CompiledSchema, on pool: ClientPool) throws -> Int {
        let (job, retry, stop) = (job, retry, stop)
        @Sendable func count(_ filter: BSONDocument, _ collection: MongoCollection, _ options: BSONDocument) throws
            -> Int
        {
            var failing = 0
            var cursor = collection.find(filter, options: options)
            while !stop.isRaised, let view = try cursor.next() {
                if try next.check(view) == .certain { failing += 1 }
            }
            return failing
        }
        let read = BackgroundTask(on: pool) { client in
            let collection = client.collection(job.job.namespace)
            return try retry.run {
                guard case .collection = job.scope else {
                    return try count(job.scope.filter(), collection, job.scope.options("next"))
                }
                let parts = try CollectionParts(of: collection, for: job.job.limits.concurrency)
                let options: BSONDocument = ["comment": "shipshape next", "readConcern": ["level": "majority"]]
                return try parts.reduce(0, on: pool, and: collection, { try count($0, $1, options) }, combining: +)
            }
        }
        return try read.wait(stop: stop) {}
    }

    private func counted(on pool: ClientPool) throws -> Survey.Result {
        let (job, only, retry) = (job, options.only, retry)
        let read = BackgroundTask(on: pool) { client in
            let survey = Survey(job: job, collection: client.collection(job.job.namespace), surveysAfter: false)
            return try retry.run {
                try only.map { try survey.run(over: $0.slices) } ?? survey.run(in: job.job.limits.concurrency, on: pool)
            }
        }
        return try read.wait(stop: stop) {}
    }

    /// Returns a report of what the job would do.
    ///
    /// The dry run judges every document before and after the job's steps. It writes nothing, not even to the
    /// state database, so the user needs only the right to read.
    /// - Throws: ``RunError``; ``MongoError``.
    package func dryRun(_ plan: BackfillPlan, on pool: ClientPool) throws -> BackfillReport {
        let started = ContinuousClock.now
        let client = try pool.client()
        return try prepared(on: client).resolved(by: try store(pool)).dryRun(plan, on: client, pool, since: started)
    }

    private func dryRun(
        _ plan: BackfillPlan, on client: borrowing Client, _ pool: ClientPool, since started: ContinuousClock.Instant
    ) throws -> BackfillReport {
        var plan = plan
        let (count, seconds) = try previewed(&plan, on: client, pool)
        var report = BackfillReport(
            job: plan.job, namespace: plan.namespace, outcome: stop.isRaised ? .stopped(.signal) : .dryRun,
            estimatedDocuments: plan.documents, before: plan.before, after: plan.after)
        report.work.chunks = count.chunks
        report.failures = BackfillReport.FailureGroup.all(of: count.failures)
        report.work.refreshed = job.refreshing == nil ? nil : plan.refreshable
        (report.work.modified, report.work.updates) = (count.modified, count.updates)
        report.samples = count.samples.map(\.sample)
        report.unsyncable = job.next.map { (count.failingBefore, count.failingAfter, $0.dialect) }
        report.isRepair = job.job.repairsDocuments
        report.madeUnsyncable = job.countsUnsyncable ? plan.risk.madeUnsyncable : nil
        report.headroom = plan.risk.headroom
        (report.notes, report.disagreement) = (plan.notes, plan.disagreement)
        if !stop.isRaised { try UniquePreview(runner: self).add(to: &report, on: client) }
        do {
            try checkDeploy(of: plan)
            try checkHeadroom(of: plan)
        } catch { report.refusal = error.message }
        report.work.seconds = started.duration(to: .now).seconds
        report.work.estimate = RunEstimate(
            RunEstimate.Measured(
                seconds: seconds, changed: count.updates, touchedBytes: count.touchedBytes,
                idBytes: count.idBytes, journalBytes: keepsJournal ? count.journalBytes : 0,
                nice: job.job.limits.nice,
                consumerSeconds: job.job.limits.consumer.seconds(
                    for: count.updates, size: plan.target.averageSize),
                oplogCapacity: Self.oplogCapacity(on: client)))
        return report
    }

    /// Returns the counts of a dry run and the seconds of the read that made them; adds the counts of each step to a
    /// plan that lacks them.
    private func previewed(
        _ plan: inout BackfillPlan, on client: borrowing Client, _ pool: ClientPool
    ) throws -> (count: PreviewCount, seconds: Double) {
        let collection = client.collection(job.job.namespace)
        var started = ContinuousClock.now
        if plan.needing == nil, let evaluator = try retry.run({ try dryEvaluator(in: collection) }),
            let read = DryRead(self, by: evaluator, of: plan)
        {
            do {
                let counts = try retry.run { try read.run(on: pool) }
                let survey = Survey(job: job, collection: collection, surveysAfter: false)
                let result = try locating(in: collection) {
                    // After a signal, nothing has judged the documents that the client could not evaluate.
                    try retry.run {
                        try survey.result(counts.found, and: stop.isRaised ? [] : counts.unevaluated)
                    }
                }
                try complete(&plan, by: result, large: counts.preview.large)
                return (counts.preview, started.duration(to: .now).seconds)
            } catch is DryRead.TooManyUnevaluated {}
        }
        if plan.needing == nil {
            let result = try locating(in: collection) { try counted(on: pool) }
            let large = try keepsJournal ? retry.run { try countLarge(in: collection) } : 0
            try complete(&plan, by: result, large: large)
        }
        started = .now
        var count = PreviewCount(job: job)
        if let upper = try retry.run({ try PreviewPass.greatestID(in: collection) }) {
            let preview = PreviewPass(self, upper: upper, averageSize: plan.target.averageSize)
            count = try preview.run(in: job.job.limits.concurrency, on: pool)
        }
        return (count, started.duration(to: .now).seconds)
    }

    /// Returns the maximum size of the oplog in bytes; `nil` if it cannot be read, for example if the user lacks the
    /// privilege.
    private static func oplogCapacity(on client: borrowing Client) -> Int? {
        var cursor = client.collection(Namespace(database: "local", collection: "oplog.rs")).aggregate(
            [["$collStats": ["storageStats": [:]]], ["$project": ["size": "$storageStats.maxSize"]]])
        return (try? cursor.nextDocument())?["size"]?.integer
    }
}

/// The division of a job among several runners: each runner takes the documents between two `_id`s.
extension BackfillRunner {
    /// Returns one part of the job, as a job of its own.
    ///
    /// The first runner chooses the `_id`s between the parts and stores them in the state database, so that all runners
    /// use the same ones. Each document that arrives later also belongs to one part.
    /// - Throws: ``RunError``; ``MongoError``.
    package func job(_ part: CheckPart, on pool: ClientPool) throws -> CompiledJob {
        let client = try pool.client()
        let collection = client.collection(job.job.namespace)
        let bounds = try early.run {
            try store(pool).parts.bounds(of: part.count) {
                try IDRange.splitting(collection, into: part.count).compactMap(\.upper)
            }
        }
        return job.named(part.name(of: job.job.name), over: .part(.part(part, between: bounds)))
    }
}

extension CompiledJob {
    /// Whether several runners can share the job.
    ///
    /// Each runner runs its part as a job of its own. A job with `once` steps cannot be shared, because the marker
    /// fields of these steps belong to the whole job.
    package var canBeShared: Bool { MarkerRemoval.markers(of: job).isEmpty }
}
