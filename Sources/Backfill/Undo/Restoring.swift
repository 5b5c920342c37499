import BSON
import JobState
import Jobs
import Mongo

/// A document whose change is to be taken back.
struct Restoring {
    let id: BSONValue
    let group: JournalGroup
    /// The index of the group, which tells documents that are restored alike.
    let groupIndex: Int
    /// What tells it from another document of the same `_id`, should it have to be read again.
    var evidence: ArraySlice<UInt8>?
    /// The document as it was read: whole, or of it the fields that matter.
    let current: BSONDocument
    /// Whether it has to be all as it was read: judged to do no harm only as it is.
    var isWatched = false

    /// The document with the changed fields as they were.
    func restored() throws(BSONError) -> BSONDocument { try group.restored(current) }

    /// The update that restores documents of one group, while they are as they were read.
    ///
    /// It writes the changed fields and no others. Only where a field went and has to come back to its place, the whole
    /// document is written, by a pipeline: it takes every byte as it is.
    /// - Parameters:
    ///   - documents: all of one group, and alike in the changed fields.
    ///   - isPlaced: whether fields come back to their places; else they come to the end.
    static func statement(
        _ documents: [Restoring], under lease: Lease, isPlaced: Bool
    ) throws(BSONError) -> UpdateStatement? {
        guard let first = documents.first else { return nil }
        let group = first.group
        var conditions = [lease.fence, SyncLock.isFree]
        let update: BSONValue
        if isPlaced {
            conditions.append(try .isExactly(first.current))
            update = [["$replaceWith": ["$literal": .object(try first.restored())]]]
        } else {
            if first.isWatched { conditions.append(try .isExactly(first.current)) }
            let now = try group.fields(of: first.current)
            conditions += try Expression.areExactly(group.names, asIn: now)
            var changes: [(String, BSONValue)] = []
            if !group.before.isEmpty { changes.append(("$set", .object(group.before))) }
            let gone = group.added.filter { now[$0] != nil }
            if !gone.isEmpty { changes.append(("$unset", .object(BSONDocument(gone.map { ($0, "") })))) }
            update = .object(BSONDocument(changes))
        }
        let filter: BSONDocument = [
            "_id": ["$in": .array(of: documents.map(\.id))], "$expr": Expression.all(conditions).bson,
        ]
        // Without the collection's collation texts are compared by their bytes; an _id that is one is found by it.
        let isBinary = !documents.contains { $0.id.dependsOnCollation }
        return UpdateStatement(
            filter, update, isMulti: !isPlaced, hint: ["_id": 1],
            collation: isBinary ? ["locale": "simple"] : nil)
    }
}
