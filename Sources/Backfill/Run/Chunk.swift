import BSON
import JobState
import Jobs

/// A document that needs a phase, as a reader found it.
struct DueDocument: Sendable {
    let id: BSONValue
    /// What the phase would change of it; `nil` where neither the journal, nor the budget, nor a step of the client asks.
    var change: Change?
    /// What the change does under the active schema; `nil` where no step can do harm.
    var judgement: Judgement?

    /// A document as it is and as it would be: whole, or of it the fields that the phase touches.
    struct Change: Sendable {
        let before: BSONDocument
        let after: BSONDocument
        /// The places of the touched fields among all fields of the document, where the journal has to keep them.
        var positions: [Int]?
        /// What tells the document from another of the same `_id`; see ``DocumentEvidence``.
        var evidence: [UInt8] = []
        /// The documents of other collections that have to be there first.
        var created: [ClientCreation] = []
    }

    /// The bytes that it takes here.
    var size: Int { 64 + (change.map { $0.before.bytes.count + $0.after.bytes.count } ?? 0) }
}

/// Documents that need a phase of the job, done together: journaled in one go, written by their `_id`s, checkpointed.
struct Chunk: Sendable {
    /// The phase, by its index in the job.
    let phase: Int
    /// The documents, each once.
    let ids: [BSONValue]
    /// The same as they were read; `nil` before they are.
    private(set) var documents: [DueDocument]?
    /// What was read of them.
    private(set) var detail = DueCursor.Detail.id
    /// How often some of them changed between reading and writing, and were met again.
    private(set) var conflicts = 0
    /// Whether one of its documents was refused, so that each is written by itself.
    private(set) var isCareful = false

    /// Documents that may need the phase, and are still to be read.
    init(_ ids: [BSONValue], phase: Int, conflicts: Int = 0) {
        (self.ids, self.phase, self.conflicts) = (ids, phase, conflicts)
    }

    /// Documents as a reader found them.
    init(_ documents: [DueDocument], _ detail: DueCursor.Detail, phase: Int) {
        (ids, self.documents, self.detail, self.phase) = (documents.map(\.id), documents, detail, phase)
    }

    /// The chunk in parts of so many documents, as they are now.
    /// - Parameter isCareful: whether one of them was refused.
    func anew(in count: Int, carefully isCareful: Bool = false) -> [Chunk] {
        ids.parts(of: count).map { ids in
            var chunk = Chunk(ids, phase: phase, conflicts: conflicts)
            chunk.isCareful = isCareful || self.isCareful
            return chunk
        }
    }

    /// The chunk in parts of so many documents, as they were read.
    func parts(of count: Int) -> [Chunk] {
        if let documents { return documents.parts(of: count).map { Chunk($0, detail, phase: phase) } }
        return anew(in: count)
    }

    /// The first so many documents, and the others.
    func cut(after count: Int) -> (Chunk, Chunk?) {
        let parts = [ids.prefix(count), ids.dropFirst(count)].map {
            Chunk(Array($0), phase: phase, conflicts: conflicts)
        }
        return (parts[0], parts[1].ids.isEmpty ? nil : parts[1])
    }

    /// Documents of it that changed between reading and writing, to be read anew; `nil` once that was often enough, and they
    /// are left to the next pass.
    func metAgain(_ ids: [BSONValue]) -> Chunk? {
        conflicts < 2 ? Chunk(ids, phase: phase, conflicts: conflicts + 1) : nil
    }

}

extension Array {
    /// The elements in parts of so many.
    func parts(of count: Int) -> [[Element]] {
        stride(from: 0, to: self.count, by: Swift.max(1, count)).map {
            Array(self[$0..<Swift.min($0 + Swift.max(1, count), self.count)])
        }
    }

    /// The elements in so many parts of about one size, or fewer, so that each has at least `least`.
    func parts(_ count: Int, least: Int) -> [[Element]] {
        let parts = Swift.max(1, Swift.min(count, self.count / Swift.max(1, least)))
        return (0..<parts).map { Array(self[self.count * $0 / parts..<self.count * ($0 + 1) / parts]) }
    }
}
