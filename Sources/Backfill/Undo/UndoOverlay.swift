import BSON
import JobState

/// The changes that a dry run would have undone, kept for older entries of the journal of the same documents.
///
/// Within an attempt no document appears twice. An older attempt at the same chunk holds the same documents again, and
/// an earlier pass those that it changed, too.
struct UndoOverlay {
    /// The most documents of later passes that are remembered.
    static let most = 100_000

    /// The changes that would have been undone in the current chunk, and in later passes.
    private var recent: [BSONValue: [JournalGroup]] = [:]
    private var kept: [BSONValue: [JournalGroup]] = [:]
    private var chunk: (pass: Int, chunk: BSONValue)?
    /// The passes whose documents an earlier one may have changed, too, in a way that matters.
    private let lasting: Set<Int>
    private let most: Int
    /// Whether there were more documents than are remembered; the others may be counted more than once.
    private(set) var isFull = false

    /// - Parameter judgesWhole: whether whole documents are judged, so that any earlier pass matters; otherwise only
    ///   one that touches the same fields does.
    init(_ passes: [JournalStore.Pass], judgesWhole: Bool, most: Int = Self.most) {
        self.most = most
        lasting = Set(
            passes.filter { pass in
                passes.contains { earlier in
                    earlier.pass < pass.pass && (judgesWhole || !earlier.touched.isDisjoint(with: pass.touched))
                }
            }.map(\.pass))
    }

    /// Continues with a document of the journal, and forgets what no older one needs.
    mutating func enter(_ part: JournalPart) {
        let isSame = chunk.map { $0.pass == part.pass && $0.chunk == part.chunk } ?? false
        if !isSame { recent = [:] }
        chunk = (part.pass, part.chunk)
    }

    mutating func restore(_ document: Restoring) {
        let change = document.group.change
        if chunk.map({ lasting.contains($0.pass) }) ?? false {
            if kept.count < most || kept[document.id] != nil {
                kept[document.id, default: []].append(change)
                return
            }
            isFull = true
        }
        recent[document.id, default: []].append(change)
    }

    /// Returns the document as it would be.
    func document(_ id: BSONValue, _ document: BSONDocument) throws(BSONError) -> BSONDocument {
        var result = document
        for change in (kept[id] ?? []) + (recent[id] ?? []) { result = try change.restored(result) }
        return result
    }
}
