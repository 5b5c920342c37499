import BSON
import Jobs
import Mongo
import ServerSchema

/// What the state database knows of a job's undo.
extension StateStore {
    private static let leftAlone = "leftalone"

    /// An undo that was begun.
    struct Undoing: Hashable {
        /// When, by the server's clock.
        var begun: ServerTime?
        /// When it was done; `nil` while it is not.
        var ended: ServerTime?
        /// What is taken back already: everything that is newer.
        var position: JournalPosition?
        /// What was taken back so far.
        var restored = 0
        /// The attempt up to which documents of other collections were removed; `nil` before the first.
        var children: Int64?
        /// How many were so far.
        var removed = 0

        init(_ document: BSONDocument) {
            begun = ServerTime(document["begun"])
            ended = ServerTime(document["ended"])
            position = document["at"]?.document.flatMap(JournalPosition.init)
            restored = document["restored"]?.integer ?? 0
            children = document["children"]?.integer.map { Int64($0) }
            removed = document["removed"]?.integer ?? 0
        }

        /// Why the job cannot run.
        func refusal(of job: String) -> BackfillError {
            let state = ended.map { "was undone at \($0)" } ?? "is being undone"
            let way =
                ended == nil ? "end it with: shipshape undo \(job)" : "to do it once more, give the job a new name"
            return BackfillError(.undoRefused, "job \"\(job)\" \(state); \(way)")
        }
    }

    /// The job's undo; `nil` when none was begun.
    func undoing() throws(MongoError) -> Undoing? {
        try client.first("ranges", ["_id": range])?["undo"]?.document.map(Undoing.init)
    }

    /// The changes that record how far an undo is.
    static func undone(to position: JournalPosition, restored: Int) -> BSONDocument {
        [
            "undo.at": ["$literal": .object(position.document)], "undo.restored": .integer(restored),
            "active": "$$NOW",
        ]
    }

    /// The changes that record how far the removal of documents in other collections is.
    static func childrenRemoved(to sequence: Int64, count: Int) -> BSONDocument {
        ["undo.children": .long(sequence), "undo.removed": .integer(count), "active": "$$NOW"]
    }

    /// The changes that end an undo.
    static var undoEnded: BSONDocument { ["undo.ended": "$$NOW", "state": "undone", "active": "$$NOW"] }

    /// Records documents that the undo leaves alone.
    func leave(_ ids: [BSONValue], because reason: UndoReport.Reason, code: Int?) throws(MongoError) {
        var fields: BSONDocument = ["reason": .string(reason.rawValue)]
        if let code { fields = fields.appending("code", .integer(code)) }
        try client.upsert(
            Self.leftAlone, ids: ids.map { .object(["job": .string(job), "id": $0]) }, fields)
    }

    /// Takes back that documents are left alone.
    func unleave(_ ids: [BSONValue]) throws(MongoError) {
        try client.delete(Self.leftAlone, ids: ids.map { .object(["job": .string(job), "id": $0]) })
    }

    /// The documents that the undo left alone.
    func leftAloneIDs() throws -> [(id: BSONValue, left: UndoReport.LeftDocument)] {
        var cursor = client.all(Self.leftAlone, of(job))
        var found: [(id: BSONValue, left: UndoReport.LeftDocument)] = []
        while let document = try cursor.nextDocument() {
            guard let key = document["_id"]?.document, key["ns"] == nil, let id = key["id"],
                let reason = document["reason"]?.text.flatMap(UndoReport.Reason.init)
            else { continue }
            found.append((id, UndoReport.LeftDocument(reason: reason, code: document["code"]?.integer)))
        }
        return found
    }

    /// Records documents of another collection that the undo leaves there.
    func leave(
        children ids: [BSONValue], of namespace: Namespace, because reason: UndoReport.ChildReason
    ) throws(MongoError) {
        try client.upsert(
            Self.leftAlone,
            ids: ids.map { .object(["job": .string(job), "id": $0, "ns": .string(namespace.description)]) },
            ["reason": .string(reason.rawValue)])
    }

    /// The documents of other collections that the undo left there.
    func leftChildren() throws(MongoError) -> ChildTally {
        var cursor = client.all(Self.leftAlone, children)
        var found = ChildTally()
        while let document = try cursor.nextDocument() {
            guard let key = document["_id"]?.document, let id = key["id"],
                let namespace = key["ns"]?.text.flatMap({ Namespace($0) }),
                let reason = document["reason"]?.text.flatMap(UndoReport.ChildReason.init)
            else { continue }
            found.leave(id, of: namespace, because: reason)
        }
        return found
    }

    /// Forgets them: they are looked at again.
    func dropLeftChildren() throws(MongoError) { try client.deleteAll(Self.leftAlone, children) }

    private var children: BSONDocument { ["$and": [.object(of(job)), ["_id.ns": ["$exists": true]]]] }

    private func of(_ job: String) -> BSONDocument {
        ["_id": ["$gte": ["job": .string(job)], "$lt": ["job": .string(job), "id": .maxKey]]]
    }

    /// Forgets what the undo left alone.
    /// - Parameter between: called now and then.
    func dropLeftAlone(_ between: () throws -> Void) throws {
        try client.deleteAll(Self.leftAlone, of(job), between)
    }

    /// A later job that wrote a field of this one, unless it was undone itself: its name.
    func laterWriter(of record: BSONDocument) throws -> String? {
        let touched = record.touched
        guard let created = record["created"], let namespace = record["ns"] else { return nil }
        var cursor = client.all("jobs", ["ns": namespace, "created": ["$gt": created], "_id": ["$ne": .string(job)]])
        while let later = try cursor.nextDocument() {
            guard let name = later["_id"],
                later.touched.contains(where: { one in touched.contains { one.overlaps($0) } })
            else { continue }
            if try hasWritten(name) { return name.text }
        }
        return nil
    }

    /// Whether another job, unless it was undone, names a collection: it may count on documents there that this one made,
    /// be it that it found what it would have made itself.
    func isNamedElsewhere(_ namespace: Namespace) throws(MongoError) -> Bool {
        var cursor = client.all("jobs", ["_id": ["$ne": .string(job)]])
        while let other = try cursor.nextDocument() {
            guard let name = other["_id"], other["text"]?.text?.contains(namespace.description) ?? false else {
                continue
            }
            if try hasWritten(name) { return true }
        }
        return false
    }

    /// Whether a job may have changed documents, and was not undone.
    private func hasWritten(_ job: BSONValue) throws(MongoError) -> Bool {
        try client.count(
            "ranges",
            [
                "_id.job": job, "undo.ended": ["$exists": false],
                "$or": [["modified": ["$gt": 0]], ["lease": ["$exists": true]]],
            ]) > 0
    }
}

extension BSONDocument {
    /// The paths that the job of this record writes.
    var touched: [FieldPath] {
        (self["touched"]?.document?.values ?? []).compactMap { $0.text.flatMap { try? FieldPath($0) } }
    }
}
