package import BSON
package import JobState
package import Mongo

/// The properties of a collection that its enforcement reads.
package struct SeenCollection: Sendable {
    /// The collection's validator and validation settings.
    package var validation: Validation
    /// The UUID; a collection that was dropped and a new one of the same name have different UUIDs.
    package var uuid: BSONValue

    package init(_ validation: Validation, uuid: BSONValue) { (self.validation, self.uuid) = (validation, uuid) }
}

/// An interface that reads and changes the validation of collections: a deployment, or a substitute in tests.
package protocol ValidatorHost {
    /// Reads the current validation and UUID of a collection.
    /// - Throws: ``RunError`` if the collection does not exist or is not an ordinary collection; ``MongoError``.
    func read(_ namespace: Namespace) throws -> SeenCollection
    /// Runs a command that changes the validation of a collection.
    /// - Throws: ``MongoError``.
    func change(_ command: BSONDocument, of namespace: Namespace) throws
}

/// The host that reads and changes the collections of a deployment.
///
/// One user reads the collections, and the same or another user changes them.
package struct DeploymentHost: ValidatorHost, Sendable {
    private let reading: ClientPool
    private let changing: ClientPool

    /// Creates a host, without opening a connection.
    /// - Parameters:
    ///   - reading: connections that read from the primary.
    ///   - changing: connections of a user with the right to run `collMod`.
    package init(reading: ClientPool, changing: ClientPool) { (self.reading, self.changing) = (reading, changing) }

    /// Reads the current validation and UUID of a collection from the primary.
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

    /// Runs a `collMod` command, and waits until a majority of the members has applied it.
    package func change(_ command: BSONDocument, of namespace: Namespace) throws {
        // The server first reads every document for the level "constraint", so this command gets no time limit.
        let reads = command["validationLevel"]?.text == "constraint"
        let bounded = reads ? command : command.appending("maxTimeMS", 10_000)
        try changing.client().runWriteCommand(
            bounded.appending("writeConcern", ["w": "majority", "wtimeout": 10_000]), on: namespace.database)
    }
}
