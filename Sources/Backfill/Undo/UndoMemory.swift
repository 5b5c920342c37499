import BSON
import JobState
import Jobs

/// The facts that an undo remembers about documents: which ones it skipped, and which fields it restored.
struct UndoMemory {
    /// Documents that this undo skipped; it does not undo their older changes either.
    private(set) var left: Set<BSONValue> = []
    /// The documents that the server refuses to restore, each with the server's error code.
    private(set) var refused: [BSONValue: Int] = [:]
    /// The entries of the current journal document that are undone, as indexes.
    private(set) var done: Set<Int> = []
    /// How often the current batch of one document conflicted with writes of other clients.
    var conflicts = 0
    /// The hashes of the fields that this undo restored, each computed from the document's `_id` and the field's name.
    private var restored: Set<Int> = []

    /// The number of restored fields after which the fields of further documents are not recorded.
    private static let maximumRestored = 2_000_000

    /// Begins with the next journal document.
    mutating func begin() { (done, refused, conflicts) = ([], [:], 0) }

    /// Whether the document is still to be processed.
    func isOpen(_ id: BSONValue) -> Bool { !left.contains(id) }

    /// Records that a document is skipped.
    /// - Returns: `false` if this undo has skipped it already.
    mutating func leave(_ id: BSONValue) -> Bool { left.insert(id).inserted }

    /// Records that the server refuses to restore a document.
    mutating func refuse(_ id: BSONValue, _ code: Int) { refused[id] = code }

    /// Records the restored documents and the undone entries of a batch.
    mutating func finish(_ documents: some Sequence<Restoring>, undone: [Int]) {
        done.formUnion(undone)
        conflicts = 0
        for document in documents where restored.count < Self.maximumRestored {
            for name in document.group.names { restored.insert(Self.hash(document.id, name)) }
        }
    }

    /// Whether each field of a journal entry has its old value in `document`, or this undo restored it from a newer
    /// entry; `false` if this undo has not restored any field yet.
    func isRestored(_ document: BSONDocument, of id: BSONValue, in group: JournalGroup) throws -> Bool {
        guard !restored.isEmpty else { return false }
        let (now, before) = (document.view, group.before.view)
        for name in group.names where !restored.contains(Self.hash(id, name)) {
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
