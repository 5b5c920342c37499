import BSON
import Mongo

/// The walk of a phase that the client computes.
extension RunLoop {
    /// How often a chunk is met again whose documents changed between the reading and the writing, before they are left
    /// to the next round.
    private static let attempts = 3

    /// How many documents a phase would change, where the client has to tell.
    ///
    /// Those that this run has set aside do not count.
    mutating func evaluatedCount(_ phase: Phase) throws -> Int {
        let (job, failed) = (runner.job, Set(failed.keys))
        return try reading { collection in
            var evaluation = Evaluation(
                nil, through: phase.steps, in: job.context(collection), onlyNeeding: true, where: phase.mayNeed)
            var count = 0
            while let outcome = try evaluation.next() {
                if outcome.isChanged, let id = outcome.before["_id"], !failed.contains(id) { count += 1 }
            }
            return count
        }
    }

    /// Writes one chunk, each document by compare-and-set; `nil` when it is done.
    ///
    /// A document that a user changes between the reading and the writing keeps the user's values and is met again.
    mutating func write(_ chunk: Chunk, ofClient phase: Phase, only judged: Selection?) throws -> Writing? {
        let writer = ClientWriter(job: job.job, phase: phase, collectionUUID: checkedUUID)
        let allowed = judged.map { Set($0.counted) }
        for _ in 0..<Self.attempts {
            var conflicts = 0
            var reader = ChunkReader(chunk, of: phase, in: job.context(collection))
            let runner = runner
            while !runner.stop.isRaised, let part = try runner.patience.bridging({ try blaming { try reader.next() } })
            {
                let changes = part.outcomes.compactMap { ClientWriter.Change($0, of: phase) }.filter { change in
                    allowed.map { $0.contains(change.id) } ?? true
                }
                try keepJournal(of: part.chunk, phase, changes)
                let creation = try create(for: changes)
                if let ended = creation.ended { return ended }
                var written = 0
                let ended = try write(creation.ready, by: writer, harmful: judged?.harmful ?? [], matched: &written)
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
        for change in changes {
            try journal.add(before: change.before, after: change.after)
            for creation in change.created { journal.add(creation) }
        }
        try keepJournal(of: chunk, phase, entries: journal)
    }

    /// Makes the documents of other collections that changes of a batch need, and gives the changes whose documents are
    /// there then, unless the writing ended for a reason.
    private mutating func create(
        for changes: [ClientWriter.Change]
    ) throws -> (ready: [ClientWriter.Change], ended: Writing?) {
        var missing: Set<ClientCreation> = []
        for namespace in Set(changes.flatMap { $0.created.map(\.namespace) }) {
            let wanted = Set(changes.flatMap(\.created).filter { $0.namespace == namespace }.map(\.document))
            for slice in wanted.map({ BSONValue.object($0) }).commandSlices() {
                let writer = ChildWriter(
                    job: job.job, namespace: namespace, documents: slice.compactMap(\.document))
                let ended = try send(harm: [], isConfirmed: true) { lease, client throws(MongoError) in
                    try writer.send(under: lease, on: client)
                }
                if let ended { return ([], ended) }
                let (runner, context) = (runner, job.context(collection))
                let present = try runner.patience.bridging { try writer.present(in: context) }
                for document in writer.documents where !present.contains(document) {
                    missing.insert(ClientCreation(namespace: namespace, document: document))
                }
            }
        }
        if changes.contains(where: { !$0.created.isEmpty }) { FaultPoint.afterCreation.reached() }
        return (changes.filter { missing.isDisjoint(with: $0.created) }, nil)
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
    private let phase: Phase
    private let context: ClientContext
    private var evaluation: Evaluation?
    private var last: BSONValue?

    init(_ chunk: Chunk, of phase: Phase, in context: ClientContext) {
        self.chunk = chunk
        self.phase = phase
        self.context = context
        last = chunk.after
    }

    /// The next documents that need the step; `nil` at the chunk's end.
    mutating func next() throws -> (chunk: Chunk, outcomes: [Evaluation.Outcome])? {
        if evaluation == nil {
            evaluation = Evaluation(
                chunk.isAlone || chunk.listed != nil ? chunk : Chunk(after: last, through: chunk.through),
                through: phase.steps, in: context, onlyNeeding: true, where: phase.isThrough)
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
