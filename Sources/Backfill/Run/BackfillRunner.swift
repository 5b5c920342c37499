import BSON
import Checking
package import Concurrency
package import JobReports
package import JobState
import Jobs
import LocatedYAML
package import Mongo
package import Running
import Scanning
import ServerSchema
package import Steps

/// Runs a job: plans it, previews it, or writes it chunk by chunk.
///
/// The functions block, so call them on a separate thread, not on a thread of Swift's concurrency.
package struct BackfillRunner: Sendable {
    var job: CompiledJob
    let options: RunOptions
    let stop: StopSignal
    let events: @Sendable (RunEvent) -> Void
    let identity = RunnerIdentity.current()
    let lost = LostTime()

    /// Creates a runner of a job with the options of one run; `events` is called on any of the runner's threads.
    package init(
        _ job: CompiledJob, options: RunOptions, stop: StopSignal, events: @escaping @Sendable (RunEvent) -> Void
    ) {
        self.job = job
        self.options = options
        self.stop = stop
        self.events = events
    }

    /// Returns the runner with its job compiled for the server's version.
    ///
    /// Client-side steps also get the data that they need before the first document.
    func prepared(on client: borrowing Client) throws -> BackfillRunner {
        var runner = self
        let collection = client.collection(job.job.namespace)
        runner.job = try early.run {
            try job.compiled(for: client.hello().maxWireVersion).prepared(on: collection)
        }
        return runner
    }

    var retry: RetryPolicy { RetryPolicy(limit: options.retryLimit, stop: stop, events: events, lost: lost) }

    /// The retry policy for the work before a run: ``RetryPolicy/early``.
    var early: RetryPolicy { retry.early }

    /// Whether the run journals its changes before it writes them.
    var keepsJournal: Bool { job.job.keepsJournal && options.keepsJournal }

    func binding(to collectionUUID: BSONValue?) -> JobStore.Binding {
        var binding = JobStore.Binding(
            namespace: job.job.namespace, collectionUUID: collectionUUID, text: job.job.text,
            schemas: job.schemaRecords, touched: job.job.touched,
            hasMarkers: !MarkerRemoval.markers(of: job.job).isEmpty)
        if case .part(let range) = job.scope { binding.bounds = range.document }
        binding.movedFrom = job.job.movedFrom
        return binding
    }

    func store(_ pool: ClientPool) throws(MongoError) -> StateStore {
        StateStore(
            client: StoreClient(database: options.stateDatabase, client: try pool.client()), job: job.job.name,
            identity: identity, terms: options.lease)
    }

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
            collection: BackfillPlan.Collection(
                documents: try early.run { try job.scope.count(in: collection) },
                uuid: target.uuid, checksUUID: target.checksUUID, averageSize: target.averageSize),
            needing: nil, before: [], after: [], resumesAfter: state.unfinishedChunks,
            notes: job.notes(keepsJournal: keepsJournal) + state.notes)
        plan.deploy = isDeployed ? .done : job.job.requiresDeploy ? .awaited : .notAsked
        plan.wasDone = wasDone
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
            job: job, collection: collection, collectionUUID: plan.collection.checkedUUID)
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

    /// The size in bytes of the fields that the job writes, above which a change cannot be undone.
    ///
    /// A command of undo must contain the changed fields twice: once to compare them, and once to restore them.
    static let largest = 7_900_000

    /// The names of the top-level fields that the job writes, and that undo has to compare.
    var namesForUndo: [String] {
        let removed = Set(
            job.steps.flatMap { $0.step.kind.removed }.filter { $0.components.count == 1 }.map { $0.components[0] })
        return job.whole.touched.filter { !removed.contains($0) }
    }

    /// Returns the number of documents that are too large for undo; see ``largest``.
    func countLarge(in collection: MongoCollection) throws -> Int {
        let names = namesForUndo
        guard !names.isEmpty else { return 0 }
        let fields = BSONValue.object(BSONDocument(names.map { ($0, .string("$\($0)")) }))
        let isLarge = Expression(["$gt": [["$bsonSize": fields], .integer(Self.largest)]])
        return try collection.countDocuments(isLarge.filter)
    }

    /// Returns a note on the documents that are too large for undo; empty if there are none.
    func noteOfLarge(_ count: Int) -> [String] {
        guard count > 0 else { return [] }
        return [
            "\(count.grouped) \(count == 1 ? "document has" : "documents have") more than 7.9 MB in fields that the "
                + "job writes: changes there cannot be undone"
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

    /// Returns the result of a survey with its counts of documents that would still need a step after a run.
    ///
    /// Throws if the result shows that the job can never be completed, or if a step with `onError: fail` would skip
    /// documents.
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
        let estimated = plan.collection.documents
        plan.add(try checked(result, isDry: true, isProof: false))
        if keepsJournal { plan.notes += noteOfLarge(large) }
        plan.notes += notes(onConsumerOf: plan)
        guard stop.isRaised else { return }
        plan.collection.documents = max(estimated, result.documents)
        plan.notes.append(
            "nothing was written: the dry run was asked to stop, and its counts are those of "
                + "\(result.documents.grouped) documents")
    }

    /// Returns the groups of server metrics that the throttle cannot read, and notes for the operator.
    ///
    /// The notes name these groups, and the reasons for which a run would have to wait now.
    private func throttleOfPlan(
        on pool: ClientPool
    ) throws -> (missing: Set<ServerMetricsReader.Missing>, notes: [String]) {
        let throttler = Throttler(job.job, store: try store(pool))
        let waitReasons = throttler.waitReasons()
        return (throttler.missing, throttler.missingGuarantees + waitReasons.map { "a run would wait now: \($0)" })
    }

    /// Returns a note on the rate at which a consumer, such as a sync engine, can process the changes of the run.
    ///
    /// The run is not faster than this rate. There is no note if the job states no such rate.
    private func notes(onConsumerOf plan: BackfillPlan) -> [String] {
        let rate = job.job.limits.consumer
        guard !rate.isUnlimited else { return [] }
        let seconds = plan.needing.map { rate.seconds(for: $0, size: plan.collection.averageSize) }
        let least = seconds.map { ": a run takes at least \(Int($0.rounded(.up))) s" } ?? ""
        return ["the consumer takes at most \(rate)\(least)"]
    }

    /// Returns the plan with the number of documents that the job would make unsyncable.
    ///
    /// The function judges every document that needs the job, and reads the room that is left in the unsync budget.
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

    /// Refuses to start a job that has to wait until its next schema is deployed.
    package func checkDeploy(of plan: BackfillPlan) throws(RunError) {
        guard plan.deploy == .awaited else { return }
        throw RunError(
            .notDeployed,
            "job \"\(plan.job)\" waits for the deploy of its next schema (requires: \(JobFile.deployed)), and no "
                + "deploy is recorded: nothing was written; when \(deployedState), run the job with --deployed, or "
                + "record the deploy for the job that ran before it: shipshape deployed --yes FILE")
    }

    /// A clause for a message: the condition under which a job that waits for its next schema's deployment may run.
    private var deployedState: String {
        switch job.next?.dialect {
        case .prisma:
            let schema = job.job.nextSchema?.split(separator: "/").last.map(String.init) ?? "that schema"
            return "all clients use \(schema), or none runs"
        case .jsonSchema: return "clients use that schema"
        case .appServices, nil: return "clients sync under that schema, or sync is terminated"
        }
    }

    /// Refuses a job whose plan found obstacles in the documents.
    func checkObstacles(of plan: BackfillPlan) throws(RunError) {
        guard !plan.obstacles.isEmpty else { return }
        throw RunError(.refusedByData, plan.obstacles.joined(separator: "; "))
    }

    /// Refuses a job whose plan found obstacles in the documents, or that would make too many documents unsyncable.
    ///
    /// The number of these documents is too large if it exceeds both the number that the operator accepted with
    /// `--allow-unsync` and the room that is left in the unsync budget. Documents that are reserved already take no
    /// further room.
    package func checkHeadroom(of plan: BackfillPlan) throws(RunError) {
        try checkObstacles(of: plan)
        let count = plan.risk.madeUnsyncable
        guard let headroom = plan.risk.headroom, count - plan.risk.recorded > headroom.documents,
            count > options.allowUnsync ?? 0
        else { return }
        throw RunError(
            .exceedsHeadroom,
            "job \"\(plan.job)\" would make \(count.grouped) documents unsyncable under the active schema, "
                + "but there is room for \(headroom.documents.grouped) (\(headroom)); convert into a new field "
                + "instead, or accept it with --allow-unsync \(count): the run then stops below the limit and "
                + "can be resumed; to free room: \(Headroom.remedies(for: plan.job))")
    }

    /// Refuses to start a job that an operator paused.
    ///
    /// After `resume`, the next run continues the job.
    package func checkPause(of plan: BackfillPlan) throws(RunError) {
        guard let paused = plan.paused else { return }
        let since = paused.at.map { " since \($0)" } ?? ""
        throw RunError(
            .paused,
            "job \"\(plan.job)\" is paused by \(paused.by)\(since)\(paused.note.map { " (\($0))" } ?? ""): nothing was "
                + "written; resume it with: shipshape resume \(plan.job)")
    }

    func openLedger(on pool: ClientPool) throws(MongoError) -> UnsyncLedger {
        UnsyncLedger(options.ledger.orOf(job.appIDs), client: try pool.client())
    }
}

extension BackfillRunner {
    /// Calls `body`, which makes the server compute the job's steps.
    ///
    /// If the server cannot compute a step, the thrown error names the line of that step in the job file.
    func locating<R>(in collection: MongoCollection, _ body: () throws -> R) throws -> R {
        do { return try body() } catch let error as MongoError where error.isOfExpression {
            throw try located(error, in: collection)
        }
    }

    /// Returns an error that names the first step which the server cannot compute; returns `error` if there is no such
    /// step.
    private func located(_ error: MongoError, in collection: MongoCollection) throws -> any Error {
        var pipeline: [BSONDocument] = []
        for step in job.steps where step.client == nil {
            pipeline.append(step.stage)
            do throws(MongoError) {
                // The `$group` makes the server compute the steps for all documents without returning a document.
                _ = try collection.aggregate(
                    pipeline + [["$group": ["_id": nil, "n": ["$sum": ["$bsonSize": "$$ROOT"]]]]],
                    options: Survey.options
                ).documents()
            } catch {
                guard error.isOfExpression else { continue }
                return RunError(.schemaMismatch, "\(step.step): the server cannot compute it: \(error.message)")
                    .located(at: step.location)
            }
        }
        return error
    }
}

extension MongoError {
    /// Whether the server's error may come from an expression, so that the same command would fail again.
    fileprivate var isOfExpression: Bool {
        domain == .server && !isTransient && !isTimeLimit && !isAuthorization && !isCursorLost
            && code != .collectionUUIDMismatch && code != .interrupted
    }
}

extension BackfillRunner {
    /// Refuses a job that documents would still need after a run.
    ///
    /// Also refuses a job in which a step with `onError: fail` would skip documents.
    /// - Parameter isProof: whether the survey also counted the documents that would still need the steps after a run.
    func checkEnds(_ survey: Survey.Result, isProof: Bool) throws(RunError) {
        let open = !isProof ? [] : survey.after.filter { $0.needing > 0 }.map { "\"\($0.step)\"" }
        guard open.isEmpty else {
            let remedy =
                job.steps.contains { $0.step.kind.isFreeForm && $0.step.kind.marker == nil }
                ? "the steps undo each other, or a step builds on its own result: give such a step a field that marks "
                    + "finished documents, such as \"once: _done\"" : "the steps undo each other"
            throw RunError(
                .notIdempotent,
                "job \"\(job.job.name)\" would never end: after a run, documents would still need "
                    + open.joined(separator: ", ") + "; \(remedy)")
        }
        for (step, count) in zip(job.steps, survey.before) {
            let refused = count.skipped.filter { found in
                found.count > 0 && step.step.kind.refuses.contains { $0.rawValue == found.reason }
            }
            guard let found = refused.first else { continue }
            throw RunError(
                .schemaMismatch,
                "\"\(count.step)\" has \"onError: fail\" and cannot change \(found.count.grouped) "
                    + "\(found.count == 1 ? "document" : "documents") (\(found.reason)), such as _id "
                    + "\(found.samples.first.flatMap { try? $0.extendedJSON(.relaxed) } ?? "unknown"): fix "
                    + "\(found.count == 1 ? "it" : "them"), or set \"onError: report\"")
        }
    }
}
