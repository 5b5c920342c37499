import BSON
import JobState
import Jobs
import Mongo

/// A document whose change is to be undone.
struct Restoring {
    let id: BSONValue
    /// The index of the document's entry in its part of the journal.
    let index: Int
    let group: JournalGroup
    /// The rest of the entry, whose values another client changed; `nil` if ``group`` is all of it.
    var rest: JournalGroup?
    /// The document as it was read; either the whole document, or only the fields that undo needs.
    let current: BSONDocument

    /// Returns the document with the changed fields as they were before the job.
    func restored() throws(BSONError) -> BSONDocument { try group.restored(current) }

    /// The properties that documents must have in common to be restored by one statement.
    struct Likeness: Hashable {
        /// The values to set.
        let before: BSONDocument
        /// The names of the fields to remove, as bytes: as strings, two names would be equal even if they encode é by
        /// different code points.
        let removed: [[UInt8]]
    }

    /// The properties that decide with which other documents this document can share a statement.
    ///
    /// `nil` if the values to set depend on the document, because a client changed other parts of an object, or because
    /// fields have to return to their places.
    var likeness: Likeness? {
        get throws(BSONError) {
            guard group.places == nil, try group.fields(of: restored()) == group.before else { return nil }
            return Likeness(before: group.before, removed: group.added.map { Array($0.utf8) })
        }
    }

    /// Returns the update that restores documents with the same ``likeness``, or a single document.
    ///
    /// The update writes only the fields that the job changed. But if a field that the job removed has to return to its
    /// position, the update replaces the whole document, by a pipeline that keeps every byte of it.
    /// - Parameters:
    ///   - isPlaced: whether restored fields return to their positions; otherwise they are put at the end of the
    ///     document.
    ///   - isGuarded: whether the document must still be as it was read.
    static func statement(
        _ documents: [Restoring], isPlaced: Bool, guarded isGuarded: Bool
    ) throws(BSONError) -> UpdateStatement? {
        guard let first = documents.first else { return nil }
        let update: BSONValue
        if isPlaced {
            update = [["$replaceWith": ["$literal": .object(try first.restored())]]]
        } else {
            let (values, now) = (try first.group.fields(of: first.restored()), first.current.view)
            var changes: [(String, BSONValue)] = []
            if !values.isEmpty { changes.append(("$set", .object(values))) }
            var gone: [(String, BSONValue)] = []
            for name in first.group.added {
                if documents.count == 1, try now.find(name) == nil { continue }
                gone.append((name, ""))
            }
            if !gone.isEmpty { changes.append(("$unset", .object(BSONDocument(gone)))) }
            update = .object(BSONDocument(changes))
        }
        var statement = UpdateStatement(
            ["_id": ["$in": .array(of: documents.map(\.id))]], update, isMulti: documents.count > 1,
            hint: ["_id": 1])
        if isGuarded {
            let isBinary = !first.id.dependsOnCollation
            let isSame =
                isPlaced
                ? [try .isExactly(first.current)]
                : try Expression.areExactly(
                    first.group.names, asIn: first.group.fields(of: first.current), isBinary: isBinary)
            statement.filter = [
                "_id": ["$eq": first.id], "$expr": Expression.all(isSame + [SyncLock.isFree]).bson,
            ]
            if isBinary { statement.collation = ["locale": "simple"] }
        }
        return statement
    }
}
