import BSON
import JobState
import Jobs

/// A document that needs a phase, as a reader found it.
struct DueDocument: Sendable {
    let id: BSONValue
    /// The document before and after the phase; `nil` if neither the journal, nor the budget, nor a client-side step
    /// needs it.
    var change: Change?
    /// The judgement of the change under the active schema; `nil` if no step can make a document unsyncable.
    var judgement: Judgement?

    /// A document before and after the phase: the whole document, or only the fields that the phase touches.
    struct Change: Sendable {
        let before: BSONDocument
        let after: BSONDocument
        /// The positions of the touched fields among all fields of the document, if the journal has to keep them.
        var positions: [Int]?
        /// The digests that distinguish the document from another one with the same `_id`; see ``DocumentEvidence``.
        var evidence: [UInt8] = []
        /// The documents that must exist in other collections before this document is written, because it will link to
        /// them.
        var created: [ClientCreation] = []
    }

    /// About how many bytes the document takes in memory.
    var size: Int { 64 + (change.map { $0.before.bytes.count + $0.after.bytes.count } ?? 0) }
}

/// Documents that need a phase of the job and are processed together: journaled, written by their `_id`s, checkpointed.
struct Chunk: Sendable {
    /// The phase, by its index in the job.
    let phase: Int
    /// The documents, each once.
    let ids: [BSONValue]
    /// The documents as they were read; `nil` until they are read.
    private(set) var documents: [DueDocument]?
    /// How much of each document was read.
    private(set) var detail = DueCursor.Detail.id
    /// How often documents of the chunk changed between reading and writing, and were read again.
    private(set) var conflicts = 0
    /// Whether the server refused one of the documents, so that each is written by a statement of its own.
    private(set) var isCareful = false

    /// Creates a chunk of documents that may need the phase and are still to be read.
    init(_ ids: [BSONValue], phase: Int, conflicts: Int = 0) {
        (self.ids, self.phase, self.conflicts) = (ids, phase, conflicts)
    }

    /// Creates a chunk of documents as a reader found them.
    init(_ documents: [DueDocument], _ detail: DueCursor.Detail, phase: Int) {
        (ids, self.documents, self.detail, self.phase) = (documents.map(\.id), documents, detail, phase)
    }

    /// Returns chunks of at most `count` documents each, which together have the documents of this one, to be read
    /// again.
    /// - Parameter isCareful: whether the server refused one of the documents.
    func rereading(in count: Int, carefully isCareful: Bool = false) -> [Chunk] {
        ids.parts(of: count).map { ids in
            var chunk = Chunk(ids, phase: phase, conflicts: conflicts)
            chunk.isCareful = isCareful || self.isCareful
            return chunk
        }
    }

    /// Returns chunks of at most `count` documents each, which together have the documents of this one, as they were
    /// read.
    func parts(of count: Int) -> [Chunk] {
        if let documents { return documents.parts(of: count).map { Chunk($0, detail, phase: phase) } }
        return rereading(in: count)
    }

    /// Returns a chunk of the first `count` documents and a chunk of the others, which is `nil` if there are no others.
    func cut(after count: Int) -> (Chunk, Chunk?) {
        let parts = [ids.prefix(count), ids.dropFirst(count)].map {
            Chunk(Array($0), phase: phase, conflicts: conflicts)
        }
        return (parts[0], parts[1].ids.isEmpty ? nil : parts[1])
    }

    /// Returns a chunk of these documents, to be read again, because some of them changed between reading and writing.
    ///
    /// Returns `nil` after the second time; the next pass then handles the documents.
    func metAgain(_ ids: [BSONValue]) -> Chunk? {
        conflicts < 2 ? Chunk(ids, phase: phase, conflicts: conflicts + 1) : nil
    }

}

extension Array {
    /// Returns the elements in slices of `count`; the last slice may be shorter.
    func parts(of count: Int) -> [[Element]] {
        stride(from: 0, to: self.count, by: Swift.max(1, count)).map {
            Array(self[$0..<Swift.min($0 + Swift.max(1, count), self.count)])
        }
    }

    /// Returns the elements in `count` slices of about the same size, or in fewer, so that each has at least `least`
    /// elements.
    func parts(_ count: Int, least: Int) -> [[Element]] {
        let parts = Swift.max(1, Swift.min(count, self.count / Swift.max(1, least)))
        return (0..<parts).map { Array(self[self.count * $0 / parts..<self.count * ($0 + 1) / parts]) }
    }
}
