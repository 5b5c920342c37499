import BSON
import Concurrency
import JobState
import Jobs
import Mongo
import Running
import Steps

/// The work of a chunk's transaction: read → evaluate → reserve → fence and checkpoint → journal → new documents of
/// other collections → write.
///
/// It has all that the transaction needs of the run, so it can be done on any thread of the run.
struct ChunkWork: Sendable {
    let chunk: Chunk
    let phase: Phase
    /// The job, compiled with the schema that is active now.
    let job: CompiledJob
    /// The evaluator of the phase; `nil` if the client cannot evaluate it.
    let evaluator: PhaseEvaluator?
    /// The place of the current pass, if the transactions read the next documents of the collection.
    let records: RecordPlaces?
    let keepsJournal: Bool
    let journal: RunJournal
    let refreshing: RefreshProgress
    let tally: RunTally
    let skipped: SkippedDocuments
    /// The most documents and bytes that the chunk may have.
    let amount: ReadAmount
    /// The collection's UUID, if the server compares it with every command.
    let collectionUUID: BSONValue?
    /// The job's progress when the work was prepared.
    let progress: Progress
    /// The longest time for one command that writes.
    let writeLimit: Duration

    /// The reads and writes of the transaction, whether or not it is committed afterwards.
    struct Done: Sendable {
        var found = Found()
        /// The documents that were written; empty before the first write.
        var written: [DueDocument] = []
        var count = Progress.Chunk()
        /// The chunk's number in the journal; `nil` without a journal.
        var sequence: Int64?
        /// When the first write to a document of the user began; `nil` before it.
        fileprivate var began: ContinuousClock.Instant?
        /// How long the documents of users were locked; `nil` if none was written, or if it was not measured.
        private(set) var writing: Duration?

        /// Call when the transaction has ended.
        mutating func end() { writing = began.map { $0.duration(to: .now) } }
    }

    /// Whether the chunk can be divided if it takes too long.
    var isDivisible: Bool { chunk.isNext || chunk.ids.count > 1 }

    /// Whether the chunk's documents go through no later phase: it is of the last phase, or of a refresh.
    var isLast: Bool { chunk.phase >= job.phases.count - 1 }

    /// The error that documents of other collections exist with another content than a step computed for them.
    struct DifferingChildren: Error {
        /// The documents of the chunk that can be written.
        let ids: Set<BSONValue>
    }

    /// Does the work in a transaction, which the caller commits.
    /// - Parameters:
    ///   - store: the journal of the job, for the thread that does the work.
    ///   - admitted: returns those of the documents, from the first on, for which the unsync budget has room.
    func run(
        in transaction: borrowing FencedTransaction, journal store: JournalStore, _ done: inout Done,
        admitted: ([DueDocument]) throws -> [DueDocument]
    ) throws {
        try find(in: transaction, &done.found)
        var due = done.found.documents
        if chunk.phase == job.phases.count { due = try refreshing.own(among: due) }
        due = try admitted(due)
        var entries: ChunkJournal?
        if keepsJournal { (entries, due) = try journal.entries(of: due, phase) }
        guard !due.isEmpty else { return }
        let context = job.context(try transaction.collection(job.job.namespace))
        done.count = count(due)
        try transaction.fence(setting: RangeChange.checkpoint(done.count, after: progress))
        if let entries { done.sequence = try record(entries, in: transaction, store) }
        let ready = try ChildWriter(context: context).create(for: due, in: transaction)
        guard ready.count == due.count else { throw DifferingChildren(ids: Set(ready.map(\.id))) }
        (done.written, done.began) = (due, .now)
        let updates = try ChunkWriter(phase: phase, isPerDocument: chunk.isCareful).updates(due)
        try transaction.update(updates, of: job.job.namespace, options: updateOptions)
    }

    func count(_ due: [DueDocument]) -> Progress.Chunk {
        var count = Progress.Chunk()
        (count.documents, count.updates) = (isLast ? due.count : 0, due.count)
        (count.modified, count.journaled) = (tally.fresh(due.map(\.id)), keepsJournal ? 1 : 0)
        count.last = due.last?.id
        return count
    }

    var updateOptions: BSONDocument {
        let options: BSONDocument = [
            "comment": .string("shipshape backfill \(job.job.name)"), "maxTimeMS": .long(writeLimit.milliseconds),
        ]
        return collectionUUID.map { options.appending("collectionUUID", $0) } ?? options
    }

    /// Writes the journal of the chunk, and returns its number.
    func record(
        _ entries: ChunkJournal, in transaction: borrowing FencedTransaction, _ store: JournalStore
    ) throws -> Int64 {
        let sequence = journal.numbers.next()
        let documents = store.documents(
            entries, sequence: sequence, pass: progress.pass, phase: chunk.phase, group: journal.group,
            touched: phase.touched)
        do {
            if FaultInjection.isPlanted(.journalOutside) {
                try store.insertOutside(documents)
            } else {
                try transaction.record(documents, in: JournalStore.collection)
            }
        } catch let error where error.code == .outOfDiskSpace { throw store.full(error) }
        FaultInjection.reached(.afterJournal)
        return sequence
    }
}
