package import BSON
import Concurrency
import Jobs
package import Mongo

/// The operations that the state database needs, most of them with majority read or write concern and a time limit.
///
/// All stores of a job share one client; use it on one thread.
package final class StoreClient {
    package let database: String
    package let client: Client

    package init(database: String, client: consuming Client) {
        self.database = database
        self.client = client
    }

    private static let limit: BSONValue = 10_000
    private static let majority: BSONValue = ["w": "majority", "wtimeout": 5_000]

    func collection(_ name: String) -> MongoCollection {
        client.collection(Namespace(database: database, collection: name))
    }

    /// Runs a write command that waits for a majority; every write by this class goes through this method.
    @discardableResult
    private func write(_ command: BSONDocument) throws(MongoError) -> BSONDocument {
        let bounded = command.appending("maxTimeMS", Self.limit).appending("writeConcern", Self.majority)
        FaultInjection.reached(.beforeStateWrite)
        let reply = try client.runWriteCommand(bounded, on: database)
        FaultInjection.reached(.afterStateWrite)
        return reply
    }

    /// Returns the first document that matches, with `fields` added; `nil` if none matches.
    /// - Parameters:
    ///   - fields: the fields to add, as expressions that the server evaluates.
    ///   - projection: the fields of the stored document to read; `nil` reads them all.
    package func first(
        _ collection: String, _ filter: BSONDocument, adding fields: BSONDocument? = nil,
        projecting projection: BSONDocument? = nil
    ) throws(MongoError) -> BSONDocument? {
        var pipeline: [BSONDocument] = [["$match": .object(filter)], ["$limit": 1]]
        if let projection { pipeline.append(["$project": .object(projection)]) }
        if let fields { pipeline.append(["$set": .object(fields)]) }
        var cursor = self.collection(collection).aggregate(
            pipeline, options: ["readConcern": ["level": "majority"], "maxTimeMS": Self.limit])
        return try cursor.nextDocument()
    }

    /// Returns the primary's time, in milliseconds since 1970; 0 if its reply has no time.
    func now() throws(MongoError) -> Int64 {
        guard case .date(let now)? = try client.hello().reply["localTime"] else { return 0 }
        return now
    }

    /// Updates one matching document by an aggregation pipeline, and returns the updated document; `nil` if none
    /// matches.
    func modify(
        _ collection: String, _ filter: BSONDocument, _ pipeline: [BSONDocument]
    ) throws(MongoError) -> BSONDocument? {
        let reply = try write([
            "findAndModify": .string(collection), "query": .object(filter),
            "update": .array(of: pipeline.map { .object($0) }), "new": true,
        ])
        return reply["value"]?.document
    }

    /// Replaces the document with this `_id`, or creates it, and adds the server's time as `at`; idempotent.
    package func put(_ collection: String, id: BSONValue, _ document: BSONDocument) throws(MongoError) {
        try replace(collection, id, by: [["_id": "$_id", "at": "$$NOW"], ["$literal": .object(document)]])
    }

    /// Creates a document with the server's time as `created`, unless it exists; idempotent.
    package func createIfAbsent(_ collection: String, id: BSONValue, _ document: BSONDocument) throws(MongoError) {
        // A read comes first, because even a write that changes nothing would wait for an open transaction that has
        // changed the document.
        guard try first(collection, ["_id": id], projecting: ["_id": 1]) == nil else { return }
        do {
            try replace(collection, id, by: [["$literal": .object(document)], ["created": "$$NOW"], "$$ROOT"])
        } catch  where error.code == .duplicateKey {
            return  // Another runner created the document at the same time.
        }
    }

    private func replace(_ collection: String, _ id: BSONValue, by merged: BSONValue) throws(MongoError) {
        let update: BSONValue = [["$replaceWith": ["$mergeObjects": merged]]]
        try write([
            "update": .string(collection), "updates": [["q": ["_id": id], "u": update, "upsert": true]],
        ])
    }

    /// Inserts a document.
    ///
    /// If a document with its `_id` exists, the insert counts as done, because the reply to an earlier attempt may have
    /// been lost.
    func insert(_ collection: String, _ document: BSONDocument) throws(MongoError) {
        do {
            try write(["insert": .string(collection), "documents": [.object(document)]])
        } catch  where error.code == .duplicateKey {}
    }

    /// Deletes every document that matches, in batches.
    /// - Parameter between: called before each batch.
    package func deleteAll(
        _ collection: String, _ filter: BSONDocument, _ between: () throws -> Void = {}
    ) throws {
        while true {
            try between()
            let cursor = self.collection(collection).find(filter, options: ["projection": ["_id": 1], "limit": 100])
            let ids = try cursor.documents().compactMap { $0["_id"] }
            guard !ids.isEmpty else { return }
            try delete(collection, ids: ids)
        }
    }

    /// Sets `fields` in the documents with these `_id`s, and creates the missing documents; the server evaluates each
    /// value as an expression.
    func upsert(_ collection: String, ids: [BSONValue], _ fields: BSONDocument) throws(MongoError) {
        let upserts = ids.map { id in
            BSONValue.object(["q": ["_id": id], "u": [["$set": .object(fields)]], "upsert": true])
        }
        for slice in upserts.commandSlices(count: 500) {
            try write(["update": .string(collection), "updates": .array(of: slice), "ordered": false])
        }
    }

    /// Creates an index, unless it exists.
    func createIndex(_ collection: String, _ key: BSONDocument, name: String) throws(MongoError) {
        try write([
            "createIndexes": .string(collection), "indexes": [["key": .object(key), "name": .string(name)]],
        ])
    }

    package func delete(_ collection: String, ids: [BSONValue]) throws(MongoError) {
        for slice in ids.commandSlices() { try delete(collection, where: ["_id": ["$in": .array(of: slice)]]) }
    }

    package func delete(_ collection: String, where filter: BSONDocument) throws(MongoError) {
        try write(["delete": .string(collection), "deletes": [["q": .object(filter), "limit": 0]]])
    }

    /// Returns a cursor over every document that matches.
    /// - Parameter fields: the fields to add to each document, as expressions that the server evaluates.
    package func all(_ collection: String, _ filter: BSONDocument, adding fields: BSONDocument? = nil) -> Cursor {
        var pipeline: [BSONDocument] = [["$match": .object(filter)]]
        if let fields { pipeline.append(["$set": .object(fields)]) }
        return self.collection(collection).aggregate(
            pipeline, options: ["readConcern": ["level": "majority"]])
    }

    /// Counts the matching documents for each value of a field; each result has the value as `_id` and the number as
    /// `count`.
    package func counts(_ collection: String, _ filter: BSONDocument, by field: String) throws(MongoError)
        -> [BSONDocument]
    {
        let cursor = self.collection(collection).aggregate(
            [
                ["$match": .object(filter)], ["$group": ["_id": .string("$\(field)"), "count": ["$sum": 1]]],
                ["$sort": ["_id": 1]],
            ], options: ["readConcern": ["level": "majority"]])
        return try cursor.documents()
    }

    /// Returns the distinct values of a field in the documents that match; an index over the field and the fields of
    /// the filter makes the query fast.
    package func values(_ collection: String, _ filter: BSONDocument, of field: String) throws(MongoError)
        -> [BSONValue]
    {
        let cursor = self.collection(collection).aggregate(
            [["$match": .object(filter)], ["$group": ["_id": .string("$\(field)")]]],
            options: ["readConcern": ["level": "majority"]])
        return try cursor.documents().compactMap { $0["_id"] }
    }

    /// Returns the `_id`s of a collection's documents in ascending order.
    package func ids(_ collection: String) throws(MongoError) -> [BSONValue] {
        let cursor = self.collection(collection).find(
            [:], options: ["readConcern": ["level": "majority"], "projection": ["_id": 1], "sort": ["_id": 1]])
        return try cursor.documents().compactMap { $0["_id"] }
    }

    package func count(_ collection: String, _ filter: BSONDocument) throws(MongoError) -> Int {
        var cursor = self.collection(collection).aggregate(
            [["$match": .object(filter)], ["$count": "n"]], options: ["readConcern": ["level": "majority"]])
        return try cursor.nextDocument()?["n"]?.integer ?? 0
    }

    /// Sets `fields` in every document that matches; the server evaluates each value as an expression.
    package func set(_ collection: String, _ filter: BSONDocument, _ fields: BSONDocument) throws(MongoError) {
        try write([
            "update": .string(collection),
            "updates": [["q": .object(filter), "u": [["$set": .object(fields)]], "multi": true]],
        ])
    }
}
