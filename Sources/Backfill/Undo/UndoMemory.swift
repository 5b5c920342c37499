import BSON
import JobState
import Jobs

/// The facts that an undo remembers about documents: which ones it skipped, and which fields it restored.
struct UndoMemory {
    /// Documents with a change that this undo skipped.
    private(set) var left: Set<BSONValue> = []
    /// The documents that the server refuses to restore, each with the server's error code.
    var refused: [BSONValue: Int] = [:]
    /// The entries of the current journal document that are undone, as indexes.
    private(set) var done: Set<Int> = []
    /// The rest of each entry of the current journal document of which only some paths are undone, by its index.
    private(set) var rests: [Int: JournalGroup] = [:]
    /// How often the current batch of one document conflicted with writes of other clients.
    var conflicts = 0
    /// The hashes of the fields that this undo restored, each computed from the document's `_id` and the field's name.
    private var restored: Set<Int> = []

    /// The number of restored fields after which the fields of further documents are not recorded.
    private static let maximumRestored = 2_000_000

    /// Begins with the next journal document.
    mutating func begin() { (done, rests, refused, conflicts) = ([], [:], [:], 0) }

    /// Records that a document is skipped.
    /// - Returns: `false` if this undo has skipped it already.
    mutating func leave(_ id: BSONValue) -> Bool { left.insert(id).inserted }

    /// Records the restored documents of a batch, and the entries that needed no write.
    mutating func finish(_ documents: some Sequence<Restoring>, needless: [Int]) {
        conflicts = 0
        done.formUnion(needless)
        for document in documents {
            if let rest = document.rest { rests[document.index] = rest } else { done.insert(document.index) }
            guard restored.count < Self.maximumRestored else { continue }
            for name in document.group.names { restored.insert(Self.hash(document.id, name)) }
        }
    }

    /// Whether this undo restored the field from a newer entry of the document.
    func isRestored(_ name: String, of id: BSONValue) -> Bool { restored.contains(Self.hash(id, name)) }

    private static func hash(_ id: BSONValue, _ name: String) -> Int {
        var hasher = Hasher()
        hasher.combine(id)
        hasher.combine(name)
        return hasher.finalize()
    }
}
