import BSON
import JobState
import Jobs

/// Answers what an undo knows of the documents that it meets: which ones it looks at, which ones the job is known to have
/// written, and what the undo itself did with them.
struct UndoMemory {
    /// The only documents that are looked at, after an undo that ended; `nil` for all.
    private let retried: Set<BSONValue>?
    /// Documents that an earlier undo left alone.
    private let leftBefore: Set<BSONValue>
    /// See ``UndoSubject/rewritten``.
    private let rewritten: Set<String>?
    /// Documents that this undo left alone.
    private var leftNow: Set<BSONValue> = []
    /// The documents that the attempt at hand missed, and those that it may have missed; `nil` where the attempt was not
    /// acknowledged.
    private var attempt: (missed: Set<BSONValue>, unsure: Set<BSONValue>)?
    /// The documents of the batch at hand for which a write was sent.
    private var sent: Set<BSONValue> = []
    /// The fields that this undo restored, each with its document, by a hash.
    private var restored: Set<Int> = []

    /// The most fields that are kept in mind.
    private static let mostRestored = 2_000_000

    /// Begins with what earlier undos of the job left alone.
    /// - Parameter retried: the only documents that are looked at; `nil` for all.
    init(rewritten: Set<String>?, leftBefore: Set<BSONValue>, retried: Set<BSONValue>? = nil) {
        (self.rewritten, self.leftBefore, self.retried) = (rewritten, leftBefore, retried)
    }

    /// Whether this is a further walk over what an undo that ended left alone.
    var isRetry: Bool { retried != nil }

    /// Whether an undo that ended left the document alone, and this one looks at it again.
    func retries(_ id: BSONValue) -> Bool { retried?.contains(id) == true }

    /// Whether the document is still to be looked at: an older change of one that is left alone is not taken back either.
    func isOpen(_ id: BSONValue) -> Bool {
        retried?.contains(id) != false && !leftNow.contains(id) && !leftBefore.contains(id)
    }

    /// All documents that are left alone.
    var left: Set<BSONValue> { leftNow.union(leftBefore) }

    /// Leaves a document alone.
    /// - Returns: `false` when this undo had left it alone already.
    mutating func leave(_ id: BSONValue) -> Bool { leftNow.insert(id).inserted }

    /// Begins with an attempt of the job.
    /// - Parameter written: what it is known to have written; `nil` where it was not acknowledged.
    mutating func begin(_ written: JournalStore.Written?) {
        attempt = written.map { (Set($0.missed), Set($0.unsure)) }
    }

    /// Whether the attempt did not write the document.
    func isMissed(_ id: BSONValue) -> Bool { attempt?.missed.contains(id) == true }

    /// Whether the attempt is known to have written the document.
    func isWritten(_ id: BSONValue) -> Bool {
        attempt.map { !$0.missed.contains(id) && !$0.unsure.contains(id) } ?? false
    }

    /// Notes that a write is about to be sent for documents.
    mutating func send(_ ids: some Sequence<BSONValue>) { sent.formUnion(ids) }

    /// Whether a write of the batch at hand was sent for the document, which may have been cut off.
    func wasSent(_ id: BSONValue) -> Bool { sent.contains(id) }

    /// Ends the batch at hand.
    mutating func endBatch() { sent = [] }

    /// Keeps the fields of documents in mind that were given back, as far as there is room.
    mutating func restore(_ documents: some Sequence<Restoring>) {
        for document in documents where restored.count < Self.mostRestored {
            for name in document.group.names { restored.insert(Self.hash(document.id, name)) }
        }
    }

    /// Whether newer entries have given back each field that is not what it was before this one, and what they gave back
    /// is surely not this one's.
    func isRestored(_ now: BSONDocument, of id: BSONValue, in group: JournalGroup) throws -> Bool {
        guard !restored.isEmpty else { return false }
        let (now, before) = (now.view, group.before.view)
        for name in group.names {
            guard !restored.contains(Self.hash(id, name)) || rewritten?.contains(name) ?? true else { continue }
            if ChunkJournal.differs(try before.find(name), of: before, try now.find(name), of: now) { return false }
        }
        return true
    }

    private static func hash(_ id: BSONValue, _ name: String) -> Int {
        var hasher = Hasher()
        hasher.combine(id)
        hasher.combine(name)
        return hasher.finalize()
    }
}
