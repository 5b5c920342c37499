import BSON
import JobState
import Jobs
import Mongo

/// A document whose change is to be undone.
struct Restoring {
    let id: BSONValue
    let group: JournalGroup
    /// The index of ``group`` in its part of the journal; documents with the same index are restored in the same way.
    let groupIndex: Int
    /// The evidence that distinguishes the document from a later document with the same `_id`; used when the document
    /// is read again.
    var evidence: ArraySlice<UInt8>?
    /// The document as it was read; either the whole document, or only the fields that undo needs.
    let current: BSONDocument
    /// Whether the write requires that the whole document is unchanged since it was read.
    ///
    /// This is `true` for a document that was already unsyncable when undo read it. Its restore takes no room under the
    /// limit of unsynced documents, so the document must not be restored after a user has repaired it.
    var isWatched = false

    /// Returns the document with the changed fields as they were before the job.
    func restored() throws(BSONError) -> BSONDocument { try group.restored(current) }

    /// Returns the update that restores the documents if they are still as they were read; `nil` for no documents.
    ///
    /// The update writes only the fields that the job changed. But if a field that the job removed has to return to its
    /// position, the update replaces the whole document, by a pipeline that keeps every byte of it.
    /// - Parameters:
    ///   - documents: documents of one group, with the same values in the fields that the job changed; or documents of
    ///     several groups with the same ``likeness``.
    ///   - isPlaced: whether restored fields return to their positions; otherwise they are put at the end of the
    ///     document.
    static func statement(
        _ documents: [Restoring], under lease: Lease, isPlaced: Bool
    ) throws(BSONError) -> UpdateStatement? {
        guard let first = documents.first else { return nil }
        let group = first.group
        var conditions = [lease.fence, SyncLock.isFree]
        // Strings are compared by their bytes. But if an `_id` contains a string, the server finds it only with the
        // collection's collation, so all strings are compared by that collation.
        let isBinary = !documents.contains { $0.id.dependsOnCollation }
        let update: BSONValue
        if isPlaced {
            conditions.append(try .isExactly(first.current))
            update = [["$replaceWith": ["$literal": .object(try first.restored())]]]
        } else {
            if first.isWatched { conditions.append(try .isExactly(first.current)) }
            let now = try group.fields(of: first.current)
            if documents.contains(where: { $0.groupIndex != first.groupIndex }) {
                let asRead = documents.map { (id: $0.id, fields: $0.current) }
                for name in group.names {
                    conditions.append(
                        now[name] == nil
                            ? Expression(.string("$" + name)).isMissing : try .isExactly(name, asIn: asRead))
                }
            } else {
                conditions += try Expression.areExactly(group.names, asIn: now, isBinary: isBinary)
            }
            var changes: [(String, BSONValue)] = []
            if !group.before.isEmpty { changes.append(("$set", .object(group.before))) }
            let gone = group.added.filter { now[$0] != nil }
            if !gone.isEmpty { changes.append(("$unset", .object(BSONDocument(gone.map { ($0, "") })))) }
            update = .object(BSONDocument(changes))
        }
        let filter: BSONDocument = [
            "_id": ["$in": .array(of: documents.map(\.id))], "$expr": Expression.all(conditions).bson,
        ]
        return UpdateStatement(
            filter, update, isMulti: !isPlaced, hint: ["_id": 1],
            collation: isBinary ? ["locale": "simple"] : nil)
    }

    /// The properties that documents of several groups must have in common to be restored by one statement.
    struct Likeness: Hashable {
        /// The changed fields as they were before the job.
        let before: BSONDocument
        /// The names of the fields that the job changed and that the documents have now.
        ///
        /// The names are stored as bytes. As strings, two names would be equal even if they encode é by different code
        /// points.
        let present: [[UInt8]]
        /// The names of the fields that the job changed and that the documents do not have now.
        let missing: [[UInt8]]
    }

    /// The properties that decide with which documents of other groups this document can share a statement.
    ///
    /// `nil` if one of the changed fields has a value that cannot be compared with a list of values.
    var likeness: Likeness? {
        get throws(BSONError) {
            let view = current.view
            var (present, missing): ([[UInt8]], [[UInt8]]) = ([], [])
            for name in group.names {
                guard let element = try view.find(name) else {
                    missing.append(Array(name.utf8))
                    continue
                }
                guard element.isSimple else { return nil }
                present.append(Array(name.utf8))
            }
            return Likeness(before: group.before, present: present, missing: missing)
        }
    }
}
