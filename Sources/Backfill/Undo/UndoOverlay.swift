import BSON
import JobState

/// The changes that the dry run of an undo has counted as undone so far.
///
/// A dry run does not write. Before the dry run compares an older journal entry with a document, it therefore removes
/// these changes from its copy of the document.
///
/// The journal may have several entries for one document: one chunk has at most one entry for it, but an earlier phase
/// or pass may have entries for the same document.
struct UndoOverlay {
    /// The largest number of documents in ``kept``.
    static let maximum = 100_000

    /// The changes in the current chunk that a real undo would have undone so far, by `_id`, except those in ``kept``.
    private var recent: [BSONValue: [JournalGroup]] = [:]
    /// The changes that the passes in ``lasting`` made, and that a real undo would have undone so far, by `_id`.
    private var kept: [BSONValue: [JournalGroup]] = [:]
    private var chunk: (pass: Int, chunk: BSONValue)?
    /// The numbers of the passes whose changes are kept until the dry run ends, because an earlier pass may have
    /// changed the same documents.
    private let lasting: Set<Int>
    private let maximum: Int
    /// Whether the passes in ``lasting`` changed more documents than ``kept`` can hold.
    ///
    /// The changes of the documents that are not in ``kept`` may be counted more than once.
    private(set) var isFull = false

    /// Creates an overlay without changes.
    /// - Parameter judgesWhole: whether the undo checks whole documents. If `true`, the changes of every pass except
    ///   the first are kept. If `false`, the changes of a pass are kept only if an earlier pass changed one of the same
    ///   fields.
    init(_ passes: [JournalStore.Pass], judgesWhole: Bool, maximum: Int = Self.maximum) {
        self.maximum = maximum
        lasting = Set(
            passes.filter { pass in
                passes.contains { earlier in
                    earlier.pass < pass.pass && (judgesWhole || !earlier.touched.isDisjoint(with: pass.touched))
                }
            }.map(\.pass))
    }

    /// Continues with an older part of the journal.
    ///
    /// If the part belongs to another chunk than the previous part, the changes in ``recent`` are dropped.
    mutating func enter(_ part: JournalPart) {
        let isSame = chunk.map { $0.pass == part.pass && $0.chunk == part.chunk } ?? false
        if !isSame { recent = [:] }
        chunk = (part.pass, part.chunk)
    }

    mutating func restore(_ document: Restoring) {
        let change = document.group
        if chunk.map({ lasting.contains($0.pass) }) ?? false {
            if kept.count < maximum || kept[document.id] != nil {
                kept[document.id, default: []].append(change)
                return
            }
            isFull = true
        }
        recent[document.id, default: []].append(change)
    }

    /// Returns a document as it would be after the undo of its changes in ``kept`` and ``recent``.
    func document(_ id: BSONValue, _ document: BSONDocument) throws(BSONError) -> BSONDocument {
        var result = document
        for change in (kept[id] ?? []) + (recent[id] ?? []) { result = try change.restored(result) }
        return result
    }
}
