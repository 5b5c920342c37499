package import BSON
package import Mongo

/// The collection `leftalone`: the documents that the job's undo skipped, and why.
package struct SkippedStore {
    let client: StoreClient
    let job: String

    private static let collection = "leftalone"

    /// A document that an undo skipped.
    package struct Entry {
        package var id: BSONValue
        /// The document's collection, if it is not the job's own; otherwise `nil`.
        package var namespace: Namespace?
        package var reason: String
        /// The server's error code, if the server refused to restore the document; otherwise `nil`.
        package var code: Int?
    }

    /// Records skipped documents of the collection `namespace`, or of the job's own collection if `namespace` is `nil`.
    package func add(
        _ ids: [BSONValue], of namespace: Namespace? = nil, because reason: String, code: Int? = nil
    ) throws(MongoError) {
        var fields: BSONDocument = ["reason": .string(reason)]
        if let code { fields = fields.appending("code", .integer(code)) }
        try client.upsert(Self.collection, ids: ids.map { key($0, namespace) }, fields)
    }

    /// Calls `body` with each record of a document in the job's own collection or, if `ofOthers` is set, in another
    /// collection.
    /// - Throws: ``RunError`` for a damaged record; ``MongoError``.
    package func each(ofOthers: Bool, _ body: (Entry) -> Void) throws {
        var cursor = client.all(Self.collection, ofOthers ? others : all)
        while let document = try cursor.nextDocument() {
            try client.check(document, of: Self.collection)
            guard let key = document["_id"]?.document, let id = key["id"], let reason = document["reason"]?.text,
                ofOthers == (key["ns"] != nil)
            else { continue }
            let namespace = key["ns"]?.text.flatMap { Namespace($0) }
            guard ofOthers == (namespace != nil) else { continue }
            body(Entry(id: id, namespace: namespace, reason: reason, code: document["code"]?.integer))
        }
    }

    /// Deletes the records of documents in other collections.
    ///
    /// Undo calls this before it begins to remove documents from other collections, because it then examines all of
    /// these documents.
    package func dropOthers() throws { try client.deleteAll(Self.collection, others) }

    /// Deletes the records of documents in the job's own collection.
    ///
    /// Undo calls this when it begins, because it then examines all of these documents.
    package func dropOwn() throws {
        try client.deleteAll(Self.collection, ["$and": [.object(all), ["_id.ns": ["$exists": false]]]])
    }

    /// Deletes all records of the documents that the job's undo skipped.
    /// - Parameter between: called before each batch of deletes.
    package func drop(_ between: () throws -> Void) throws { try client.deleteAll(Self.collection, all, between) }

    private func key(_ id: BSONValue, _ namespace: Namespace?) -> BSONValue {
        guard let namespace else { return ["job": .string(job), "id": id] }
        return ["job": .string(job), "id": id, "ns": .string(namespace.description)]
    }

    private var others: BSONDocument { ["$and": [.object(all), ["_id.ns": ["$exists": true]]]] }

    private var all: BSONDocument {
        ["_id": ["$gte": ["job": .string(job)], "$lt": ["job": .string(job), "id": .maxKey]]]
    }
}
