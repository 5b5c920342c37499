package import BSON
package import Mongo

/// The collection `leftalone`: documents that an undo leaves as they are, and why.
package struct LeftAloneStore {
    let client: StoreClient
    let job: String

    private static let collection = "leftalone"

    /// A document that is left alone.
    package struct Entry {
        /// Its `_id`.
        package var id: BSONValue
        /// The other collection that it is of; `nil` for the job's own.
        package var namespace: Namespace?
        /// Why.
        package var reason: String
        /// The server's code, where it refused the document.
        package var code: Int?
    }

    /// Records documents of the job's collection, or of another one.
    package func add(
        _ ids: [BSONValue], of namespace: Namespace? = nil, because reason: String, code: Int? = nil
    ) throws(MongoError) {
        var fields: BSONDocument = ["reason": .string(reason)]
        if let code { fields = fields.appending("code", .integer(code)) }
        try client.upsert(Self.collection, ids: ids.map { key($0, namespace) }, fields)
    }

    /// Takes back that documents of the job's collection are left alone.
    package func remove(_ ids: [BSONValue]) throws(MongoError) {
        try client.delete(Self.collection, ids: ids.map { key($0, nil) })
    }

    /// All that are recorded of the job's collection, or of others.
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

    /// Forgets those of other collections: they are looked at again.
    package func dropOthers() throws(MongoError) { try client.deleteAll(Self.collection, others) }

    /// Forgets all.
    /// - Parameter between: called now and then.
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
