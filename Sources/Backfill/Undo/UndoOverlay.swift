import BSON
import JobState

/// The changes that a dry run of an undo would have undone, for the comparison with older entries of the same
/// documents.
///
/// An attempt in the journal has no document twice. But an older attempt at the same chunk has the same documents, and
/// an earlier pass has those that it changed, too.
struct UndoOverlay {
    /// The most documents of later passes that are remembered.
    static let maximum = 100_000

    /// The changes that would have been undone in the current chunk, by `_id`; ``kept`` has those of later passes.
    private var recent: [BSONValue: [JournalGroup]] = [:]
    private var kept: [BSONValue: [JournalGroup]] = [:]
    private var chunk: (pass: Int, chunk: BSONValue)?
    /// The numbers of the passes whose changes are kept, because an earlier pass may have changed the same documents.
    private let lasting: Set<Int>
    private let maximum: Int
    /// Whether there were more documents than ``maximum``; the changes of the others may be counted more than once.
    private(set) var isFull = false

    /// - Parameter judgesWhole: whether whole documents are judged, so that any earlier pass matters; otherwise only
    ///   one that touches the same fields does.
    init(_ passes: [JournalStore.Pass], judgesWhole: Bool, maximum: Int = Self.maximum) {
        self.maximum = maximum
        lasting = Set(
            passes.filter { pass in
                passes.contains { earlier in
                    earlier.pass < pass.pass && (judgesWhole || !earlier.touched.isDisjoint(with: pass.touched))
                }
            }.map(\.pass))
    }

    /// Continues with an older document of the journal, and drops the changes of the last chunk if it is of another
    /// one.
    mutating func enter(_ part: JournalPart) {
        let isSame = chunk.map { $0.pass == part.pass && $0.chunk == part.chunk } ?? false
        if !isSame { recent = [:] }
        chunk = (part.pass, part.chunk)
    }

    mutating func restore(_ document: Restoring) {
        let change = document.group.change
        if chunk.map({ lasting.contains($0.pass) }) ?? false {
            if kept.count < maximum || kept[document.id] != nil {
                kept[document.id, default: []].append(change)
                return
            }
            isFull = true
        }
        recent[document.id, default: []].append(change)
    }

    /// Returns a document as it would be if the remembered changes were undone.
    func document(_ id: BSONValue, _ document: BSONDocument) throws(BSONError) -> BSONDocument {
        var result = document
        for change in (kept[id] ?? []) + (recent[id] ?? []) { result = try change.restored(result) }
        return result
    }
}
