import BSON
import JobState
import Jobs
import Mongo

/// An attempt at a chunk whose changes are in the journal, and the results of its writes as the server reported them.
struct JournaledAttempt {
    /// The attempt's number in the journal.
    let sequence: Int64
    /// The documents whose changes are in the journal.
    let documents: [DueDocument]
    /// How many of ``documents`` were changed, according to the server's replies.
    private var counted = 0
    /// Whether ``counted`` is exact, and not only a lower bound.
    private var isExact = true
    /// The documents that had the new values after a write whose reply was lost.
    ///
    /// It is uncertain whether this attempt or another client wrote these values.
    private(set) var doubtful: Set<BSONValue> = []
    /// The updates that are planned for the documents.
    var updates: [ChunkWriter.Update] = []
    /// The updates that were sent, or whose sending was tried.
    private var sent: [ChunkWriter.Update] = []
    /// How to find out which documents met the condition of their update just before the first update was sent; `nil`
    /// until the first update is about to be sent.
    var start: Start?

    /// A means of finding out which documents met the condition of their update just before the first update was sent.
    enum Start {
        /// The server can read the documents as they were at this cluster time, which is just before the first update.
        case time(UInt64)
        /// The `_id`s of the documents that met the condition of their update just before the first update was sent.
        case ready(Set<BSONValue>)
        case unknown
    }

    init(_ sequence: Int64, _ documents: [DueDocument]) { (self.sequence, self.documents) = (sequence, documents) }

    /// Records that some of the updates are about to be sent.
    mutating func willSend(_ updates: [ChunkWriter.Update]) { sent += updates }

    /// Adds the number of documents that an acknowledged write changed.
    mutating func wrote(_ modified: Int) { counted += modified }

    /// Adds the number of documents that a failed write changed, as far as the server reports it.
    /// - Parameter isPerDocument: whether each statement of the write applies to one document, so that the number is
    ///   exact.
    /// - Returns: whether the outcome of the write is known; `false` if its reply was lost.
    mutating func failed(_ error: MongoError, isPerDocument: Bool) -> Bool {
        let known = error.modified ?? (isPerDocument ? error.modifiedAtLeast : nil)
        counted += known ?? error.modifiedAtLeast ?? 0
        isExact = isExact && known != nil
        return error.modifiedAtLeast != nil || !error.mayBeUnderWay
    }

    /// Sets ``counted`` to 0 before a write is repeated.
    /// - Parameter doubtful: the documents that have the new values already. The repeated write does not change or
    ///   count them.
    mutating func recount(without doubtful: Set<BSONValue>) {
        (self.doubtful, counted, isExact) = (doubtful, 0, true)
    }

    /// Whether all journaled documents were changed.
    var isWhole: Bool { isExact && doubtful.isEmpty && counted == documents.count }

    /// Whether no update of the attempt was sent.
    var isUnsent: Bool { sent.isEmpty }

    /// The `_id`s of the documents whose update was sent; the attempt cannot have changed any other document.
    var sentIDs: Set<BSONValue> { Set(sent.flatMap(\.ids)) }

    /// Returns which documents were not changed, and for which documents that is uncertain.
    ///
    /// If the run stopped between two commands, some updates were not sent. The documents of these updates were not
    /// changed.
    ///
    /// The server reports how many documents it changed, but not which ones. A document that has the new values now
    /// might have got them from a user. The documents with the new values are therefore known to be changed only if
    /// their number equals the reported number and `others` is empty. Otherwise, every document whose update was sent
    /// is uncertain. The documents in ``doubtful`` are always uncertain.
    /// - Parameters:
    ///   - changed: the documents that have the new values now.
    ///   - others: the documents that do not have the new values now, but may have been changed: their updates were
    ///     sent, and they met the conditions just before the first update was sent; `nil` if unknown.
    func written(seeing changed: Set<BSONValue>, others: Set<BSONValue>?) -> JournalStore.Written {
        let sent = sentIDs
        var written = JournalStore.Written()
        written.missed = documents.map(\.id).filter { !sent.contains($0) }
        let sentDocuments = documents.map(\.id).filter(sent.contains)
        let candidates = sentDocuments.filter { !doubtful.contains($0) }
        guard others?.isEmpty == true, candidates.count(where: changed.contains) == counted else {
            written.unsure = sentDocuments
            return written
        }
        written.unsure = sentDocuments.filter(doubtful.contains)
        written.missed += candidates.filter { !changed.contains($0) }
        return written
    }
}

extension DocumentEvidence {
    private static let maximum = 6
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
        return DocumentEvidence(Array(names.prefix(maximum)))
    }
}

extension DueDocument.Change {
    /// Whether the document `now` has the new value in each field of `touched` that this change alters.
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
