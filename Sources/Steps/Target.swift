package import BSON
import JobState
package import Mongo
import ServerSchema

/// The collection that a job writes, as the server reports it.
package struct Target: Sendable {
    /// The collection's UUID; `nil` if the server reports none.
    ///
    /// The UUID changes if the collection is dropped and created again.
    package let uuid: BSONValue?
    /// Whether a write command can name the collection's UUID, so that the server refuses the write if the UUID has
    /// changed.
    package let checksUUID: Bool
    /// The UUID to send with each command, so that the server refuses the command if another collection has the same
    /// name now; `nil` if the server cannot compare UUIDs.
    package var checkedUUID: BSONValue? { checksUUID ? uuid : nil }
    /// The size of an average document in bytes; `nil` if it is unknown.
    package let averageSize: Int?
    /// The collection's validator, if the validator refuses writes; otherwise `nil`.
    package let validator: RefusingValidator?

    /// Finds the collection that a job names.
    /// - Throws: ``RunError`` when the collection does not exist, or when a job cannot write it, such as a view;
    ///   ``MongoError``.
    package static func find(_ namespace: Namespace, on client: borrowing Client) throws -> Target {
        let infos = try client.listCollections(of: namespace.database)
        guard let info = infos.first(where: { $0.name == namespace.collection }) else {
            let hint = Spelling.hint(for: namespace.collection, among: infos.map(\.name))
            throw RunError(
                .unknownCollection,
                "there is no collection \(namespace)" + (hint.map { " (\($0))" } ?? "")
                    + (infos.isEmpty ? ": the database \"\(namespace.database)\" has no collections" : ""))
        }
        guard !namespace.collection.hasPrefix("system.") else {
            throw RunError(.unsupportedCollection, "\(namespace) is a system collection: it cannot be backfilled")
        }
        guard info.kind == .collection else {
            throw RunError(
                .unsupportedCollection, "\(namespace) is a \(info.kind): it cannot be backfilled")
        }
        guard info.options["capped"]?.isTrue != true else {
            throw RunError(
                .unsupportedCollection,
                "\(namespace) is a capped collection, which has no transactions: it cannot be backfilled")
        }
        // Commands accept the field `collectionUUID` since MongoDB 6.0, whose wire version is 17.
        let checksUUID = try client.hello().maxWireVersion >= 17
        return Target(
            uuid: info.uuid, checksUUID: checksUUID, averageSize: averageSize(namespace, on: client),
            validator: RefusingValidator(of: info))
    }

    /// Returns a text that says how a collection was renamed, dropped or replaced during a run, and how to fix it;
    /// `nil` if the collection still exists under its UUID.
    package static func fate(
        of namespace: Namespace, _ uuid: BSONValue?, for job: String, on client: borrowing Client
    ) throws(MongoError) -> String? {
        let infos = try client.listCollections(of: namespace.database)
        let now = infos.first { $0.name == namespace.collection }
        guard now == nil || now?.uuid != uuid else { return nil }
        if let uuid, let moved = infos.first(where: { $0.uuid == uuid }) {
            return
                "\(namespace) was renamed to \(namespace.database).\(moved.name) while the job ran; rename it back and "
                + "run it again"
        }
        return now == nil
            ? "\(namespace) was dropped while the job ran; to run over another collection, give the job a new name"
            : "\(namespace) was moved, or dropped and created again, while the job ran; \(RunError.rebinding(job)); "
                + "otherwise give the job a new name to run it over the new collection"
    }

    private static func averageSize(_ namespace: Namespace, on client: borrowing Client) -> Int? {
        var cursor = client.collection(namespace).aggregate(
            [["$collStats": ["storageStats": [:]]], ["$project": ["size": "$storageStats.avgObjSize"]]])
        // The size is unknown if the user lacks the privilege for `$collStats`. The size of a chunk then depends on the
        // number of documents alone.
        return (try? cursor.nextDocument())?["size"]?.integer
    }
}

/// A collection's validator that makes the server refuse writes of documents that do not fit.
package struct RefusingValidator: Sendable {
    /// The query that a document has to match so that the server accepts a write of the document.
    package let condition: BSONDocument
    /// Whether the collection's validation level is "moderate".
    ///
    /// The server then accepts an update of a document that did not fit before the update, even if it does not fit
    /// afterwards.
    package let isModerate: Bool

    /// Reads the validator of a collection; `nil` if the collection refuses no writes.
    init?(of info: CollectionInfo) {
        let validation = info.validation
        guard validation.refuses else { return nil }
        (condition, isModerate) = (validation.validator, validation.level == "moderate")
    }
}
