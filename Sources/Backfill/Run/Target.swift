import BSON
import JobState
import Mongo
import ServerSchema

/// A validator that refuses writes, and what it takes to ask the server beforehand what that would be.
struct RefusingValidator {
    let condition: BSONDocument
    /// Whether a document that does not fit already may be changed.
    let isModerate: Bool
    /// The collation by which it compares texts; `nil` for the simple one.
    let collation: BSONDocument?
    /// Whether the server takes documents of ours into a pipeline.
    let canBeAsked: Bool

    /// - Returns: `nil` where the collection refuses nothing.
    init?(of info: CollectionInfo, wireVersion: Int) {
        let validation = info.validation
        guard validation.refuses else { return nil }
        (condition, collation) = (validation.validator, info.collation)
        isModerate = validation.level == "moderate"
        // `$documents` is known since 5.1, wire version 14.
        canBeAsked = wireVersion >= 14
    }
}

/// The collection that a job writes, as the server knows it.
struct Target {
    /// Its UUID, which changes when it is dropped and created anew; `nil` where the server gives none.
    let uuid: BSONValue?
    /// Whether the server compares the UUID with every write.
    let checksUUID: Bool
    /// The average document's bytes; `nil` where they cannot be told.
    let averageSize: Int?
    /// The validator that refuses writes; `nil` where nothing is refused.
    let validator: RefusingValidator?

    /// Looks the collection up.
    /// - Throws: ``BackfillError`` when there is none of that name, or it is none that can be written so.
    static func find(_ namespace: Namespace, on client: borrowing Client) throws -> Target {
        let infos = try client.listCollections(of: namespace.database)
        guard let info = infos.first(where: { $0.name == namespace.collection }) else {
            let hint = Spelling.hint(for: namespace.collection, among: infos.map(\.name))
            throw BackfillError(
                .unknownCollection,
                "there is no collection \(namespace)" + (hint.map { " (\($0))" } ?? "")
                    + (infos.isEmpty ? ": the database \"\(namespace.database)\" has no collections" : ""))
        }
        guard !namespace.collection.hasPrefix("system.") else {
            throw BackfillError(.unsupportedCollection, "\(namespace) is the server's own: it cannot be backfilled")
        }
        guard info.kind == .collection else {
            throw BackfillError(
                .unsupportedCollection, "\(namespace) is a \(info.kind): it cannot be backfilled")
        }
        let wireVersion = try client.hello().maxWireVersion
        let validator = RefusingValidator(of: info, wireVersion: wireVersion)
        // `collectionUUID` is known to commands since 6.0, wire version 17.
        return Target(
            uuid: info.uuid, checksUUID: wireVersion >= 17, averageSize: averageSize(namespace, on: client),
            validator: validator)
    }

    private static func averageSize(_ namespace: Namespace, on client: borrowing Client) -> Int? {
        var cursor = client.collection(namespace).aggregate(
            [["$collStats": ["storageStats": [:]]], ["$project": ["size": "$storageStats.avgObjSize"]]])
        // Without the privilege for it the chunk's size goes by documents alone.
        return (try? cursor.nextDocument())?["size"]?.integer
    }
}
