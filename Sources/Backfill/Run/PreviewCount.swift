import BSON
import Checking
import JobReports
import JobState
import Jobs
import Mongo
import Steps

/// The counts of a dry run.
struct PreviewCount: Sendable {
    let job: CompiledJob
    var modified = 0
    /// The number of changes; a document counts once for each phase that changes it.
    var updates = 0
    var failingBefore = 0
    var failingAfter = 0
    /// A few of the changed documents, each with the number of its chunk.
    var samples: [(chunk: Int, sample: BackfillReport.Sample)] = []
    /// The number of chunks in which at least one document changes.
    var chunks = 0
    /// Documents that a run would skip.
    var failures: [Failure] = []
    /// The number of bytes of the top-level fields that the job writes or removes, in all changed documents, after the
    /// change.
    var touchedBytes = 0
    /// The bytes of the `_id`s of all changed documents.
    var idBytes = 0
    /// The bytes that the journal entries of all changed documents would have.
    var journalBytes = 0

    /// Counts the documents of a range of `_id`s as one chunk, and returns how many documents the range has.
    /// - Parameters:
    ///   - number: the number of the chunk.
    ///   - evaluator: the evaluator of the job; `nil` if the server has to evaluate all documents.
    mutating func read(
        at span: IDSpan, number: Int, by evaluator: PhaseEvaluator?, of collection: MongoCollection
    ) throws -> Int {
        var documents = 0
        let touched = job.whole.touched
        var journal = ChunkJournal(touched: touched)
        var preview = Preview(
            .span(span), through: job.whole, by: evaluator, in: job.context(collection), onlyNeeding: false)
        while let outcome = try preview.next() {
            documents += 1
            try add(outcome, number)
            guard let before = outcome.before else { continue }
            try journal.add(before: before, after: outcome.after)
            let view = outcome.after.view
            if let id = try view.find("_id") { idBytes += id.valueLength + 5 }
            for name in touched {
                if let element = try view.find(name) { touchedBytes += name.utf8.count + 2 + element.valueLength }
            }
        }
        journalBytes += journal.bytes
        chunks += modified > 0 ? 1 : 0
        return documents
    }

    /// Adds the counts of other chunks, such as those that another thread read.
    mutating func add(_ other: PreviewCount) {
        modified += other.modified
        updates += other.updates
        failingBefore += other.failingBefore
        failingAfter += other.failingAfter
        touchedBytes += other.touchedBytes
        idBytes += other.idBytes
        journalBytes += other.journalBytes
        chunks += other.chunks
        failures += other.failures
        samples = Array((samples + other.samples).sorted { $0.chunk < $1.chunk }.prefix(Survey.samples))
    }

    private mutating func add(_ outcome: Preview.Outcome, _ chunk: Int) throws {
        let failsAfter = try job.next.map { try $0.check(outcome.after.view) == .certain } ?? false
        if failsAfter { failingAfter += 1 }
        guard let before = outcome.before else {
            if failsAfter { failingBefore += 1 }
            return
        }
        if try job.next.map({ try $0.check(before.view) == .certain }) ?? false { failingBefore += 1 }
        modified += 1
        updates += max(1, outcome.changes)
        guard !outcome.isOpen else {
            throw RunError(
                .notIdempotent, "job \"\(job.job.name)\" would never end: after a run, a document would still need it")
        }
        if samples.count < Survey.samples { samples.append((chunk, try sample(before, outcome.after))) }
    }

    private func sample(_ before: BSONDocument, _ after: BSONDocument) throws -> BackfillReport.Sample {
        var seen: Set<FieldPath> = []
        let paths = job.steps.flatMap { $0.step.sources + $0.step.targets }.map(\.untilElements).filter {
            seen.insert($0).inserted
        }
        return BackfillReport.Sample(
            id: after["_id"] ?? .null, before: try paths.map { ($0.description, try before.value(at: $0)) },
            after: try paths.map { ($0.description, try after.value(at: $0)) })
    }
}
