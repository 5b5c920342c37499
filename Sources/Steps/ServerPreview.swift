import BSON
import Jobs
import Mongo

/// The evaluation of a server-side phase by the server, in one aggregation that writes nothing.
struct ServerPreview: ~Copyable {
    private static let beforeMark = "__shipshape_before"
    private static let changesMark = "__shipshape_changes"
    private static let openMark = "__shipshape_open"
    private static let alteredMark = "__shipshape_altered"

    /// The size in bytes above which the server does not return a document's original together with the result.
    ///
    /// A reply must fit into 16 MiB.
    private static let large = 8_000_000

    private let collection: MongoCollection
    private var cursor: Cursor

    /// Starts to read the documents of a scope, and to evaluate the phase on them.
    /// - Parameter onlyNeeding: whether to leave out documents that do not need the phase.
    init(_ scope: ReadScope, through phase: Phase, in collection: MongoCollection, onlyNeeding: Bool) {
        self.collection = collection
        var pipeline = scope.stages(
            where: onlyNeeding ? phase.needs : nil, quick: onlyNeeding ? phase.steps.quickNeed : nil)
        let isLarge: BSONValue = ["$gt": [["$bsonSize": "$$ROOT"], .integer(Self.large)]]
        let before: BSONValue = ["$cond": [isLarge, true, "$$ROOT"]]
        // This stage marks each document that the phase leaves unchanged. A document stays unchanged if it is locked,
        // or if the server's write would change more of it than the steps do (see `AlteredDocument`). The server
        // compares the original bytes of the whole document, so this stage precedes the stages that read single fields.
        let stays = Expression.any([phase.steps.alteredAlthoughNeeded, !SyncLock.isFree])
        pipeline.append(["$set": [Self.alteredMark: stays.bson]])
        let known = phase.knowing(AlteredDocument(knownAt: Self.alteredMark))
        pipeline.append(["$set": [Self.beforeMark: ["$cond": [known.needs.bson, before, "$$REMOVE"]]]])
        pipeline += Self.stages(of: known)
        pipeline.append(["$set": [Self.openMark: ["$cond": [known.needs.bson, true, "$$REMOVE"]]]])
        cursor = collection.aggregate(pipeline, options: scope.options("preview", ["allowDiskUse": true]))
    }

    /// Returns the pipeline stages that run the phase's steps.
    ///
    /// A phase may have been joined from several phases of a job. A counter in the document then shows how many of the
    /// joined phases the document needs: a stage before the steps of each joined phase adds 1 if the document needs
    /// these steps.
    private static func stages(of phase: Phase) -> [BSONDocument] {
        guard phase.parts.count > 1 else { return phase.steps.map(\.stage) }
        return phase.parts.flatMap { part in
            let steps = phase.steps[part]
            let change: BSONValue = ["$cond": [Array(steps).need.bson, 1, 0]]
            let sum: BSONValue = ["$add": [["$ifNull": [.string("$\(changesMark)"), 0]], change]]
            return [["$set": [changesMark: sum]]] + steps.map(\.stage)
        }
    }

    private static func read(
        _ id: BSONValue, in collection: MongoCollection
    ) throws(MongoError) -> BSONDocument? {
        var cursor = collection.find(
            ["_id": ["$eq": id]], options: ["limit": 1, "readConcern": ["level": "majority"]])
        return try cursor.nextDocument()
    }

    mutating func next() throws -> Preview.Outcome? {
        let collection = collection
        guard let view = try cursor.next() else { return nil }
        var builder = BSONBuilder()
        var before: BSONDocument?
        var (isOpen, isLarge) = (false, false)
        var changes: Int?
        var position = view.firstPosition
        while let element = try view.next(&position) {
            let name = view.nameBytes(element)
            if name.isEqual(to: Self.beforeMark) {
                if element.type == .object {
                    before = try BSONDocument(copying: try view.document(element)).removing(Self.alteredMark)
                } else {
                    isLarge = true
                }
            } else if name.isEqual(to: Self.openMark) {
                isOpen = true
            } else if name.isEqual(to: Self.alteredMark) {
                continue
            } else if name.isEqual(to: Self.changesMark) {
                changes = try view.value(element).integer
            } else {
                builder.append(element, of: view)
            }
        }
        let after = builder.finish()
        var parts = changes ?? (before == nil && !isLarge ? 0 : 1)
        if isLarge, let id = after["_id"] {
            before = try Self.read(id, in: collection)
            if before == nil { parts = 0 }
        }
        return Preview.Outcome(before: before, change: Preview.Change(after: after, isOpen: isOpen, parts: parts))
    }
}
