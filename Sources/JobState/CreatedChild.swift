package import BSON
import Jobs
import Mongo

/// A document that a chunk created in another collection, as the journal holds it.
package struct CreatedChild: Hashable {
    package let namespace: Namespace
    package let id: BSONValue
    /// The digest of the whole document, as it was created.
    package let digest: JournalDigest

    init(_ creation: ClientCreation) {
        namespace = creation.namespace
        id = creation.document["_id"] ?? .null
        digest = JournalDigest(of: creation.document)
    }

    init?(_ value: BSONValue) {
        guard let document = value.document, let namespace = document["ns"]?.text.flatMap({ Namespace($0) }),
            let id = document["id"], let digest = JournalDigest(document["a"])
        else { return nil }
        (self.namespace, self.id, self.digest) = (namespace, id, digest)
    }

    var bson: BSONValue { ["ns": .string(namespace.description), "id": id, "a": digest.bson] }
}
