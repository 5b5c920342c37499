import BSON
import JobState
import Jobs
import Mongo

/// A document whose change is to be undone.
struct Restoring {
    let id: BSONValue
    let group: JournalGroup
    /// The index of the group; documents with the same one are restored alike.
    let groupIndex: Int
    /// Distinguishes it from another document with the same `_id`, if it has to be read again.
    var evidence: ArraySlice<UInt8>?
    /// The document as it was read: all of it, or only the fields that matter.
    let current: BSONDocument
    /// Whether all of it must still be as it was read, because the restore was judged safe only for that state.
    var isWatched = false

    /// Returns the document with the changed fields as they were.
    func restored() throws(BSONError) -> BSONDocument { try group.restored(current) }

    /// Returns the update that restores documents of one group, if they are still as they were read.
    ///
    /// It writes the changed fields and no others. Only if a field was removed and has to return to its position, the
    /// whole document is written, by a pipeline, because that takes every byte as it is.
    /// - Parameters:
    ///   - documents: all of one group, and alike in the changed fields.
    ///   - isPlaced: whether fields return to their positions; otherwise they are put at the end.
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
        // Without the collection's collation, strings are compared by their bytes; it alone finds a string `_id`.
        let isBinary = !documents.contains { $0.id.dependsOnCollation }
        return UpdateStatement(
            filter, update, isMulti: !isPlaced, hint: ["_id": 1],
            collation: isBinary ? ["locale": "simple"] : nil)
    }
}
