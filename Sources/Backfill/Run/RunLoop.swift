import BSON
import Mongo
import Scanning

/// The loop over chunks: bound, gate, write, checkpoint; then once more for what arrived meanwhile.
struct RunLoop: ~Copyable {
    let runner: BackfillRunner
    let plan: BackfillPlan
    let client: Client
    let store: StateStore
    /// `nil` for a job that cannot do harm.
    let gate: Gate?
    let deadline: ContinuousClock.Instant?
    var holding: Holding
    var progress: StateStore.Progress
    var size: ChunkSize
    /// Chunks and documents that this run wrote.
    private(set) var written = (chunks: 0, documents: 0)
    /// Documents that this run changed in writes that failed afterwards, and that no checkpoint counts yet.
    private var uncounted = 0
    /// Whether a write failed of which the server did not say how many documents it had changed.
    private(set) var countIsLow = false
    /// Documents that this run made unsyncable under the active schema.
    private(set) var harmed = 0
    /// Those of them that belong to writes which failed, and may be met again.
    private var inDoubt: Set<BSONValue> = []
    /// Documents at risk that were recorded since the last look at what became of them.
    private var unsettled: [BSONValue] = []

    /// Walks after which the job leaves documents that keep arriving to the next run.
    private static let maximumPasses = 5

    /// A lease, and when it was last asked for: a bound on how long it lasts that needs no clock but our own.
    struct Holding {
        var lease: Lease
        var askedAt: ContinuousClock.Instant

        /// Whether a fence of this lease held at any time up to now.
        var isCertain: Bool { askedAt.duration(to: .now) < lease.terms.duration - lease.terms.writeLimit }

        /// Whether it is time to renew it.
        var isHalfOver: Bool { askedAt.duration(to: .now) > lease.terms.duration / 2 }
    }

    init(
        runner: BackfillRunner, plan: BackfillPlan, client: consuming Client, store: consuming StateStore, gate: Gate?,
        deadline: ContinuousClock.Instant?, holding: Holding, progress: StateStore.Progress
    ) {
        self.runner = runner
        self.plan = plan
        self.client = client
        self.store = store
        self.gate = gate
        self.deadline = deadline
        self.holding = holding
        self.progress = progress
        size = ChunkSize(runner.job.job.limits, averageSize: plan.averageSize)
    }

    var job: CompiledJob { runner.job }
    private var collection: MongoCollection { client.collection(job.job.namespace) }
    private var chunker: Chunker { Chunker(collection: collection) }

    /// Runs until the job is done, or gives the reason to stop.
    mutating func run() throws -> BackfillReport.Stop? {
        if progress.chunks > 0, progress.upper != nil { runner.events(.resumed(chunks: progress.chunks)) }
        var needing = plan.needing
        for _ in 0..<Self.maximumPasses {
            if progress.upper == nil {
                guard needing > 0, let upper = try chunker.greatestID() else {
                    try renew(setting: StateStore.ending(isDone: true))
                    break
                }
                let pass = progress.pass + 1
                if pass > 1 { runner.events(.pass(number: pass, documents: needing)) }
                try renew(setting: StateStore.starting(pass: pass, upper: upper))
                progress.pass = pass
                progress.upper = upper
            }
            if let stop = try walk() {
                saveCount()
                return stop
            }
            needing = try runner.patience.bridging { try collection.countDocuments(job.needs.filter) }
            try renew(setting: StateStore.ending(isDone: needing == 0))
            (progress.last, progress.upper) = (nil, nil)
            if needing == 0 { break }
        }
        return needing > 0 ? .arrivals(needing) : nil
    }

    /// Walks from the checkpoint to the pass's upper bound.
    private mutating func walk() throws -> BackfillReport.Stop? {
        guard let upper = progress.upper else { return nil }
        while !progress.isPassOver {
            if runner.stop.isRaised { return .signal }
            if let deadline, .now >= deadline { return .timeBudget }
            let started = ContinuousClock.now
            let (after, documents) = (progress.last, size.documents)
            var chunk = try runner.patience.bridging {
                try chunker.chunk(after: after, upper: upper, documents: documents)
            }
            var judged: Selection?
            if let gate {
                guard let decision = try runner.patience.bridging({ try gate.decide(chunk, store) }) else {
                    return .signal
                }
                guard let allowed = decision.chunk else { return .threshold(decision.headroom) }
                if let full = try reserve(decision, gate) { return .threshold(full) }
                (chunk, judged) = (allowed, decision.judged)
            }
            unsettled += judged?.atRisk ?? []
            guard let modified = try write(chunk, only: judged) else { continue }
            inDoubt.subtract(judged?.harmful ?? [])
            if let gate { try settle(gate) }
            FaultPoint.afterWrite.reached(visit: written.chunks + 1)
            progress.last = chunk.through
            progress.chunks += 1
            progress.modified += modified
            try renew(setting: StateStore.checkpoint(progress))
            FaultPoint.afterCheckpoint.reached(visit: written.chunks + 1)
            written = (written.chunks + 1, written.documents + modified)
            size.grow()
            runner.events(.chunk(documents: documents, modified: modified))
            try rest(after: started.duration(to: .now))
        }
        return nil
    }

    /// Records a chunk's harm before it is written, and counts again: another job may have recorded its own meanwhile.
    /// - Returns: the headroom when there is no room after all; the record is taken back then.
    private func reserve(_ decision: Gate.Decision, _ gate: Gate) throws -> Headroom? {
        guard !decision.judged.counted.isEmpty else { return nil }
        let namespace = job.job.namespace
        try runner.patience.bridging { try store.record(harm: decision.judged.counted, of: namespace) }
        FaultPoint.afterHarm.reached(visit: written.chunks + 1)
        let headroom = try runner.patience.bridging { try gate.headroom(store) }
        guard headroom.isExceeded else { return nil }
        try runner.patience.bridging { try store.takeBack(harm: decision.newlyCounted, of: namespace) }
        return headroom
    }

    /// Frees the room of the documents at risk that were not harmed after all.
    private mutating func settle(_ gate: Gate) throws {
        guard !unsettled.isEmpty else { return }
        let (runner, written) = (runner, unsettled)
        let unharmed = try runner.patience.bridging { try gate.unharmed(among: written) }
        try runner.patience.bridging { try store.takeBack(harm: unharmed, of: job.job.namespace) }
        unsettled = []
    }

    /// Writes one chunk, of it only the documents that the gate judged; `nil` when it is to be tried anew, and smaller.
    private mutating func write(_ chunk: Chunk, only judged: Selection?) throws -> Int? {
        let writer = ChunkWriter(job: job, collectionUUID: plan.checksUUID ? plan.collectionUUID : nil)
        do {
            for updates in writer.commands(chunk, only: judged) {
                guard try send(updates, by: writer) else { return nil }
            }
        } catch {
            saveCount()
            throw error
        }
        defer { uncounted = 0 }
        return uncounted
    }

    /// The run ends within a chunk: what it had changed of it is kept, if the lease and the deployment allow it.
    private mutating func saveCount() {
        guard uncounted > 0 else { return }
        progress.modified += uncounted
        written.documents += uncounted
        uncounted = 0
        _ = try? store.renew(holding.lease, setting: ["modified": .integer(progress.modified)])
    }

    /// Sends one command; `false` when it took too long.
    private mutating func send(_ updates: [ChunkWriter.Update], by writer: ChunkWriter) throws -> Bool {
        while !runner.stop.isRaised {
            if holding.isHalfOver { try renew() }
            let (lease, runner) = (holding.lease, runner)
            FaultPoint.beforeWrite.reached(visit: written.chunks + 1)
            // Counted before the write, as the record is: of one that fails nobody knows how far it came.
            let harm = updates.flatMap(\.harm)
            harmed += harm.count { !inDoubt.contains($0) }
            inDoubt.formUnion(harm)
            do {
                var timeLimit: MongoError?
                try runner.patience.bridging {
                    do throws(MongoError) {
                        uncounted += try writer.send(updates, under: lease, on: client)
                    } catch {
                        uncounted += error.modified ?? 0
                        countIsLow = countIsLow || error.modified == nil
                        // What took too long is not repeated as it is.
                        guard error.isTimeLimit else { throw error }
                        timeLimit = error
                    }
                }
                if let timeLimit { throw timeLimit }
                // A write that came after the fence changed nothing and reads like one that had nothing to change.
                if holding.isCertain { return true }
                try renew()
                guard size.canShrink else { continue }
                halve()
                return false
            } catch let error as MongoError where error.isTimeLimit && size.canShrink {
                halve()
                return false
            } catch let error as MongoError where error.code == .collectionUUIDMismatch {
                throw BackfillError(
                    .bindingChanged,
                    "job \"\(job.job.name)\" cannot go on: \(job.job.namespace) was dropped and created anew while it ran"
                )
            } catch let error as MongoError where error.code == .documentValidationFailure {
                throw BackfillError(
                    .schemaMismatch,
                    "job \"\(job.job.name)\" cannot go on: the validator of \(job.job.namespace) refuses what it writes; "
                        + "change the validator (collMod) or the job's values, under a new name")
            } catch let error as MongoError where error.code == .duplicateKey {
                throw BackfillError(
                    .schemaMismatch,
                    "job \"\(job.job.name)\" cannot go on: it writes a value twice into a unique index of "
                        + "\(job.job.namespace): \(error.message)")
            } catch let error as MongoError where error.isTooLarge {
                throw BackfillError(
                    .schemaMismatch,
                    "job \"\(job.job.name)\" cannot go on: a document of \(job.job.namespace) would grow beyond what "
                        + "MongoDB stores: \(error.message)")
            } catch let error as MongoError where error.code == .queryPlanKilled {
                throw BackfillError(
                    .bindingChanged,
                    "job \"\(job.job.name)\" cannot go on: \(job.job.namespace) was dropped or renamed while it ran")
            }
        }
        return false
    }

    private mutating func halve() {
        size.shrink()
        runner.events(.halved(documents: size.documents))
    }

    private mutating func renew(setting changes: BSONDocument = [:]) throws {
        let lease = holding.lease
        let (renewed, askedAt) = try runner.patience.bridging {
            let askedAt = ContinuousClock.now
            return (try store.renew(lease, setting: changes), askedAt)
        }
        holding = Holding(lease: renewed, askedAt: askedAt)
    }

    /// Rests in proportion to the work, and keeps the lease meanwhile.
    private mutating func rest(after work: Duration) throws {
        let end = ContinuousClock.now + work * job.job.limits.nice
        let until = min(end, deadline ?? end)
        while .now < until, !runner.stop.isRaised {
            Thread.sleep(min(ContinuousClock.now.duration(to: until), .milliseconds(200)))
            if holding.isHalfOver { try renew() }
        }
    }
}

extension MongoError {
    /// Whether a document would pass the server's limits: its size, or its depth.
    fileprivate var isTooLarge: Bool { [10_334, 17_419, 17_420, 15].contains(code.rawValue) }
}
