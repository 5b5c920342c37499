import BSON
import JobState
import Jobs

/// The knowledge of an undo about documents: which ones to process, which ones the job is known to have written, and
/// what the undo itself did with them.
struct UndoMemory {
    /// The only documents to process in a further undo, after one that ended; `nil` for all.
    private let retried: Set<BSONValue>?
    /// Documents that an earlier undo skipped.
    private let leftBefore: Set<BSONValue>
    /// See ``UndoSubject/rewritten``.
    private let rewritten: Set<String>?
    /// Documents that this undo skipped.
    private var leftNow: Set<BSONValue> = []
    /// The documents that the job's current attempt did not change, and those of which that is uncertain.
    ///
    /// `nil` if the attempt was not acknowledged.
    private var attempt: (missed: Set<BSONValue>, unsure: Set<BSONValue>)?
    /// The documents of the current batch for which a write was sent.
    private var sent: Set<BSONValue> = []
    /// A hash of each field that this undo restored, with its document's `_id`.
    private var restored: Set<Int> = []

    /// The most restored fields that are remembered.
    private static let maximumRestored = 2_000_000

    /// Starts with the documents that earlier undos of the job skipped.
    /// - Parameter retried: the only documents to process; `nil` for all.
    init(rewritten: Set<String>?, leftBefore: Set<BSONValue>, retried: Set<BSONValue>? = nil) {
        (self.rewritten, self.leftBefore, self.retried) = (rewritten, leftBefore, retried)
    }

    /// Whether this is a further pass over the documents that an ended undo skipped.
    var isRetry: Bool { retried != nil }

    /// Whether an undo that ended skipped the document, and this one processes it again.
    func retries(_ id: BSONValue) -> Bool { retried?.contains(id) == true }

    /// Whether the document is still to be processed: if it is skipped, its older changes are not undone either.
    func isOpen(_ id: BSONValue) -> Bool {
        retried?.contains(id) != false && !leftNow.contains(id) && !leftBefore.contains(id)
    }

    /// All documents that this undo or an earlier one skipped.
    var left: Set<BSONValue> { leftNow.union(leftBefore) }

    /// Skips a document.
    /// - Returns: `false` if this undo had skipped it already.
    mutating func leave(_ id: BSONValue) -> Bool { leftNow.insert(id).inserted }

    /// Continues with another attempt of the job in the journal.
    /// - Parameter written: the documents that the attempt is known not to have changed, and those of which it is
    ///   uncertain; `nil` if the attempt was not acknowledged.
    mutating func begin(_ written: JournalStore.Written?) {
        attempt = written.map { (Set($0.missed), Set($0.unsure)) }
    }

    /// Whether the job's current attempt did not write the document.
    func isMissed(_ id: BSONValue) -> Bool { attempt?.missed.contains(id) == true }

    /// Whether the job's current attempt is known to have written the document.
    func isWritten(_ id: BSONValue) -> Bool {
        attempt.map { !$0.missed.contains(id) && !$0.unsure.contains(id) } ?? false
    }

    /// Records that a write to documents is about to be sent.
    mutating func send(_ ids: some Sequence<BSONValue>) { sent.formUnion(ids) }

    /// Whether a write of the current batch was sent for the document; that write may have been cut off.
    func wasSent(_ id: BSONValue) -> Bool { sent.contains(id) }

    /// Ends the current batch.
    mutating func endBatch() { sent = [] }

    /// Remembers the fields of documents that were restored, up to ``maximumRestored`` fields.
    mutating func restore(_ documents: some Sequence<Restoring>) {
        for document in documents where restored.count < Self.maximumRestored {
            for name in document.group.names { restored.insert(Self.hash(document.id, name)) }
        }
    }

    /// Whether this undo has itself restored, from newer entries, each field that is not as before this entry.
    ///
    /// Fields of ``rewritten`` do not count, because the job may have written the restored value itself.
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
