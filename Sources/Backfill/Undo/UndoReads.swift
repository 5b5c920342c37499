import BSON
import JobState
import Jobs
import Mongo

/// The reads of an undo: for each batch of journal entries, the documents, with as much of each document as the undo
/// needs.
struct UndoReads {
    /// The UUID of the job's collection; `nil` if the server cannot compare it.
    let collectionUUID: BSONValue?
    /// Whether whole documents are read, and not only the fields that the job wrote.
    let isWhole: Bool

    /// The most bytes of documents that are read at once; a document that is larger is read by itself.
    private static let largest = 8 << 20

    /// Returns the documents with these `_id`s; `nil` if they are too large to be held in memory together.
    func read(
        _ ids: [BSONValue], of part: JournalPart, in collection: MongoCollection
    ) throws -> [BSONValue: BSONDocument]? {
        let options = options(for: part)
        var documents: [BSONValue: BSONDocument] = [:]
        var size = 0
        for slice in ids.commandSlices() {
            var cursor = collection.find(["_id": ["$in": .array(of: slice)]], options: options)
            while let document = try cursor.nextDocument() {
                guard let id = document["_id"] else { continue }
                size += document.bytes.count
                guard size < Self.largest || ids.count == 1 else { return nil }
                documents[id] = document
            }
        }
        return documents
    }

    private func options(for part: JournalPart) -> BSONDocument {
        let fields = ["_id"] + part.touched + part.evidence.names + SyncLock.fields
        let isWhole = isWhole || part.groups.contains { $0.places != nil }
        let projection = isWhole ? [:] : BSONDocument(fields.map { ($0, 1) })
        let options: BSONDocument = [
            "projection": .object(projection), "hint": ["_id": 1], "comment": "shipshape undo",
        ]
        return collectionUUID.map { options.appending("collectionUUID", $0) } ?? options
    }
}
