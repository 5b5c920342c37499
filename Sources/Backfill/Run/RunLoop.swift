import BSON
import Mongo
import Scanning

/// The loop over chunks: bound, gate, write, checkpoint; then once more for what arrived meanwhile.
struct RunLoop: ~Copyable {
    let runner: BackfillRunner
    let plan: BackfillPlan
    /// Gives the long reads a client each.
    let pool: ClientPool
    let client: Client
    let store: StateStore
    let ledger: GateLedger
    let brakes: Brakes
    let deadline: ContinuousClock.Instant?
    var holding: Holding
    var progress: StateStore.Progress
    var size: ChunkSize
    /// The documents of a chunk behind one that took too long and was smaller than ``size``; `nil` at other times.
    var probe: Int?
    /// How many documents the chunk at hand has; `nil` before they are counted.
    var walking: Int?
    /// The upper bound of the walks over all phases; `nil` before the first.
    var bound: BSONValue?
    /// The terms in which the chunk's writes were acknowledged.
    var terms = ChunkTerms()
    /// The journal of the chunk at hand, while no majority is known to have it.
    var unconfirmed: [(journal: ChunkJournal, key: StateStore.JournalKey, touched: [String])] = []
    /// Whether the checkpoint's wait for a majority is the only one of a chunk: the server names its term.
    var sharesMajority = false
    /// Documents that this run has set aside.
    var failed: [BSONValue: Failure] = [:]
    /// Documents that earlier runs had set aside, and that this one tries again.
    var earlierFailed: Set<BSONValue> = []
    /// What the last verifying look at the whole collection found.
    var survey: Survey.Result?
    /// When locked documents have been waited for long enough; `nil` before the first wait.
    var lockEnd: ContinuousClock.Instant?
    /// The locks as they were when the wait began.
    var locks: [(id: BSONValue, lock: BSONDocument)] = []
    /// Locked documents beyond those that were listed.
    var unlisted = 0
    /// The time since the chunk's beginning that was spent waiting, and not on the chunk.
    var waited = Duration.zero
    /// The job's limits, with those that an operator set in their place.
    var limits: Job.Limits
    /// The job as it is judged now.
    var job: CompiledJob
    /// The sum of unsynced documents at the chunk before; `nil` when it has to be read anew.
    var headroom: Headroom?
    /// Chunks and documents that this run wrote.
    var written = (chunks: 0, documents: 0)
    /// Documents that this run changed in writes that failed afterwards, and that no checkpoint counts yet.
    var uncounted = 0
    /// Whether a write failed of which the server did not say how many documents it had changed.
    var countIsLow = false
    /// Documents that this run made unsyncable under the active schema.
    var harmed = 0
    /// Those of them that belong to writes which failed, and may be met again.
    var inDoubt: Set<BSONValue> = []
    /// Documents at risk that were recorded since the last look at what became of them.
    var unsettled: [BSONValue] = []
    /// Attempts of this run that are in the journal.
    var journaled: Int64 = 0

    /// Rounds over all phases after which the job leaves documents that keep arriving to the next run.
    private static let maximumRounds = 5

    init(
        runner: BackfillRunner, plan: BackfillPlan, pool: ClientPool, client: consuming Client,
        store: consuming StateStore,
        ledger: GateLedger, brakes: Brakes, deadline: ContinuousClock.Instant?, holding: Holding,
        progress: StateStore.Progress
    ) {
        self.runner = runner
        self.plan = plan
        self.pool = pool
        self.client = client
        self.store = store
        self.ledger = ledger
        self.brakes = brakes
        job = runner.job
        self.deadline = deadline
        self.holding = holding
        self.progress = progress
        limits = runner.job.job.limits
        size = ChunkSize(runner.job.job.limits, averageSize: plan.averageSize)
    }

    var collection: MongoCollection { client.collection(job.job.namespace) }
    var chunker: Chunker { Chunker(collection: collection) }

    /// Runs until the job is done, or gives the reason to stop.
    ///
    /// Once all phases are through, what arrived or changed meanwhile is looked for in the whole collection, and the
    /// phases that it needs are walked again.
    mutating func run() throws -> BackfillReport.Stop? {
        do { return try runRounds() } catch is StopAsked {
            saveCount()
            return .signal
        }
    }

    private mutating func runRounds() throws -> BackfillReport.Stop? {
        try checkProgress()
        if progress.chunks > 0, progress.upper != nil {
            runner.events(.resumed(chunks: progress.chunks, documents: progress.walked))
        }
        try lookBack()
        let runner = runner
        sharesMajority = try runner.patience.bridging { try client.hello().topology == .replicaSet }
        // Without those that were repaired since, and those that were only locked.
        earlierFailed = Set(try settleFailures().filter { $0.code != 0 }.map(\.id))
        var needing = plan.needing
        repeat {
            for round in 0..<Self.maximumRounds where needing > 0 || progress.upper != nil {
                // All phases end where the first one does: what comes later has a round of its own.
                bound = progress.upper
                for (index, phase) in job.phases.enumerated() {
                    // A walk that an earlier run began is ended first.
                    if progress.upper != nil, progress.phase != index { continue }
                    let known = job.phases.count == 1 ? needing : nil
                    if let stop = try run(phase, at: index, needing: known, isFirst: round == 0) { return stop }
                }
                needing = try verify()
            }
            guard needing == 0, try waitForLocks() else { break }
            needing = try verify()
        } while true
        if runner.stop.isRaised { return .signal }
        try renew(setting: StateStore.ending(isDone: needing == 0))
        return needing > 0 ? .arrivals(needing) : nil
    }

    /// Walks a phase once, unless no document needs it.
    /// - Parameter needing: how many documents need it, where that is known.
    private mutating func run(
        _ phase: Phase, at index: Int, needing: Int?, isFirst: Bool
    ) throws -> BackfillReport.Stop? {
        if progress.upper == nil {
            let needing = try needing ?? countOpen(phase)
            let chunker = chunker
            guard needing > 0, let upper = try bound ?? runner.patience.bridging({ try chunker.greatestID() }) else {
                return nil
            }
            bound = upper
            let pass = progress.pass + 1
            if !isFirst { runner.events(.pass(number: pass, documents: needing)) }
            try renew(setting: StateStore.starting(pass: pass, phase: index, of: job.phases.count, upper: upper))
            (progress.pass, progress.phase, progress.upper, progress.walked) = (pass, index, upper, 0)
            progress.last = nil
        }
        if let stop = try walk() {
            saveCount()
            return stop
        }
        try renew(setting: StateStore.ending(isDone: false))
        (progress.last, progress.upper) = (nil, nil)
        return nil
    }

    mutating func renew(setting changes: BSONDocument = [:]) throws {
        let lease = holding.lease
        let (renewed, askedAt) = try runner.patience.bridging {
            let askedAt = ContinuousClock.now
            return (try store.renew(lease, setting: changes), askedAt)
        }
        holding.renew(renewed, askedAt: askedAt)
        // It waits for a majority.
        waited += askedAt.duration(to: .now)
    }
}
