import BSON
import Mongo

/// The walk of a phase that the client computes.
extension RunLoop {
    /// How often a chunk is met again whose documents changed between the reading and the writing, before they are left
    /// to the next round.
    private static let attempts = 3

    /// How many documents a phase would change, where the client has to tell.
    func evaluatedCount(_ phase: Phase) throws -> Int {
        let (runner, collection) = (runner, collection)
        return try runner.patience.bridging {
            var evaluation = Evaluation(
                nil, through: phase.steps, in: runner.job.context(collection), onlyNeeding: true)
            var count = 0
            while !runner.stop.isRaised, let outcome = try evaluation.next() { count += outcome.isChanged ? 1 : 0 }
            return count
        }
    }

    /// Writes one chunk, each document by compare-and-set; `nil` when it is done.
    ///
    /// A document that a user changes between the reading and the writing keeps the user's values and is met again.
    mutating func write(_ chunk: Chunk, ofClient phase: Phase, only judged: Selection?) throws -> Writing? {
        let step = phase.steps[0]
        let writer = ClientWriter(job: job.job, step: step, collectionUUID: checkedUUID)
        let allowed = judged.map { Set($0.counted) }
        for _ in 0..<Self.attempts {
            var conflicts = 0
            var reader = ChunkReader(chunk, through: step, in: job.context(collection))
            let runner = runner
            while !runner.stop.isRaised, let part = try runner.patience.bridging({ try reader.next() }) {
                let changes = part.outcomes.compactMap { ClientWriter.Change($0, of: phase) }.filter { change in
                    allowed.map { $0.contains(change.id) } ?? true
                }
                try keepJournal(of: part.chunk, phase, changes)
                var written = 0
                let ended = try write(changes, by: writer, harmful: judged?.harmful ?? [], matched: &written)
                if let ended { return ended }
                conflicts += changes.count - written
            }
            guard conflicts > 0, !runner.stop.isRaised else { break }
        }
        return nil
    }

    /// Journals a batch: of each document what it is compared with, so that no other change is written.
    private mutating func keepJournal(of chunk: Chunk, _ phase: Phase, _ changes: [ClientWriter.Change]) throws {
        guard runner.keepsJournal, !changes.isEmpty else { return }
        var journal = ChunkJournal(touched: phase.touched)
        for change in changes { try journal.add(before: change.before, after: change.after) }
        try keepJournal(of: chunk, phase, entries: journal)
    }

    /// Writes a batch; `nil` when it is done.
    /// - Parameter matched: how many documents still were as they had been read.
    private mutating func write(
        _ changes: [ClientWriter.Change], by writer: ClientWriter, harmful: Set<BSONValue>, matched: inout Int
    ) throws -> Writing? {
        guard !changes.isEmpty else { return nil }
        var count = 0
        let isFinal = !sharesMajority
        let harm = changes.map(\.id).filter(harmful.contains)
        let ended = try send(harm: harm) { lease, client throws(MongoError) in
            let reply = try writer.send(changes, under: lease, isFinal: isFinal, on: client)
            count = reply["n"]?.integer ?? 0
            return reply
        }
        matched = count
        return ended
    }
}

/// Reads a chunk batch by batch; after a passing failure it goes on behind the last batch.
private struct ChunkReader: ~Copyable {
    private let chunk: Chunk
    private let step: CompiledStep
    private let context: ClientContext
    private var evaluation: Evaluation?
    private var last: BSONValue?

    init(_ chunk: Chunk, through step: CompiledStep, in context: ClientContext) {
        self.chunk = chunk
        self.step = step
        self.context = context
        last = chunk.after
    }

    /// The next documents that need the step; `nil` at the chunk's end.
    mutating func next() throws -> (chunk: Chunk, outcomes: [Evaluation.Outcome])? {
        if evaluation == nil {
            evaluation = Evaluation(
                chunk.isAlone ? chunk : Chunk(after: last, through: chunk.through), through: [step], in: context,
                onlyNeeding: true)
        }
        do {
            guard let outcomes = try evaluation?.nextBatch(), let end = outcomes.last?.before["_id"] else {
                return nil
            }
            defer { last = end }
            return (Chunk(after: last, through: end), outcomes)
        } catch {
            evaluation = nil
            throw error
        }
    }
}
