import BSON
import Concurrency
package import JobReports
import JobState
import Jobs
package import Mongo
import Running
import Scanning
import Steps

extension BackfillRunner {
    /// Returns the plan of a run.
    ///
    /// The function reads the collection, the state database and the ledger of unsynced documents, and writes nothing.
    /// - Parameters:
    ///   - isDry: whether the plan is for a dry run, which also checks that no document would need the job again after
    ///     a run.
    ///   - isAsked: whether an operator will see the counts; if not, documents are counted only if a decision depends
    ///     on the counts.
    /// - Throws: ``RunError`` when the job cannot run; ``MongoError``.
    package func plan(on pool: ClientPool, isDry: Bool = false, isAsked: Bool = true) throws -> BackfillPlan {
        try job.job.checkNamespaces(stateDatabase: options.stateDatabase, ledger: options.ledger.location.namespace)
        let client = try pool.client()
        let target = try early.run { try Target.find(job.job.namespace, on: client) }
        let wireVersion = try early.run { try client.hello().maxWireVersion }
        try job.checkServer(wireVersion: wireVersion)
        var plan = try prepared(on: client).resolved(by: try store(pool)).plan(
            target, on: client, pool, isDry: isDry, isAsked: isAsked)
        plan.notes += CompiledJob.notes(of: wireVersion)
        return plan
    }

    private func plan(
        _ target: Target, on client: borrowing Client, _ pool: ClientPool, isDry: Bool, isAsked: Bool
    ) throws -> BackfillPlan {
        let isProof = !job.endsByConstruction
        let store = try store(pool)
        let state = try early.run { try readState(store, binding: binding(to: target.uuid)) }
        if !isDry, state.isReadable {
            let seeker = LeaseSeeker(options: options, identity: identity, retry: retry, events: events)
            try early.run { try seeker.checkFree(store) }
        }
        let collection = client.collection(job.job.namespace)
        if options.only != nil, state.unfinishedChunks != nil { throw RunError.unfinished(job.job.name) }
        let isDeployed = try state.isReadable && early.run { try self.isDeployed(in: store) } || options.statesDeploy
        let job = isDeployed ? job.afterDeploy : job
        // A finished job usually has nothing to do. Only the survey, which reads the collection, can confirm that.
        let wasDone =
            try state.isReadable && early.run { try store.ranges.document()?["state"]?.text } == "done"
        // A dry run reads the whole collection anyway, and counts the documents of each step during that read.
        let countsLater = try isDry && job.refreshing == nil && early.run { try dryEvaluator(in: collection) != nil }
        let surveys =
            !countsLater
            && (isAsked || isDry || wasDone || options.only != nil || !job.isSafeByForm || job.refreshing != nil)
        let survey =
            surveys ? try early.run { try self.survey(at: collection, on: pool, isDry: isDry, isProof: isProof) } : nil
        var plan = BackfillPlan(
            job: job.job.name, namespace: job.job.namespace,
            documents: try early.run { try job.scope.count(in: collection) }, target: target, needing: nil, before: [],
            after: [], resumesAfter: state.unfinishedChunks,
            notes: job.notes(keepsJournal: keepsJournal) + state.notes)
        plan.deploy = isDeployed ? .done : job.job.requiresDeploy ? .awaited : .notAsked
        (plan.wasDone, plan.disagreement) = (wasDone, job.disagreement)
        if isDry || isAsked, !countsLater, keepsJournal {
            plan.notes += noteOfLarge(try early.run { try countLarge(in: collection) })
        }
        // Obstacles, such as a field that already has the name of a step's marker, are checked only before the first
        // run. Afterwards, the fields that the job itself wrote would look like obstacles.
        if try !state.isReadable || early.run({ try store.jobs.record() }) == nil {
            let markers = MarkerRemoval(job: job.job, pool: pool, stateDatabase: options.stateDatabase)
            plan.obstacles =
                try (survey.map { job.obstacles(found: $0) } ?? []) + early.run { try markers.obstacles() }
        }
        if let survey { plan.add(survey) }
        if options.only == nil, keepsJournal, state.isReadable {
            plan = try early.run { try findingRefreshable(plan, in: collection, store) }
        }
        plan.paused = state.control.paused
        let throttler = try throttleOfPlan(on: pool)
        (plan.missingMetrics, plan.notes) = (throttler.missing, plan.notes + throttler.notes)
        if !countsLater { plan.notes += notes(onConsumerOf: plan) }
        if let note = store.ranges.terms.note { plan.notes.append(note) }
        if !job.isSafe {
            let budget = UnsyncBudget(
                job: job, collection: collection, ledger: try openLedger(on: pool), limits: job.job.limits, stop: stop)
            plan = try early.run { try judged(plan, budget, store, isReadable: state.isReadable) }
        }
        return plan
    }

    /// Returns the plan with the number of documents in which the job would refresh the copies that it made earlier.
    ///
    /// The plan no longer counts these documents as skipped.
    private func findingRefreshable(
        _ plan: BackfillPlan, in collection: MongoCollection, _ store: borrowing StateStore
    ) throws -> BackfillPlan {
        let differs = CompiledStep.Reason.targetDiffers.rawValue
        let mayBe = plan.before.contains { $0.skipped.contains { $0.reason == differs && $0.count > 0 } }
        guard job.refreshing != nil, mayBe else { return plan }
        var plan = plan
        let refreshSearch = RefreshSearch(
            job: job, collection: collection, collectionUUID: plan.target.checkedUUID)
        let own = Set(try refreshSearch.own(by: store.journal) { if stop.isRaised { throw StopAsked() } }.own)
        plan.refreshable = own.count
        let copies = StaleCopies(job: job, collection: collection)
        for index in plan.after.indices where job.steps[index].step.kind.refresh != nil {
            let fresh = try copies.differing(at: index).intersection(own).count
            for left in plan.after[index].skipped.indices where plan.after[index].skipped[left].reason == differs {
                plan.after[index].skipped[left].count -= min(fresh, plan.after[index].skipped[left].count)
                plan.before[index].skipped[left].count -= min(fresh, plan.before[index].skipped[left].count)
            }
        }
        return plan
    }

    /// The size in bytes of the `_id` and the fields that the job writes or removes, above which a change cannot be
    /// undone.
    ///
    /// The statement that restores the fields contains them, the `_id`, and fewer than 200 bytes of its own.
    static let largest = RestoringStatements.largest - 200

    /// The names of the `_id` and of the top-level fields that the job writes or removes.
    var namesForUndo: Set<String> { Set(["_id"] + job.whole.touched) }

    /// Returns the number of documents that are too large for undo; see ``largest``.
    func countLarge(in collection: MongoCollection) throws -> Int {
        let fields = BSONValue.object(BSONDocument(namesForUndo.map { ($0, .string("$\($0)")) }))
        let isLarge = Expression(["$gt": [["$bsonSize": fields], .integer(Self.largest)]])
        return try collection.countDocuments(isLarge.filter)
    }

    func noteOfLarge(_ count: Int) -> [String] {
        guard count > 0 else { return [] }
        return [
            "\(count.grouped) \(count == 1 ? "document has" : "documents have") more than 16.7 MB in fields that the "
                + "job writes or removes: changes there cannot be undone"
        ]
    }

    /// Returns the evaluator with which a dry run counts everything in one read; `nil` if the job needs more reads.
    ///
    /// More reads are needed if the server has to evaluate the documents, or if the kinds of the job's steps do not
    /// prove that no document needs the job again after a run.
    func dryEvaluator(in collection: MongoCollection) throws -> PhaseEvaluator? {
        guard job.endsByConstruction, job.finder != nil else { return nil }
        return try PhaseEvaluator(job.whole, for: job.scope, in: collection)
    }

    /// Runs the survey, and throws if it shows that the job can never be completed.
    ///
    /// Also throws if a step with `onError: fail` would skip documents.
    /// - Parameter isProof: whether the survey also has to show that no document would need the job after a run.
    func survey(
        at collection: MongoCollection, on pool: ClientPool, isDry: Bool, isProof: Bool
    ) throws -> Survey.Result {
        let result = try locating(in: collection) {
            let survey = Survey(job: job, collection: collection, surveysAfter: isProof)
            return try options.only.map { try survey.run(over: $0.slices) }
                ?? survey.run(in: job.job.limits.concurrency, on: pool)
        }
        return try checked(result, isDry: isDry, isProof: isProof)
    }

    private func checked(_ result: Survey.Result, isDry: Bool, isProof: Bool) throws -> Survey.Result {
        var result = result
        // If `isProof` is false, the survey did not count the documents that would still need a step after a run. The
        // kinds of the job's steps prove that there are none, so the counts are 0. A dry run also checks this in every
        // document.
        if isDry, !isProof { for index in result.after.indices { result.after[index].needing = 0 } }
        try checkEnds(result, isProof: isProof)
        return result
    }

    /// Adds the counts of a survey, which a dry run made after its plan.
    /// - Parameter large: the number of documents that are too large for undo.
    func complete(_ plan: inout BackfillPlan, by result: Survey.Result, large: Int) throws {
        let estimated = plan.documents
        plan.add(try checked(result, isDry: true, isProof: false))
        if keepsJournal { plan.notes += noteOfLarge(large) }
        plan.notes += notes(onConsumerOf: plan)
        guard stop.isRaised else { return }
        plan.documents = max(estimated, result.documents)
        plan.notes.append(
            "the dry run was asked to stop, and its counts are those of \(result.documents.grouped) documents")
    }

    private func throttleOfPlan(
        on pool: ClientPool
    ) throws -> (missing: Set<ServerMetricsReader.Missing>, notes: [String]) {
        let throttler = Throttler(job.job, store: try store(pool))
        let waitReasons = throttler.waitReasons()
        return (throttler.missing, throttler.missingGuarantees + waitReasons.map { "a run would wait now: \($0)" })
    }

    private func notes(onConsumerOf plan: BackfillPlan) -> [String] {
        let rate = job.job.limits.consumer
        guard !rate.isUnlimited else { return [] }
        let seconds = plan.needing.map { rate.seconds(for: $0, size: plan.target.averageSize) }
        let least = seconds.map { ": a run takes at least \(Int($0.rounded(.up))) s" } ?? ""
        return ["the consumer takes at most \(rate)\(least)"]
    }

    private func judged(
        _ plan: BackfillPlan, _ budget: UnsyncBudget, _ store: borrowing StateStore, isReadable: Bool
    ) throws -> BackfillPlan {
        var plan = plan
        plan.risk.headroom = Headroom(ledger: try budget.ledger.count(), pending: 0, ceiling: budget.limits.ceiling)
        if isReadable {
            var headroom = try budget.limit.exactHeadroom(store, marks: false)
            if headroom.pending > 0 {
                // Reserved documents that sync again are not counted, because a run releases their reservations as soon
                // as the ledger of unsynced documents can no longer list them.
                headroom.pending = max(0, headroom.pending - (try budget.repairedCount(store)))
                plan.notes += try store.reservations.pendingOfOthers()
            }
            plan.risk.headroom = headroom
        }
        plan.notes += try budget.ledger.notes(on: plan.risk.headroom?.ledger)
        let namespace = job.job.namespace
        for scope in options.only?.slices.map({ ReadScope.ids($0) }) ?? [job.scope] {
            var cursor = try DueCursor(
                scope, of: budget.job.whole, .whole, in: budget.job.context(budget.collection), collectionUUID: nil)
            let amount = ReadAmount(documents: UnsyncBudget.batch, bytes: budget.limits.chunkBytes)
            while !stop.isRaised {
                let batch = try unblaming { try cursor.read(amount) }
                guard !batch.isEmpty else { break }
                let unsyncable = try budget.judged(batch, of: budget.job.whole).filter { $0.judgement == .unsyncable }
                    .map(
                        \.id)
                plan.risk.madeUnsyncable += unsyncable.count
                if isReadable {
                    plan.risk.recorded += try store.reservations.pendingOfAny(among: unsyncable, of: namespace).count
                }
            }
        }
        return plan
    }

    /// Reads the job's progress and the requests of operators from the state database.
    ///
    /// A read-only user may lack access to that database. Then the job counts as not started, and a note says so.
    private func readState(
        _ store: borrowing StateStore, binding: JobStore.Binding
    ) throws -> (unfinishedChunks: Int?, control: Control, isReadable: Bool, notes: [String]) {
        do {
            try store.check(binding, restarts: options.restarts)
            return (try store.ranges.unfinishedChunks(), try store.jobs.control(), true, [])
        } catch let error as MongoError where error.isAuthorization {
            return (
                nil, Control(), false,
                ["this user cannot read the state database \"\(options.stateDatabase)\": the job counts as not started"]
            )
        }
    }

    /// Whether an operator recorded that the job's next schema is deployed, and so is the active one.
    ///
    /// A job with `requires: deployed` also accepts a deployment that was recorded for another job of the collection
    /// with the same next schema.
    private func isDeployed(in store: borrowing StateStore) throws -> Bool {
        guard job.job.requiresDeploy else { return try store.jobs.control().deployed != nil }
        return try store.jobs.deployMark(of: job.job.namespace, schemas: job.schemaRecords) != nil
    }
}
