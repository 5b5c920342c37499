package import BSON
import JobState
package import Mongo
import ServerSchema

/// The collection that a job writes, as the server knows it.
package struct Target {
    /// Its UUID, which changes when it is dropped and created anew; `nil` where the server gives none.
    package let uuid: BSONValue?
    /// Whether the server compares the UUID with every write.
    package let checksUUID: Bool
    /// The average document's bytes; `nil` where they cannot be told.
    package let averageSize: Int?
    /// The validator that refuses writes; `nil` where nothing is refused.
    package let validator: RefusingValidator?

    /// Looks the collection up.
    /// - Throws: ``RunError`` when there is none of that name, or it is none that can be written so.
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
            throw RunError(.unsupportedCollection, "\(namespace) is the server's own: it cannot be backfilled")
        }
        guard info.kind == .collection else {
            throw RunError(
                .unsupportedCollection, "\(namespace) is a \(info.kind): it cannot be backfilled")
        }
        // `collectionUUID` is known to commands since 6.0, wire version 17.
        let checksUUID = try client.hello().maxWireVersion >= 17
        return Target(
            uuid: info.uuid, checksUUID: checksUUID, averageSize: averageSize(namespace, on: client),
            validator: RefusingValidator(of: info))
    }

    /// What became of a collection while somebody worked on it, and how to go on; `nil` where it is there as it was.
    package static func fate(
        of namespace: Namespace, _ uuid: BSONValue?, for job: String, on client: borrowing Client
    ) throws(MongoError) -> String? {
        let infos = try client.listCollections(of: namespace.database)
        let now = infos.first { $0.name == namespace.collection }
        guard now == nil || now?.uuid != uuid else { return nil }
        if let uuid, let moved = infos.first(where: { $0.uuid == uuid }) {
            return
                "\(namespace) was renamed to \(namespace.database).\(moved.name) while it ran; rename it back and go on"
        }
        return now == nil
            ? "\(namespace) was dropped while it ran; to run over another one the job needs a new name"
            : "\(namespace) was dropped and created anew while it ran, or moved; \(RunError.rebinding(job)), else give the "
                + "job a new name to run it over the new one"
    }

    private static func averageSize(_ namespace: Namespace, on client: borrowing Client) -> Int? {
        var cursor = client.collection(namespace).aggregate(
            [["$collStats": ["storageStats": [:]]], ["$project": ["size": "$storageStats.avgObjSize"]]])
        // Without the privilege for it the chunk's size goes by documents alone.
        return (try? cursor.nextDocument())?["size"]?.integer
    }
}

/// A validator that refuses writes.
package struct RefusingValidator {
    /// The query that it lets pass.
    package let condition: BSONDocument
    /// Whether a document that does not fit already may be changed.
    package let isModerate: Bool

    /// - Returns: `nil` where the collection refuses nothing.
    init?(of info: CollectionInfo) {
        let validation = info.validation
        guard validation.refuses else { return nil }
        (condition, isModerate) = (validation.validator, validation.level == "moderate")
    }
}
