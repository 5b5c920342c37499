import BSON
import Jobs
import Mongo

/// A document that a chunk made in another collection, as the journal holds it.
struct CreatedChild: Hashable {
    let namespace: Namespace
    let id: BSONValue
    /// Of the whole document, as it was made.
    let digest: JournalDigest

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

extension StateStore {
    /// What one attempt made in other collections.
    struct CreatedChildren {
        /// The attempt's number in the journal.
        var sequence: Int64
        var children: [CreatedChild]
    }

    /// What the newest attempt before this one made that made anything.
    func createdChildren(before sequence: Int64?) throws(MongoError) -> CreatedChildren? {
        let job = BSONValue.string(job)
        let end: BSONValue =
            sequence.map { ["job": job, "range": 0, "seq": .long($0), "part": 0] } ?? ["job": job, "range": .maxKey]
        let journal = client.client.collection(Namespace(database: client.database, collection: "journal"))
        var cursor = journal.find(
            ["_id": ["$gte": ["job": job], "$lt": end], "created": ["$exists": true]],
            options: [
                "sort": ["_id": -1], "limit": 1, "projection": ["created": 1], "readConcern": ["level": "majority"],
            ])
        guard let found = try cursor.nextDocument(), let sequence = found["_id"]?.document?["seq"]?.integer else {
            return nil
        }
        return CreatedChildren(
            sequence: Int64(sequence),
            children: (found["created"]?.document?.values ?? []).compactMap { CreatedChild($0) })
    }
}
