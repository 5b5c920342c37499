import BSON
package import Mongo
import Scanning

extension BackfillRunner {
    /// Runs the job, or goes on with it, until it is done or has to stop.
    ///
    /// - Throws: ``BackfillError`` when another runner holds the job or took it over; ``MongoError`` when the deployment
    ///   stays unreachable. What was checkpointed stays, and the next run goes on from there.
    package func run(_ plan: BackfillPlan, on pool: ClientPool) throws -> BackfillReport {
        let started = ContinuousClock.now
        try checkObstacles(of: plan)
        let runner = try prepared(on: try pool.client())
        let store = try store(pool)
        try begin(plan, in: store)
        return try runner.settled(by: store).run(plan, on: pool, since: started)
    }

    /// The runner with the time of the job's start in the place of `$now`; as it is before the start, and where the state
    /// may not be read.
    func settled(by store: borrowing StateStore) throws -> BackfillRunner {
        let record = try patience.bridging { () throws -> BSONDocument? in
            do throws(MongoError) { return try store.record() } catch {
                guard error.isAuthorization else { throw error }
                return nil
            }
        }
        guard case .date(let now)? = record?["created"] else { return self }
        var runner = self
        runner.job = job.settled(at: now)
        return runner
    }

    private func run(
        _ plan: BackfillPlan, on pool: ClientPool, since started: ContinuousClock.Instant
    ) throws -> BackfillReport {
        let store = try store(pool)
        let (holding, range) = try LeaseSeeker(options: options, identity: identity, patience: patience)
            .take(store, for: .backfill)
        let (ledger, brakes): (GateLedger, Brakes)
        do {
            // A clean-up may have come between.
            let binding = binding(to: plan.collectionUUID)
            try patience.bridging { try store.check(binding) }
            ledger = try openLedger(on: pool)
            brakes = Brakes(job.job, store: try self.store(pool), missing: plan.missingBrakes)
        } catch {
            // Nothing was written yet.
            try? store.release(holding.lease)
            throw error
        }
        let progress = StateStore.Progress(range)
        let client = try pool.client()
        var loop = RunLoop(
            runner: self, plan: plan, pool: pool, client: client, store: store, ledger: ledger, brakes: brakes,
            deadline: options.maxRuntime.map { started + $0 }, holding: holding, progress: progress)
        let stopped: BackfillReport.Stop?
        do {
            if let only = options.only { stopped = try loop.run(only: only) } else { stopped = try loop.run() }
        } catch {
            // The failure is what counts; a lease that cannot be given back ends by itself. After a failure of the
            // deployment a write may still be under way there: its successor has to wait for the lease's end.
            let isInDoubt = error is MongoError || (error as? BackfillError)?.kind == .stopped
            if !isInDoubt { _ = loop.store.leave(loop.holding) }
            throw error
        }
        let note = loop.store.leave(loop.holding)
        var report = try report(plan, loop, stopped, on: pool, since: started)
        report.notes += note.map { [$0] } ?? []
        return report
    }

    private func begin(_ plan: BackfillPlan, in store: borrowing StateStore) throws {
        let binding = binding(to: plan.collectionUUID)
        try patience.bridging { try store.begin(binding, keepsJournal: keepsJournal) }
        // Between the plan and here another runner may have begun with another file.
        try patience.bridging { try store.check(binding, restarts: options.restarts) }
    }

    private func report(
        _ plan: BackfillPlan, _ loop: borrowing RunLoop, _ stopped: BackfillReport.Stop?, on pool: ClientPool,
        since started: ContinuousClock.Instant
    ) throws -> BackfillReport {
        let outcome: BackfillReport.Outcome =
            if let stopped { .stopped(stopped) } else { loop.written.chunks == 0 ? .nothingToDo : .done }
        var report = BackfillReport(
            job: plan.job, namespace: plan.namespace, outcome: outcome, estimatedDocuments: plan.documents,
            before: plan.before, after: [])
        report.modified = loop.written.documents
        report.modifiedIsLow = loop.countIsLow
        report.chunks = loop.written.chunks
        report.earlierChunks = loop.progress.chunks - loop.written.chunks
        report.harm = job.countsHarm ? loop.harmed : nil
        report.notes = plan.notes
        report.waits = loop.brakes.waits
        // Who asks to stop does not wait for a look at the whole collection.
        do {
            guard stopped != .signal else { throw StopAsked() }
            let known = stopped == nil && options.only == nil ? loop.survey : nil
            report.after = try (known ?? counted(on: pool)).before
            report.failures = BackfillReport.FailureGroup.all(of: try loop.settleFailures(), unlisted: loop.unlisted)
            let copies = StaleCopies(job: job, collection: loop.collection)
            report.notes += try patience.bridging { try copies.notes(report.after, journal: loop.store) }
            if !loop.job.isHarmless {
                report.headroom = try patience.bridging { try loop.gate.exactHeadroom(loop.store) }
            }
        } catch is StopAsked {
            report.notes.append("what remains was not counted: the run was asked to stop")
        }
        report.seconds = started.duration(to: .now).seconds
        return report
    }

    /// What remains.
    private func counted(on pool: ClientPool) throws -> Survey.Result {
        let (job, only, patience) = (job, options.only, patience)
        let read = Aside(on: pool) { client in
            let survey = Survey(
                job: job, collection: client.collection(job.job.namespace), only: only, looksAhead: false)
            return try patience.bridging { try survey.run(in: job.job.limits.lanes, on: pool) }
        }
        return try read.wait(stop: stop) {}
    }
}
