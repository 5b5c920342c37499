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

    /// A document before and after the phase: the whole document, or only the fields that the phase touches.
    struct Change: Sendable {
        let before: BSONDocument
        private(set) var after: BSONDocument
        /// Whether ``after`` is not what the phase makes of the document, so that its values have to be written.
        private(set) var isPart = false
        /// The positions of the touched fields among all fields of the document; `nil` if the journal need not keep
        /// them.
        var positions: [Int]?
        /// The digests that distinguish the document from a later document with the same `_id`; see
        /// ``DocumentEvidence``.
        var evidence: [UInt8] = []
        /// The documents that must exist in other collections before this document is written, because it will link to
        /// them.
        var created: [ClientCreation] = []

        /// Leaves the values at some of the paths as they are.
        mutating func keep(_ paths: [ArraySlice<String>]) throws(BSONError) {
            after = try .joining(after.view, before.view, at: paths)
            isPart = true
        }
    }

    /// Whether the document is reserved before it is written.
    ///
    /// A reserved document takes room in the unsync budget until it turns out to be syncable, or until the ledger of
    /// unsynced documents lists it.
    var isCounted: Bool { judgement == .unsyncable || judgement == .keptUnsyncable }

    /// About how many bytes the document takes in memory.
    var size: Int { 64 + (change.map { $0.before.bytes.count + $0.after.bytes.count } ?? 0) }
}

/// Documents that go through a phase of the job together, in one transaction.
struct Chunk: Sendable {
    /// The index of the phase that the chunk goes through, among the job's phases.
    let phase: Int
    /// The `_id`s of the documents, each once; empty if ``isNext`` is set.
    let ids: [BSONValue]
    /// Whether the chunk has the next documents of the collection, in the order in which the server stores them.
    private(set) var isNext = false
    /// How often the chunk conflicted with writes of other clients although it has only one document.
    private(set) var conflicts = 0
    /// Whether each document is written by a statement of its own, because the server refused one of the documents.
    private(set) var isCareful = false
    /// Whether another thread has tried the chunk in vain.
    private var wasShared = false

    /// Whether the run's own thread has to write the chunk.
    var isOwn: Bool { wasShared || isCareful || conflicts > 0 }

    /// The chunk for the run's own thread.
    var own: Chunk {
        var chunk = self
        chunk.wasShared = true
        return chunk
    }

    /// Creates a chunk of documents that the transaction has to read; only then is it known which of them need the
    /// phase.
    init(_ ids: [BSONValue], phase: Int) { (self.ids, self.phase) = (ids, phase) }

    init(nextIn phase: Int) {
        self.init([], phase: phase)
        isNext = true
    }

    /// Divides the chunk, or some of its documents, into chunks of at most `count` documents each.
    /// - Parameter isCareful: whether the server refused one of the documents.
    func parts(of count: Int, _ ids: [BSONValue]? = nil, carefully isCareful: Bool = false) -> [Chunk] {
        (ids ?? self.ids).parts(of: count).map { ids in
            var chunk = Chunk(ids, phase: phase)
            chunk.isCareful = isCareful || self.isCareful
            return chunk
        }
    }

    /// Returns the chunk of one document after a further conflict; `nil` after so many that a later pass has to handle
    /// the document.
    func afterConflict(_ id: BSONValue) -> Chunk? {
        guard conflicts < Self.maximumConflicts else { return nil }
        var chunk = Chunk([id], phase: phase)
        (chunk.isCareful, chunk.conflicts) = (isCareful, conflicts + 1)
        return chunk
    }

    private static let maximumConflicts = 200
}

extension Array {
    /// Returns slices of `count` elements each; the last slice may be shorter.
    func parts(of count: Int) -> [[Element]] {
        stride(from: 0, to: self.count, by: Swift.max(1, count)).map {
            Array(self[$0..<Swift.min($0 + Swift.max(1, count), self.count)])
        }
    }
}
