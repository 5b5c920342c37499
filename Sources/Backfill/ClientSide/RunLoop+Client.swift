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

    /// Writes one chunk, each document by compare-and-set; `false` when it is to be tried anew, and smaller.
    ///
    /// A document that a user changes between the reading and the writing keeps the user's values and is met again.
    mutating func write(_ chunk: Chunk, ofClient phase: Phase, only judged: Selection?) throws -> Bool {
        let step = phase.steps[0]
        let writer = ClientWriter(
            job: job.job, step: step, collectionUUID: plan.checksUUID ? plan.collectionUUID : nil)
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
                guard let written = try write(changes, by: writer, harmful: judged?.harmful ?? []) else {
                    return false
                }
                conflicts += changes.count - written
            }
            guard conflicts > 0, !runner.stop.isRaised else { break }
        }
        return true
    }

    /// Journals a batch: of each document what it is compared with, so that no other change is written.
    private mutating func keepJournal(of chunk: Chunk, _ phase: Phase, _ changes: [ClientWriter.Change]) throws {
        guard runner.keepsJournal, !changes.isEmpty else { return }
        var journal = ChunkJournal(touched: phase.touched)
        for change in changes { try journal.add(before: change.before, after: change.after) }
        try keepJournal(of: chunk, phase, entries: journal)
    }

    /// Writes a batch; gives how many documents still were as they had been read, or `nil` when it took too long.
    private mutating func write(
        _ changes: [ClientWriter.Change], by writer: ClientWriter, harmful: Set<BSONValue>
    ) throws -> Int? {
        guard !changes.isEmpty else { return 0 }
        var matched = 0
        let harm = changes.map(\.id).filter(harmful.contains)
        let isSent = try send(harm: harm) { lease, client throws(MongoError) in
            let reply = try writer.send(changes, under: lease, on: client)
            matched = reply.matched
            return reply.modified
        }
        return isSent ? matched : nil
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
                Chunk(after: last, through: chunk.through), through: [step], in: context, onlyNeeding: true)
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
