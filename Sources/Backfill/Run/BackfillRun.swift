import BSON
import Concurrency
import JobReports
import JobState
import Jobs
import Mongo
import Running
import Scanning
import Steps

/// One run of a job, which makes up to five passes in a row over the collection, as long as documents need the job.
///
/// A pass goes through the collection, usually in the order in which the server stores its documents. If most documents
/// may need the job, the transaction of each chunk reads the next ones; otherwise, a reader finds their `_id`s ahead of
/// the transactions. Each chunk goes through all phases; ``attempt(_:)`` handles a chunk in one phase. The next pass
/// finds documents that were inserted or changed after the pass had reached their position. The current content of a
/// document alone decides whether it needs the job, so a run need not know where an earlier run stopped.
struct BackfillRun: ~Copyable {
    let runner: BackfillRunner
    let plan: BackfillPlan
    let ledger: UnsyncLedger
    var kernel: Kernel
    var progress: Progress
    var pacing: ChunkPacing
    var journal = RunJournal()
    var tally = RunTally()
    /// The progress with which the run began; the run's own numbers are what the job's record has beyond it.
    let begun: Progress
    /// The evaluator of each phase, by the index of the phase; `nil` if the client cannot evaluate the phase.
    var evaluators: [Int: PhaseEvaluator?] = [:]
    /// The place of the current pass, if the transactions read the next documents of the collection; `nil` if a reader
    /// finds the documents.
    var records: RecordPlaces?
    /// The threads that write chunks beside the run's own thread.
    var threads = ChunkThreads()
    /// Whether a reader returns all documents, because the server cannot compute a step for one of them.
    var readsAll = false
    var account = UnsyncAccount()
    var skipped: SkippedDocuments
    /// The job, compiled with the schema that is active now.
    var job: CompiledJob
    /// The job's limits, with the changes that operators made to them.
    var limits: Job.Limits
    /// The result of the last survey of the whole collection; `nil` if there is none, or if it is out of date.
    var survey: Survey.Result?
    var refreshing = RefreshProgress()
    /// Follows the changes during the run, so that the survey at its end reads only the documents that changed; `nil`
    /// if that survey reads the whole collection.
    var watch: ChangeWatch?
    /// The documents that changed and need the job, according to the last survey; `nil` if the next pass has to read
    /// the whole collection.
    private var arrivals: [BSONValue]?
    private let startedAt = ContinuousClock.now
    /// How long the run has rested because of the limit `nice`, in seconds.
    var rested = 0.0

    /// The most passes in a row.
    ///
    /// If documents still need the job after the last pass, the run ends, and the next run handles these documents.
    private static let maximumPasses = 5
    /// The most documents in one chunk of a pass over a list of `_id`s.
    static let maximumListed = 2_000

    init(
        _ runner: BackfillRunner, _ plan: BackfillPlan, ledger: UnsyncLedger, kernel: consuming Kernel,
        progress: Progress
    ) {
        (self.runner, self.plan, self.ledger, self.progress) = (runner, plan, ledger, progress)
        begun = progress
        self.kernel = kernel
        job = runner.job
        limits = runner.job.job.limits
        pacing = ChunkPacing(runner.job.job.limits, averageSize: plan.target.averageSize)
        skipped = SkippedDocuments(maximum: runner.options.maxErrors)
    }

    /// The limit that decides how fast the run is, in words; `nil` if the run was too short to find that out.
    var bound: String? {
        SpeedBound(
            waits: kernel.throttler?.waits ?? [], rested: rested, seconds: startedAt.duration(to: .now).seconds,
            limits: limits)?.description
    }

    var collection: MongoCollection { kernel.client.collection(job.job.namespace) }

    /// The collection's UUID, if the server compares it with every command.
    var checkedUUID: BSONValue? { plan.target.checkedUUID }

    /// Runs until the job is done, or has to stop.
    /// - Returns: why the run stopped early; `nil` if it did not.
    mutating func run() throws -> RunStop? {
        defer { watch?.close() }
        do {
            return try runner.options.only.map { try runOnly($0) } ?? runPasses()
        } catch is StopAsked {
            return .signal
        } catch let error as MongoError where [.collectionUUIDMismatch, .queryPlanKilled].contains(error.code) {
            try checkCollection()
            throw error
        }
    }

    private mutating func runPasses() throws -> RunStop? {
        if runner.options.restarts, progress.isOpen { try endPass() }
        if progress.chunks > 0, progress.isOpen {
            kernel.events(.resumed(chunks: progress.chunks, documents: progress.processed))
        }
        try begin()
        var needing = try plan.needing ?? searchForNothing()
        repeat {
            for index in 0..<Self.maximumPasses where needing != 0 || progress.isOpen {
                try beginPass(needing: needing, isFirst: index == 0)
                if watch == nil, index == 0 { try watchChanges() }
                if let stop = try arrivals.map({ try pass(over: $0, through: [0]) }) ?? pass(isDense: index == 0) {
                    return stop
                }
                try endPass()
                needing = try surveyRest()
            }
            if needing == 0, job.refreshing != nil {
                let before = refreshing.documents
                if let stop = try refresh() { return stop }
                // A refresh changes the target fields of steps. A refreshed document may therefore need a later phase
                // of the job.
                if refreshing.documents > before {
                    needing = try surveyRest()
                    if needing != 0 { continue }
                }
            }
            guard needing == 0, try waitForLocks() else { break }
            needing = try surveyRest()
        } while true
        if kernel.stop.isRaised { return .signal }
        if waitsForLocks, isOutOfTime { return .timeBudget }
        // If the run waited for locks, it has discarded its survey. The documents are then counted again, because some
        // may have been inserted or changed during the wait.
        if survey == nil { needing = try surveyRest() }
        try checkCollection()
        try kernel.renew()
        try expectState()
        if kernel.hasFallenBack { needing = try surveyRest() }
        try kernel.renew(setting: RangeChange.ending(isDone: needing == 0))
        return needing.flatMap { $0 > 0 ? .arrivals($0) : nil }
    }

    /// Takes the documents with the listed `_id`s through the job, and returns the reason to stop, if there is one.
    ///
    /// A run with a list is never resumed. A later run with the list skips the documents that this run changed, because
    /// they no longer need the job.
    private mutating func runOnly(_ list: IDList) throws -> RunStop? {
        try begin()
        let stopped = try pass(over: list.ids, through: Array(job.phases.indices))
        // A run over a list of `_id`s says nothing about the rest of the collection, so the job's state stays as it
        // was.
        try kernel.renew(setting: RangeChange.ending(isDone: plan.wasDone))
        return stopped
    }

    private mutating func begin() throws {
        _ = kernel.throttler?.waitReasons()
        takeOver()
        // If the job's record was lost, its journal may still be there; no chunk may use a number again.
        journal.numbers.begin(after: try kernel.retrying { try kernel.store.journal.newest() })
        // `pruneFailures` returns the records of skipped documents that still need the job. A record has the code 0 if
        // its document was skipped because of a lock; such a document does not count against `--max-errors`.
        let earlier = try pruneFailures().filter { $0.code != 0 }.map(\.id)
        skipped = SkippedDocuments(maximum: runner.options.maxErrors, earlier: Set(earlier))
        guard runner.job.countsUnsyncable else { return }
        try kernel.retrying { try kernel.store.reservations.index() }
        try freeRepaired()
    }

    private mutating func beginPass(needing: Int?, isFirst: Bool) throws {
        guard !progress.isOpen else { return }
        progress.begin()
        if !isFirst { kernel.events(.pass(number: progress.pass, documents: needing ?? 0)) }
        try kernel.renew(setting: RangeChange.starting(pass: progress.pass, due: needing))
    }

    private mutating func endPass() throws {
        try kernel.renew(setting: RangeChange.ending(isDone: false))
        try resume()
        progress.end()
    }

    /// Applies the requests of operators: that the job's next schema counts as deployed, and the limits that they
    /// changed.
    mutating func takeOver() {
        guard let throttler = kernel.throttler else { return }
        let wasSafe = job.isSafe
        job = runner.job.judged(by: throttler.control)
        if job.isSafe != wasSafe { evaluators = [:] }
        guard limits != throttler.limits else { return }
        limits = throttler.limits
        pacing.adopt(limits)
    }

    /// Returns 0 if a cheap query shows that no document can need the job, and `nil` otherwise.
    ///
    /// The result is usually 0 if the job has already run.
    private mutating func searchForNothing() throws -> Int? {
        let job = runner.job
        survey = try kernel.reading(job.job.namespace) { collection in
            try Survey(job: job, collection: collection, surveysAfter: false).nothing()
        }
        return survey.map { _ in 0 }
    }

    /// Throws if the collection was dropped, renamed or created again during the run.
    func checkCollection() throws {
        let (name, namespace, uuid) = (job.job.name, job.job.namespace, plan.target.uuid)
        guard let fate = try kernel.retrying({ try Target.fate(of: namespace, uuid, for: name, on: kernel.client) })
        else {
            return
        }
        throw RunError(.bindingChanged, "job \"\(name)\" cannot continue: \(fate)")
    }

    /// Surveys the whole collection, and returns how many documents still need the job; documents that this run skips
    /// do not count.
    private mutating func surveyRest() throws -> Int {
        // The survey reads what a majority has, so a majority must have all chunks.
        try kernel.renew()
        try resume()
        if let needing = try surveyChanges() { return needing }
        let (job, slices, concurrency, pool) = (runner.job, skipped.slices, limits.concurrency, kernel.pool)
        let isDense = progress.modified > plan.documents / 2
        let (result, left) = try kernel.reading(job.job.namespace) { collection in
            let survey = Survey(job: job, collection: collection, surveysAfter: false)
            let result = try survey.run(in: concurrency, on: pool, isDense: isDense)
            return (result, result.needing == 0 ? 0 : try survey.run(over: slices).needing)
        }
        survey = result
        return max(0, result.needing - left)
    }

    /// Starts to follow the changes of the collection, if that saves the survey of the whole collection at the end.
    private mutating func watchChanges() throws {
        let (job, pool, stop, plan) = (runner.job, kernel.pool, kernel.stop, plan)
        guard case .collection = job.scope, job.phases.count == 1, job.phases[0].parts.count == 1,
            job.phases[0].detail(keepsJournal: runner.keepsJournal) != .whole, !kernel.client.isBehindRouter
        else { return }
        let start = try kernel.retrying { ClusterTime(rawValue: try kernel.client.operationTime(.primary)) }
        guard
            let watch = ChangeWatch(
                job, since: start, documents: plan.documents, on: pool, isStopped: { stop.isRaised })
        else { return }
        self.watch = watch
        let isOpen = try kernel.reading(job.job.namespace) { collection in
            let survey = Survey(job: job, collection: collection, surveysAfter: false)
            return try survey.isSparse(among: plan.documents, size: plan.target.averageSize) && watch.open()
        }
        if !isOpen { stopWatching() }
    }

    mutating func stopWatching() {
        watch?.close()
        watch = nil
    }

    /// Surveys only the documents that changed during the run.
    /// - Returns: how many documents still need the job; `nil` if the whole collection has to be surveyed.
    private mutating func surveyChanges() throws -> Int? {
        arrivals = nil
        guard let watch else { return nil }
        let (job, slices) = (runner.job, skipped.slices)
        // The current cluster time is read from the primary. A member that lags behind would return a time from before
        // the last changes.
        let now = try kernel.retrying { ClusterTime(rawValue: try kernel.client.operationTime(.primary)) }
        let found = try kernel.reading(job.job.namespace) { collection in
            let survey = Survey(job: job, collection: collection, surveysAfter: false)
            return try watch.survey(with: survey, at: now).map { result, needing in
                (result, needing, left: result.needing == 0 ? 0 : try survey.run(over: slices).needing)
            }
        }
        guard let (result, needing, left) = found else {
            stopWatching()
            return nil
        }
        survey = result
        let rest = max(0, result.needing - left)
        let open = needing.filter { !skipped.contains($0) }
        // If a document needs the job although it did not change, the next pass reads the whole collection.
        arrivals = open.count >= rest ? open : nil
        return rest
    }

    /// Returns how many documents need the job now, without the documents that this run skips.
    ///
    /// Unlike a survey, the function does not count the documents for each step.
    mutating func countNeeding() throws -> Int {
        let (job, slices) = (runner.job, skipped.slices)
        return try kernel.reading(job.job.namespace) { collection in
            let survey = Survey(job: job, collection: collection, surveysAfter: false)
            let needing = try survey.needing()
            return needing == 0 ? 0 : max(0, needing - (try slices.reduce(0) { try $0 + survey.needing(of: $1) }))
        }
    }

    /// Releases the reservations of documents that were repaired, and renews the lease when necessary.
    func freeRepaired() throws {
        let (budget, job) = (budget, job.job)
        let jobs = try kernel.retrying {
            try kernel.store.reservations.idleJobs(of: job.namespace, including: [job.name])
        }
        for batch in try kernel.retrying({ try budget.pending(kernel.store, by: jobs) }) {
            guard !kernel.stop.isRaised else { return }
            _ = try kernel.retrying { try budget.noteRepaired(among: batch, by: jobs, kernel.store) }
            try kernel.keepLease()
        }
        try kernel.retrying { try budget.removeRepaired(kernel.store, by: jobs) }
    }

    /// The unsync budget, with the current active schema and limits, which may change while the job runs.
    var budget: UnsyncBudget {
        UnsyncBudget(job: job, collection: collection, ledger: ledger, limits: limits, stop: kernel.stop)
    }
}

extension Phase {
    /// Returns how much of a document has to be read: all of it, the fields that the phase touches, or the `_id`.
    func detail(keepsJournal: Bool) -> DueCursor.Detail {
        if !isServerSide || !isSafe { return .whole }
        return keepsJournal ? .touched : .id
    }
}
