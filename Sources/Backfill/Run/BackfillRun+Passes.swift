import BSON
import Concurrency
import JobReports
import JobState
import Jobs
import Mongo
import Running
import Scanning
import Steps

extension BackfillRun {
    /// Takes every document that needs the job through all phases, a chunk at a time.
    /// - Parameter isDense: whether the transactions may read the next documents of the collection themselves.
    mutating func pass(isDense: Bool) throws -> RunStop? {
        try compileEvaluators()
        records = isDense && readsDensely ? RecordPlaces() : nil
        defer { records = nil }
        var (reader, isOver) = (ChunkReader?.none, false)
        return try pass { run, amount in
            if let records = run.records { return records.isOver ? [] : [Chunk(nextIn: 0)] }
            guard !isOver else { return [] }
            let chunks = try run.next(&reader, amount)
            isOver = chunks.isEmpty
            return chunks
        }
    }

    /// Whether the transactions of a pass read all documents of the collection in the order of their records.
    ///
    /// If few documents need the job, a reader finds them in less time. Behind routers, and over a part of a
    /// collection, there is no such order.
    var readsDensely: Bool {
        guard case .collection = job.scope, job.phases.count == 1, (evaluators[0] ?? nil) != nil, watch == nil else {
            return false
        }
        return !kernel.client.isBehindRouter
    }

    private mutating func compileEvaluators() throws {
        let (job, pool) = (job, collection)
        guard evaluators.isEmpty else { return }
        for index in 0...job.phases.count where index < job.phases.count || job.refreshing != nil {
            let evaluator = try kernel.retrying {
                try PhaseEvaluator(job.phase(at: index), for: job.scope, in: pool)
            }
            evaluators.updateValue(evaluator, forKey: index)
        }
    }

    /// Takes the listed documents through the phases of the job that have the given indexes.
    mutating func pass(over list: [BSONValue], through phases: [Int]) throws -> RunStop? {
        try compileEvaluators()
        var rest = list[...]
        return try pass { _, amount in
            let ids = Array(rest.prefix(min(amount.documents, Self.maximumListed))).commandSlices().first ?? []
            rest = rest.dropFirst(ids.count)
            return ids.isEmpty ? [] : phases.map { Chunk(ids, phase: $0) }
        }
    }

    /// Takes the chunks that `next` returns through their phases, until `next` returns none.
    mutating func pass(
        _ next: (inout BackfillRun, ReadAmount) throws -> [Chunk]
    ) throws -> RunStop? {
        if runner.keepsJournal { try journal.chooseEvidence(for: job, &kernel) }
        // The chunks that other threads have begun are part of the run, however it ends.
        do {
            let stopped = try chunks(next)
            try waitForThreads { run, finished in try run.noteCommitted(finished) }
            return stopped
        } catch {
            try? waitForThreads { run, finished in try? run.noteCommitted(finished) }
            throw error
        }
    }

    private mutating func chunks(_ next: (inout BackfillRun, ReadAmount) throws -> [Chunk]) throws -> RunStop? {
        var queue: [Chunk] = []
        while true {
            while let finished = threads.next() {
                if let stop = try take(settle(finished), of: finished.work, &queue) { return stop }
            }
            kernel.throttler?.note(changed: progress.modified, size: plan.target.averageSize)
            if let stop = try kernel.waitForThrottle() { return stop }
            takeOver()
            try compileEvaluators()
            // A server before MongoDB 6.0 cannot check at each write that the collection still has the UUID for which
            // the job was planned, so the run checks it before each chunk.
            if !plan.target.checksUUID { try checkCollection() }
            try fill(&queue, next)
            if watch?.isGivenUp == true { stopWatching() }
            while let chunk = queue.first, try isForThreads(chunk), threads.hasIdle(of: limits.concurrency) {
                threads.begin(work(on: queue.removeFirst()))
                try fill(&queue, next)
            }
            guard let chunk = queue.first, try !isForThreads(chunk) else {
                guard threads.areBusy else { return nil }
                if let finished = threads.next(within: Self.patience),
                    let stop = try take(settle(finished), of: finished.work, &queue)
                {
                    return stop
                }
                try kernel.keepLease()
                continue
            }
            let work = work(on: chunk)
            queue.removeFirst()
            kernel.restart()
            let attempt = try attempt(work)
            if let stop = try take(attempt, of: work, &queue) { return stop }
            guard case .done = attempt else { continue }
            let rest = kernel.worked * limits.nice
            try kernel.sleep(rest)
            rested += rest.seconds
        }
    }

    /// Adds the next chunks to an empty queue.
    private mutating func fill(
        _ queue: inout [Chunk], _ next: (inout BackfillRun, ReadAmount) throws -> [Chunk]
    ) throws {
        guard queue.isEmpty else { return }
        // The reader may have read ahead for a larger chunk, so its documents are cut into chunks of the current size.
        // A dense read whose place was lost is continued by a reader.
        let fresh = try next(&self, pacing.amount)
        guard !fresh.isEmpty else { return }
        journal.group = progress.chunks
        if job.phases.count > 1 { tally.beginPhases() }
        queue = fresh.flatMap { $0.isNext ? [$0] : $0.parts(of: pacing.documents) }
    }

    /// Adds what is left of a chunk to the queue, and returns the reason to stop, if there is one.
    private mutating func take(_ attempt: Attempt, of work: ChunkWork, _ queue: inout [Chunk]) throws -> RunStop? {
        switch attempt {
        case .stopped(let stop): return stop
        case .again(let chunks): queue = chunks + queue
        case .done(let documents, let modified, let rest):
            queue = rest + queue
            let size = work.chunk.isNext ? work.amount.documents : work.chunk.ids.count
            if pacing.learn(from: size, isWhole: rest.isEmpty) { kernel.events(.stuckAtOneDocument) }
            kernel.events(.chunk(documents: work.isLast ? documents : 0, modified: modified))
        }
        return nil
    }

    /// Runs the refresh: writes new values to target fields whose source fields changed, if the targets still hold the
    /// values that the job wrote.
    mutating func refresh() throws -> RunStop? {
        guard runner.keepsJournal else { return nil }
        while true {
            let found = try findRefreshable()
            let before = changed
            if !found.own.isEmpty {
                refreshing.written = found.written
                defer { refreshing.written = nil }
                let stopped = try pass(over: found.own.filter { !skipped.contains($0) }, through: [job.phases.count])
                refreshing.documents += changed - before
                if let stopped { return stopped }
            }
            // If no document was refreshed, the next search for documents to refresh would find the same documents.
            guard found.mayHaveMore, changed > before else { return nil }
        }
    }

    private func findRefreshable() throws -> RefreshSearch.Found {
        let search = RefreshSearch(job: job, collection: collection, collectionUUID: checkedUUID)
        let stop = kernel.stop
        return try kernel.retrying {
            try search.own(by: kernel.store.journal) {
                guard !stop.isRaised else { throw StopAsked() }
                try kernel.keepLease()
            }
        }
    }

    /// Waits until a majority has all chunks; afterwards, ``progress`` has what they did.
    mutating func confirm() throws {
        try kernel.renew()
        if let record = try kernel.takeFallenBack() { progress = Progress(record) }
    }

    var chunks: Int { max(0, progress.chunks - begun.chunks) }

    var changed: Int { max(0, progress.modified - begun.modified) }

    private mutating func next(_ reader: inout ChunkReader?, _ amount: ReadAmount) throws -> [Chunk] {
        let stop = kernel.stop
        while true {
            let answer = try kernel.retrying { () throws -> [DueDocument]? in
                let isNew = reader == nil
                let current = reader ?? open()
                reader = current
                if isNew { current.ask(for: amount) }
                do {
                    return try current.answer(stop: stop) { try kernel.keepLease() }
                } catch is DocumentFailure {
                    // The transaction of its chunk finds the document for which the server cannot compute a step.
                    return nil
                } catch {
                    // The next attempt opens a new reader, which finds the documents that are still to be done.
                    reader = nil
                    throw error
                }
            }
            guard let found = answer else {
                (reader, readsAll) = (nil, true)
                watch?.giveUp()
                continue
            }
            guard !found.isEmpty, let reader else { return [] }
            reader.ask(for: amount)
            let ids = found.map(\.id).filter { !skipped.contains($0) }
            guard !ids.isEmpty else { continue }
            return job.phases.indices.map { Chunk(ids, phase: $0) }
        }
    }

    private func open() -> ChunkReader {
        let (job, uuid, watch, readsAll) = (job, checkedUUID, watch, readsAll)
        return ChunkReader(on: kernel.pool) { client throws(MongoError) in
            let context = job.context(client.collection(job.job.namespace))
            guard !readsAll else { return DueCursor(all: job.scope, in: context.collection, collectionUUID: uuid) }
            return try DueCursor(
                job.scope, of: job.phases.count > 1 ? job.whole : job.phases[0], .id,
                in: context, collectionUUID: uuid, watch: watch)
        }
    }
}
