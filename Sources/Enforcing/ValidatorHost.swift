package import BSON
package import JobState
package import Mongo

/// A collection as it was read during its enforcement.
package struct SeenCollection: Sendable {
    /// The way it validates what is written to it.
    package var validation: Validation
    /// The UUID, which distinguishes it from another collection of the same name.
    package var uuid: BSONValue

    /// Creates a collection from its parts.
    package init(_ validation: Validation, uuid: BSONValue) { (self.validation, self.uuid) = (validation, uuid) }
}

/// The deployment that holds a collection, or a substitute for one that is not available.
package protocol ValidatorHost {
    /// Reads the collection as it is now.
    /// - Throws: ``RunError`` if it does not exist or is not an ordinary collection; ``MongoError``.
    func read(_ namespace: Namespace) throws -> SeenCollection
    /// Changes the collection.
    /// - Throws: ``MongoError``.
    func change(_ command: BSONDocument, of namespace: Namespace) throws
}

/// A deployment that one user reads and perhaps another user changes.
package struct DeploymentHost: ValidatorHost, Sendable {
    private let reading: ClientPool
    private let changing: ClientPool

    /// Creates a host; opens no connection yet.
    /// - Parameters:
    ///   - reading: connections that read from the primary.
    ///   - changing: connections of the user that may run `collMod`.
    package init(reading: ClientPool, changing: ClientPool) { (self.reading, self.changing) = (reading, changing) }

    /// Reads the collection from the primary.
    package func read(_ namespace: Namespace) throws -> SeenCollection {
        guard let info = try reading.client().collectionInfo(namespace) else {
            throw RunError(.unknownCollection, "there is no collection \(namespace): create it first")
        }
        guard info.kind == .collection else {
            throw RunError(
                .unsupportedCollection, "\(namespace) is a \(info.kind): it has no validator of its own")
        }
        return SeenCollection(info.validation, uuid: info.uuid ?? .null)
    }

    /// Runs a `collMod` command with majority.
    package func change(_ command: BSONDocument, of namespace: Namespace) throws {
        // For "constraint" the server reads every document first, so that command has no time limit.
        let reads = command["validationLevel"]?.text == "constraint"
        let bounded = reads ? command : command.appending("maxTimeMS", 10_000)
        try changing.client().runWriteCommand(
            bounded.appending("writeConcern", ["w": "majority", "wtimeout": 10_000]), on: namespace.database)
    }
}
