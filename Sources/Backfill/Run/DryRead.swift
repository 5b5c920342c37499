import BSON
import Checking
import Concurrency
import Evaluating
import JobReports
import JobState
import Jobs
import Mongo
import Running
import Scanning
import Steps
import Synchronization

/// The single read of a dry run: threads read the whole collection as `check` does, and evaluate the job on each
/// document.
///
/// The same read gives the counts of each step, the counts of changed and failing documents, and the estimate of a run.
/// The server evaluates only the documents that the client cannot evaluate.
final class DryRead: Sendable {
    struct Counts: Sendable {
        var found: StepFinder.Found
        var preview: PreviewCount
        /// The `_id`s of the documents that the client could not evaluate.
        var unevaluated: [BSONValue] = []

        fileprivate mutating func add(_ other: Counts) {
            found = found.adding(other.found)
            preview.add(other.preview)
            unevaluated += other.unevaluated
        }
    }

    private struct Part: Sendable {
        var counts: Counts
        var frame: Frame
    }

    /// The error that the client could not evaluate more than ``Survey/maximumUnevaluated`` documents.
    struct TooManyUnevaluated: Error {}

    private let runner: BackfillRunner
    private let evaluator: PhaseEvaluator
    private let finder: StepFinder
    /// The number of documents in a chunk of a run.
    private let size: Int
    /// About how many documents the collection has.
    private let documents: Int
    private let total: Mutex<Counts>
    /// The number of documents that were reported as read.
    private let reported = Atomic<Int>(0)

    /// Prepares to read a whole collection; returns `nil` if the client cannot evaluate the job's steps.
    init?(_ runner: BackfillRunner, by evaluator: PhaseEvaluator, of plan: BackfillPlan) {
        guard let finder = evaluator.finder(of: runner.job) else { return nil }
        (self.runner, self.evaluator, self.finder) = (runner, evaluator, finder)
        documents = plan.documents
        size = ChunkSize(runner.job.job.limits, averageSize: plan.target.averageSize).documents
        total = Mutex(Counts(found: finder.nothing, preview: PreviewCount(job: runner.job)))
    }

    private var nothing: Counts { Counts(found: finder.nothing, preview: PreviewCount(job: runner.job)) }

    /// Reads until all documents are counted, or the runner is asked to stop.
    /// - Throws: ``TooManyUnevaluated`` if the server has to evaluate the whole collection; ``MongoError``;
    ///   ``RunError``.
    func run(on pool: ClientPool) throws -> Counts {
        total.withLock { $0 = nothing }
        let stop = runner.stop
        var options = ScanOptions()
        // The documents of a small collection are read in their order, so that its samples are always the same.
        options.threads = documents > size ? runner.job.job.limits.concurrency : 1
        options.retryLimit = runner.options.retryLimit
        options.isStopped = { stop.isRaised }
        options.listeners.progress = { [self] in
            reported.add($0, ordering: .relaxed)
            runner.events(.chunk(documents: $0, modified: 0))
        }
        options.listeners.onRestart = { [self] _ in total.withLock { $0 = nothing } }
        let threads = RangeThreads(runner.job.job.namespace, on: pool, options: options)
        let reading = BackgroundTask(running: { [self] in
            try await threads.read({ [self] in
                Part(counts: nothing, frame: finder.frame())
            }) { [self] in try add($1, to: &$0) }
        })
        switch reading.end() {
        case .success(let parts): for part in parts { try leave(part.counts) }
        case .failure(is ScanStopped): break
        case .failure(let error):
            takeBackProgress()
            throw error
        }
        var counts = total.withLock(\.self)
        try addUnevaluated(to: &counts, on: pool)
        counts.preview.chunks = (counts.preview.modified + size - 1) / size
        return counts
    }

    /// Reports that the documents will be read again.
    private func takeBackProgress() {
        let documents = reported.exchange(0, ordering: .relaxed)
        if documents != 0 { runner.events(.chunk(documents: -documents, modified: 0)) }
    }

    private func leave(_ counts: Counts) throws {
        var counts = counts
        counts.preview.endChunk()
        let unevaluated = total.withLock { total in
            total.add(counts)
            return total.unevaluated.count
        }
        if unevaluated > Survey.maximumUnevaluated { throw TooManyUnevaluated() }
    }

    private func add(_ document: borrowing BSONView, to part: inout Part) throws {
        if document.byteCount > BackfillRunner.largest, try isLarge(document) { part.counts.preview.large += 1 }
        let findings: [StepFinder.Finding]
        var change: Preview.Change?
        do throws(NotEvaluated) {
            findings = try finder.findings(in: document, &part.frame)
            if findings.contains(where: \.isNeed) {
                change = try evaluator.change(ofNeeding: document, in: &part.frame)
            }
        } catch {
            if let id = try document.find("_id") { part.counts.unevaluated.append(try document.value(id)) }
            guard part.counts.unevaluated.count <= Survey.maximumUnevaluated else { throw TooManyUnevaluated() }
            return
        }
        part.counts.found.add(findings)
        try part.counts.found.sample(findings) { () throws(BSONError) in
            try document.find("_id").map { element throws(BSONError) in try document.value(element) }
        }
        if let change {
            try part.counts.preview.add(document, change, 0)
        } else {
            try part.counts.preview.addUnchanged(document)
        }
        guard part.counts.found.documents >= size else { return }
        // After a signal, the report shows the counts that the threads have left so far.
        try leave(part.counts)
        part.counts = nothing
    }

    private func isLarge(_ document: borrowing BSONView) throws -> Bool {
        var fields = BSONBuilder()
        for name in runner.namesForUndo {
            if let element = try document.find(name) { fields.append(element, of: document) }
        }
        return fields.finish().bytes.count > BackfillRunner.largest
    }

    private func addUnevaluated(to counts: inout Counts, on pool: ClientPool) throws {
        guard !counts.unevaluated.isEmpty else { return }
        let client = try pool.client()
        let collection = client.collection(runner.job.job.namespace)
        var open = Array(counts.unevaluated.commandSlices(count: 1_000).reversed())
        while !runner.stop.isRaised, let ids = open.popLast() {
            do {
                let count = try runner.retry.run {
                    var count = PreviewCount(job: runner.job)
                    let preview = Preview(
                        .ids(ids), through: runner.job.whole, in: runner.job.context(collection),
                        onlyNeeding: false)
                    _ = try count.read(preview, number: 0)
                    count.endChunk()
                    return count
                }
                counts.preview.add(count)
            } catch let error as MongoError where error.isOfOneDocument {
                // A document that a run would skip makes the read of its slice fail. The document is found by halving
                // the slice.
                guard ids.count > 1 else {
                    counts.preview.failures.append(Failure(ids[0], error, phase: 0))
                    continue
                }
                open += ids.halves.reversed()
            }
        }
    }
}
