import BSON
import JobState
import Jobs

/// The facts that an undo remembers about documents: which ones to process, which ones the job wrote, and what the undo
/// itself did with them.
struct UndoMemory {
    /// The documents that an earlier, finished undo of the job skipped, if this undo only retries them; `nil` if this
    /// undo processes all documents.
    private let retried: Set<BSONValue>?
    /// Documents that an earlier undo skipped, and that this undo does not retry.
    private let leftBefore: Set<BSONValue>
    /// The top-level fields that the job may have written again over its own values; see ``UndoSubject/rewritten``.
    private let rewritten: Set<String>?
    /// Documents that this undo skipped.
    private var leftNow: Set<BSONValue> = []
    /// The documents that the job's current attempt did not change (`missed`), or might not have changed (`unsure`).
    ///
    /// The current attempt is the one whose journal entries are being undone. `nil` if the journal does not record
    /// which documents the attempt changed.
    private var attempt: (missed: Set<BSONValue>, unsure: Set<BSONValue>)?
    /// The documents of the current batch to which a write was sent.
    private var sent: Set<BSONValue> = []
    /// The hashes of the fields that this undo restored, each computed from the document's `_id` and the field's name.
    private var restored: Set<Int> = []

    /// The number of restored fields after which the fields of further documents are not recorded.
    private static let maximumRestored = 2_000_000

    /// Creates the memory; `leftBefore` holds the documents that earlier undos of the job skipped, without the
    /// documents to retry.
    /// - Parameter retried: the only documents to process; `nil` for all.
    init(rewritten: Set<String>?, leftBefore: Set<BSONValue>, retried: Set<BSONValue>? = nil) {
        (self.rewritten, self.leftBefore, self.retried) = (rewritten, leftBefore, retried)
    }

    /// Whether this undo only retries documents that an earlier, finished undo skipped.
    var isRetry: Bool { retried != nil }

    /// Whether this undo retries the document, because an earlier, finished undo skipped it.
    func retries(_ id: BSONValue) -> Bool { retried?.contains(id) == true }

    /// Whether the document is still to be processed.
    ///
    /// Once the undo has skipped a document, it does not undo the document's older changes either.
    func isOpen(_ id: BSONValue) -> Bool {
        retried?.contains(id) != false && !leftNow.contains(id) && !leftBefore.contains(id)
    }

    /// All documents that this undo skipped, or that an earlier undo skipped and this undo does not retry.
    var left: Set<BSONValue> { leftNow.union(leftBefore) }

    /// Records that a document is skipped.
    /// - Returns: `false` if this undo has skipped it already.
    mutating func leave(_ id: BSONValue) -> Bool { leftNow.insert(id).inserted }

    /// Begins the undo of an attempt of the job; the undo processes the attempt's journal entries next.
    /// - Parameter written: the record of which documents the attempt did not change, or might not have changed; `nil`
    ///   if the journal has no such record.
    mutating func begin(_ written: JournalStore.Written?) {
        attempt = written.map { (Set($0.missed), Set($0.unsure)) }
    }

    /// Whether it is known that the attempt whose journal entries are being undone did not write the document.
    func isMissed(_ id: BSONValue) -> Bool { attempt?.missed.contains(id) == true }

    /// Whether it is known that the attempt whose journal entries are being undone wrote the document.
    func isWritten(_ id: BSONValue) -> Bool {
        attempt.map { !$0.missed.contains(id) && !$0.unsure.contains(id) } ?? false
    }

    /// Records that a write to the given documents is about to be sent.
    mutating func send(_ ids: some Sequence<BSONValue>) { sent.formUnion(ids) }

    /// Whether a write to the document was sent in the current batch.
    ///
    /// The writes of an earlier, interrupted try of the same batch count as well.
    func wasSent(_ id: BSONValue) -> Bool { sent.contains(id) }

    /// Ends the current batch, and drops the list of documents to which its writes were sent.
    mutating func endBatch() { sent = [] }

    /// Records which fields of the given documents were restored, until ``maximumRestored`` fields are recorded.
    mutating func restore(_ documents: some Sequence<Restoring>) {
        for document in documents where restored.count < Self.maximumRestored {
            for name in document.group.names { restored.insert(Self.hash(document.id, name)) }
        }
    }

    /// Whether each field of a journal entry has its old value in `now`, or this undo restored it from a newer entry.
    ///
    /// A field in ``rewritten`` must have its old value even if this undo restored it, because the restored value may
    /// be one that the job itself wrote. If ``rewritten`` is `nil`, every field must have its old value. The result is
    /// also `false` if this undo has not restored any field yet.
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
