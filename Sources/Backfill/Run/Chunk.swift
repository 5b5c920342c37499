import BSON
import JobState
import Jobs

/// A document that a phase of the job has to change, as a reader of the collection found it.
struct DueDocument: Sendable {
    let id: BSONValue
    /// The document before and after the phase; `nil` if only its `_id` was read, as ``DueCursor/Detail`` says.
    var change: Change?
    /// The effect of the change on sync, according to the active schema; `nil` if the change was not checked.
    var judgement: Judgement?
    /// Whether the client found that the document does not meet the condition ``Phase/hasArray``.
    var hasNoArray = false

    /// A document before and after the phase: the whole document, or only the fields that the phase touches.
    struct Change: Sendable {
        let before: BSONDocument
        let after: BSONDocument
        /// The positions of the touched fields among all fields of the document; `nil` if the journal need not keep
        /// them.
        var positions: [Int]?
        /// The digests that distinguish the document from a later document with the same `_id`; see
        /// ``DocumentEvidence``.
        var evidence: [UInt8] = []
        /// The documents that must exist in other collections before this document is written, because it will link to
        /// them.
        var created: [ClientCreation] = []
    }

    /// About how many bytes the document takes in memory.
    var size: Int { 64 + (change.map { $0.before.bytes.count + $0.after.bytes.count } ?? 0) }
}

/// Documents that need a phase of the job and are processed together: journaled, written by their `_id`s, and
/// checkpointed.
struct Chunk: Sendable {
    /// The index of the phase that the chunk goes through, among the job's phases.
    let phase: Int
    /// The `_id`s of the chunk's documents, each once.
    let ids: [BSONValue]
    /// The documents as they were read; `nil` until they are read.
    private(set) var documents: [DueDocument]?
    /// How much of each document was read.
    private(set) var detail = DueCursor.Detail.id
    /// How often documents of the chunk were read again because they changed between the read and the write.
    private(set) var conflicts = 0
    /// Whether each document is written by a statement of its own.
    ///
    /// `true` for the parts of a chunk in which the server refused a document.
    private(set) var isCareful = false

    /// Creates a chunk of documents of which only the `_id`s are given.
    ///
    /// The documents are still to be read; only then is it known which of them need the phase of the job.
    init(_ ids: [BSONValue], phase: Int, conflicts: Int = 0) {
        (self.ids, self.phase, self.conflicts) = (ids, phase, conflicts)
    }

    /// Creates a chunk of documents as a reader found them.
    init(_ documents: [DueDocument], _ detail: DueCursor.Detail, phase: Int) {
        (ids, self.documents, self.detail, self.phase) = (documents.map(\.id), documents, detail, phase)
    }

    /// Divides the chunk into chunks of at most `count` documents each, which have to be read again.
    /// - Parameter isCareful: whether the server refused one of the documents.
    func rereading(in count: Int, carefully isCareful: Bool = false) -> [Chunk] {
        ids.parts(of: count).map { ids in
            var chunk = Chunk(ids, phase: phase, conflicts: conflicts)
            chunk.isCareful = isCareful || self.isCareful
            return chunk
        }
    }

    /// Divides the chunk into chunks of at most `count` documents each; documents that were read need not be read
    /// again.
    func parts(of count: Int) -> [Chunk] {
        if ids.count <= count { return [self] }
        if let documents { return documents.parts(of: count).map { Chunk($0, detail, phase: phase) } }
        return rereading(in: count)
    }

    /// Divides the chunk into its first `count` documents and the remaining ones; the second chunk is `nil` if no
    /// documents remain.
    func cut(after count: Int) -> (Chunk, Chunk?) {
        let parts = [ids.prefix(count), ids.dropFirst(count)].map {
            Chunk(Array($0), phase: phase, conflicts: conflicts)
        }
        return (parts[0], parts[1].ids.isEmpty ? nil : parts[1])
    }

    /// Returns a chunk of documents that are to be read again, because some of them changed between the read and the
    /// write.
    ///
    /// Returns `nil` if the documents were already read again twice; the next pass then handles them.
    func metAgain(_ ids: [BSONValue]) -> Chunk? {
        conflicts < 2 ? Chunk(ids, phase: phase, conflicts: conflicts + 1) : nil
    }
}

extension Array {
    /// Returns slices of `count` elements each; the last slice may be shorter.
    func parts(of count: Int) -> [[Element]] {
        stride(from: 0, to: self.count, by: Swift.max(1, count)).map {
            Array(self[$0..<Swift.min($0 + Swift.max(1, count), self.count)])
        }
    }

    /// Returns `count` slices of about the same size, or fewer, so that each slice has at least `least` elements.
    ///
    /// An array of fewer than `least` elements becomes one slice.
    func parts(_ count: Int, least: Int) -> [[Element]] {
        let parts = Swift.max(1, Swift.min(count, self.count / Swift.max(1, least)))
        return (0..<parts).map { Array(self[self.count * $0 / parts..<self.count * ($0 + 1) / parts]) }
    }
}
