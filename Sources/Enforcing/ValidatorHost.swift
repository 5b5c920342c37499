package import BSON
package import JobState
package import Mongo

/// A collection as it is seen on its road.
package struct SeenCollection: Sendable {
    /// How it judges what is written to it.
    package var validation: Validation
    /// What tells it from another one of its name.
    package var uuid: BSONValue

    /// Joins the two.
    package init(_ validation: Validation, uuid: BSONValue) { (self.validation, self.uuid) = (validation, uuid) }
}

/// Where a collection is: a deployment, or what stands in for one that is not at hand.
package protocol ValidatorHost {
    /// The collection as it is now.
    /// - Throws: ``RunError`` where there is none, or no such a one; ``MongoError``.
    func read(_ namespace: Namespace) throws -> SeenCollection
    /// Changes the collection.
    /// - Throws: ``MongoError``.
    func change(_ command: BSONDocument, of namespace: Namespace) throws
}

/// A deployment, which one user reads and maybe another one changes.
package struct DeploymentHost: ValidatorHost, Sendable {
    private let reading: ClientPool
    private let changing: ClientPool

    /// Opens nothing yet.
    /// - Parameters:
    ///   - reading: reads from the primary.
    ///   - changing: of the user that may run `collMod`.
    package init(reading: ClientPool, changing: ClientPool) { (self.reading, self.changing) = (reading, changing) }

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

    package func change(_ command: BSONDocument, of namespace: Namespace) throws {
        // The server looks at every document before it vouches for them: that takes as long as it takes.
        let reads = command["validationLevel"]?.text == "constraint"
        let bounded = reads ? command : command.appending("maxTimeMS", 10_000)
        try changing.client().runWriteCommand(
            bounded.appending("writeConcern", ["w": "majority", "wtimeout": 10_000]), on: namespace.database)
    }
}
