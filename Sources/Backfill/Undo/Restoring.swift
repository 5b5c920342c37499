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
    /// The document as it was read: whole, or of it the fields that matter.
    let current: BSONDocument

    /// The document with the changed fields as they were.
    func restored() throws(BSONError) -> BSONDocument { try group.restored(current) }

    /// The update that restores documents of one group, while they are as they were read.
    /// - Parameter documents: all of one group, and alike in the changed fields.
    static func statement(_ documents: [Restoring], under lease: Lease) throws(BSONError) -> UpdateStatement? {
        guard let first = documents.first else { return nil }
        let group = first.group
        var conditions = [lease.fence, SyncLock.isFree]
        let update: BSONDocument
        if group.places != nil {
            conditions.append(try .isExactly(first.current))
            update = try first.restored()
        } else {
            let now = try group.fields(of: first.current)
            conditions += try Expression.areExactly(group.names, asIn: now)
            var changes: [(String, BSONValue)] = []
            if !group.before.isEmpty { changes.append(("$set", .object(group.before))) }
            let gone = group.added.filter { now[$0] != nil }
            if !gone.isEmpty { changes.append(("$unset", .object(BSONDocument(gone.map { ($0, "") })))) }
            update = BSONDocument(changes)
        }
        let filter: BSONDocument = [
            "_id": ["$in": .array(of: documents.map(\.id))], "$expr": Expression.all(conditions).bson,
        ]
        // Without the collection's collation texts are compared by their bytes; an _id that is one is found by it.
        let isBinary = !documents.contains { $0.id.dependsOnCollation }
        return UpdateStatement(
            filter, .object(update), isMulti: group.places == nil, hint: ["_id": 1],
            collation: isBinary ? ["locale": "simple"] : nil)
    }
}
