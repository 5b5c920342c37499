import BSON
import JobState
import Jobs
import Mongo

/// An attempt that is in the journal, and what the server's replies tell of its writes.
struct JournaledAttempt {
    /// Its number in the journal.
    let sequence: Int64
    /// The documents that it journaled.
    let documents: [DueDocument]
    /// Of those, so many were changed, as far as the replies tell.
    private var counted = 0
    /// Whether the replies tell it exactly.
    private var isExact = true
    /// Documents that look changed after a write whose reply was lost.
    private(set) var doubtful: Set<BSONValue> = []
    /// What is sent to change them.
    var updates: [ChunkWriter.Update] = []
    /// What can be told of them as they were just before the first of it was sent; `nil` before that.
    var start: Start?

    /// How it can be told which documents were as the writes want them, before the first was sent.
    enum Start {
        /// By a look at what there was at this time.
        case time(UInt64)
        /// These were.
        case ready(Set<BSONValue>)
        case unknown
    }

    init(_ sequence: Int64, _ documents: [DueDocument]) { (self.sequence, self.documents) = (sequence, documents) }

    /// A write was acknowledged.
    mutating func wrote(_ modified: Int) { counted += modified }

    /// A write failed.
    /// - Parameter isPerDocument: whether each of its statements concerns one document, so that the sum is exact.
    /// - Returns: whether the server told at all what became of it.
    mutating func failed(_ error: MongoError, isPerDocument: Bool) -> Bool {
        let told = error.modified ?? (isPerDocument ? error.modifiedAtLeast : nil)
        counted += told ?? error.modifiedAtLeast ?? 0
        isExact = isExact && told != nil
        return error.modifiedAtLeast != nil || !error.mayBeUnderWay
    }

    /// Begins to count anew, for what does not look changed before a write is sent again.
    mutating func countAnew(without doubtful: Set<BSONValue>) {
        (self.doubtful, counted, isExact) = (doubtful, 0, true)
    }

    /// Whether all that was journaled was changed.
    var isWhole: Bool { isExact && doubtful.isEmpty && counted == documents.count }

    /// What was written, where these documents look changed now, and these of the others may have been.
    ///
    /// A number of changed documents says which ones they were only if no other can have been changed: by chance a user makes
    /// one document look changed just before the write, and another one look unchanged just after it.
    func written(seeing changed: Set<BSONValue>, others: Set<BSONValue>?) -> JournalStore.Written {
        var written = JournalStore.Written()
        let candidates = documents.map(\.id).filter { !doubtful.contains($0) }
        guard others?.isEmpty == true, candidates.count(where: changed.contains) == counted else {
            written.unsure = documents.map(\.id)
            return written
        }
        written.unsure = Array(doubtful)
        written.missed = candidates.filter { !changed.contains($0) }
        return written
    }
}

extension DocumentEvidence {
    private static let most = 6
    private static let largestValue = 256

    static func chosen(from sample: [BSONDocument], without touched: Set<String>) throws -> DocumentEvidence {
        var values: [String: Set<BSONDocument>] = [:]
        for document in sample {
            let view = document.view
            var position = view.firstPosition
            while let element = try view.next(&position) {
                let name = view.name(element)
                guard element.valueLength <= largestValue, !touched.contains(name), !name.hasPrefix("__shipshape"),
                    view.nameBytes(element).isEqual(to: name), (try? FieldPath(name))?.components.count == 1
                else { continue }
                var value = BSONBuilder()
                value.append("", element, of: view)
                values[name, default: []].insert(value.finish())
            }
        }
        let names = values.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }.map(\.key)
        return DocumentEvidence(Array(names.prefix(most)))
    }
}

extension DueDocument.Change {
    /// Whether the touched fields that change are in a document what they become.
    func isDone(in now: BSONDocument, at touched: [String]) throws(BSONError) -> Bool {
        let (was, willBe, now) = (before.view, after.view, now.view)
        for name in touched {
            let (old, new) = (try was.find(name), try willBe.find(name))
            guard ChunkJournal.differs(old, of: was, new, of: willBe) else { continue }
            if ChunkJournal.differs(try now.find(name), of: now, new, of: willBe) { return false }
        }
        return true
    }
}
