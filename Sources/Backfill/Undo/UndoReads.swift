import BSON
import Concurrency
import JobState
import Jobs
import Mongo

/// The reads of an undo: for each batch of journal entries, the documents, with as much of each document as the undo
/// needs.
///
/// While the undo writes one batch, the next batch can be read on another connection. Each write compares the changed
/// fields with what was read, so a change of another client after the read is not overwritten.
struct UndoReads {
    private let namespace: Namespace
    private let collectionUUID: BSONValue?
    private let pool: ClientPool
    /// Whether whole documents are read, and not only the fields that the job wrote.
    let isWhole: Bool
    /// The documents that are being read for the next batch; `nil` if none are.
    private var ahead: Ahead?

    /// Documents that are being read before they are needed.
    private struct Ahead {
        let ids: Set<BSONValue>
        let documents: BackgroundTask<[BSONValue: BSONDocument]?>
        let started = ContinuousClock.now
    }

    /// How long after its start a read may still be used.
    ///
    /// An undo may wait for hours between two batches, for example while the job is paused. A document could be deleted
    /// and inserted again in that time, and only a new read shows that.
    private static let lifetime = Duration.seconds(1)
    /// The most bytes of documents that are read at once; a document that is larger is read by itself.
    private static let largest = 8 << 20

    init(of namespace: Namespace, collectionUUID: BSONValue?, whole isWhole: Bool, on pool: ClientPool) {
        (self.namespace, self.collectionUUID) = (namespace, collectionUUID)
        (self.isWhole, self.pool) = (isWhole, pool)
    }

    /// Starts to read the documents with these `_id`s, for a later call of ``read(_:of:on:)``.
    mutating func readAhead(_ ids: [BSONValue], of part: JournalPart) {
        drop()
        guard !ids.isEmpty, !pool.overload.isRecent else { return }
        let (namespace, options) = (namespace, options(for: part))
        // If the server refuses the read, the read fails at once, and ``read(_:of:on:)`` waits for the server.
        ahead = Overload.within(.atOnce) {
            Ahead(
                ids: Set(ids),
                documents: BackgroundTask(on: pool) { client in
                    try Self.read(ids, of: client.collection(namespace), options)
                })
        }
    }

    /// Waits for the end of the read that is not needed any more.
    private mutating func drop() {
        _ = ahead?.documents.end()
        ahead = nil
    }

    /// Returns the documents with these `_id`s; `nil` if they are too large to be held in memory together.
    ///
    /// If reading ahead failed, the documents are read again, so that the caller gets the error of the second read.
    mutating func read(
        _ ids: [BSONValue], of part: JournalPart, on client: borrowing Client
    ) throws -> [BSONValue: BSONDocument]? {
        if let ahead, ahead.ids.isSuperset(of: ids) {
            self.ahead = nil
            let documents = ahead.documents.end()
            if ahead.started.duration(to: .now) < Self.lifetime, case .success(let documents) = documents {
                return documents
            }
        }
        return try Self.read(ids, of: client.collection(namespace), options(for: part))
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

    private static func read(
        _ ids: [BSONValue], of collection: MongoCollection, _ options: BSONDocument
    ) throws -> [BSONValue: BSONDocument]? {
        var documents: [BSONValue: BSONDocument] = [:]
        var size = 0
        for slice in ids.commandSlices() {
            var cursor = collection.find(["_id": ["$in": .array(of: slice)]], options: options)
            while let document = try cursor.nextDocument() {
                guard let id = document["_id"] else { continue }
                size += document.bytes.count
                guard size < largest || ids.count == 1 else { return nil }
                documents[id] = document
            }
        }
        return documents
    }
}
