package import BSON
import Concurrency
import Jobs
package import Mongo

/// The few operations that the state database needs, each with majority concerns and a limit in time.
///
/// The stores of a job share one; used on one thread.
package final class StoreClient {
    package let database: String
    package let client: Client

    /// Takes over a client.
    package init(database: String, client: consuming Client) {
        self.database = database
        self.client = client
    }

    private static let limit: BSONValue = 10_000
    private static let majority: BSONValue = ["w": "majority", "wtimeout": 10_000]

    /// Every write to the state database goes through here.
    @discardableResult
    private func write(_ command: BSONDocument, on database: String) throws(MongoError) -> BSONDocument {
        FaultInjection.reached(.beforeStateWrite)
        let reply = try client.runWriteCommand(command, on: database)
        FaultInjection.reached(.afterStateWrite)
        return reply
    }

    /// One document; `fields` are computed by the server and added to it.
    /// - Parameter projection: which of its own fields are read; `nil` reads them all.
    package func first(
        _ collection: String, _ filter: BSONDocument, adding fields: BSONDocument? = nil,
        projecting projection: BSONDocument? = nil
    ) throws(MongoError) -> BSONDocument? {
        var pipeline: [BSONDocument] = [["$match": .object(filter)], ["$limit": 1]]
        if let projection { pipeline.append(["$project": .object(projection)]) }
        if let fields { pipeline.append(["$set": .object(fields)]) }
        var cursor = client.collection(Namespace(database: database, collection: collection)).aggregate(
            pipeline, options: ["readConcern": ["level": "majority"], "maxTimeMS": Self.limit])
        return try cursor.nextDocument()
    }

    /// The primary's time, in milliseconds since 1970.
    func now() throws(MongoError) -> Int64 {
        guard case .date(let now)? = try client.hello().reply["localTime"] else { return 0 }
        return now
    }

    /// Updates one document with a pipeline and gives it back as it is then; `nil` when none fits.
    func modify(
        _ collection: String, _ filter: BSONDocument, _ pipeline: [BSONDocument]
    ) throws(MongoError) -> BSONDocument? {
        let reply = try write(
            [
                "findAndModify": .string(collection), "query": .object(filter),
                "update": .array(of: pipeline.map { .object($0) }), "new": true, "maxTimeMS": Self.limit,
                "writeConcern": Self.majority,
            ], on: database)
        return reply["value"]?.document
    }

    /// Updates the documents that fit with a pipeline.
    /// - Returns: the reply, with `n` and the term of the primary.
    func update(
        _ collection: String, _ filter: BSONDocument, _ pipeline: [BSONDocument]
    ) throws(MongoError) -> BSONDocument {
        try write(
            [
                "update": .string(collection),
                "updates": [["q": .object(filter), "u": .array(of: pipeline.map { .object($0) })]],
                "maxTimeMS": Self.limit, "writeConcern": Self.majority,
            ], on: database)
    }

    /// Puts a document with the server's time as `at` in the place of the one that is there, if any; idempotent.
    package func put(_ collection: String, id: BSONValue, _ document: BSONDocument) throws(MongoError) {
        let merged: BSONValue = ["$mergeObjects": [["_id": "$_id", "at": "$$NOW"], ["$literal": .object(document)]]]
        try write(
            [
                "update": .string(collection),
                "updates": [["q": ["_id": id], "u": [["$replaceWith": merged]], "upsert": true]],
                "maxTimeMS": Self.limit, "writeConcern": Self.majority,
            ], on: database)
    }

    /// Creates a document with the server's time as `created`, unless there is one; idempotent.
    package func createIfAbsent(_ collection: String, id: BSONValue, _ document: BSONDocument) throws(MongoError) {
        // A write that changes nothing waits for a transaction that holds the document; a read does not.
        guard try first(collection, ["_id": id], projecting: ["_id": 1]) == nil else { return }
        let merged: BSONValue = ["$mergeObjects": [["$literal": .object(document)], ["created": "$$NOW"], "$$ROOT"]]
        do {
            try write(
                [
                    "update": .string(collection),
                    "updates": [["q": ["_id": id], "u": [["$replaceWith": merged]], "upsert": true]],
                    "maxTimeMS": Self.limit, "writeConcern": Self.majority,
                ], on: database)
        } catch  where error.code == .duplicateKey {
            return  // Another runner created it at the same moment.
        }
    }

    /// Adds a document; one that is there already is this one, of an attempt whose reply was lost.
    /// - Parameter isFinal: whether it waits for a majority.
    /// - Returns: the reply, with the primary's term; of one that was there already it names none.
    func insert(
        _ collection: String, _ document: BSONDocument, isFinal: Bool
    ) throws(MongoError) -> BSONDocument {
        do {
            return try write(
                [
                    "insert": .string(collection), "documents": [.object(document)], "maxTimeMS": Self.limit,
                    "writeConcern": isFinal ? Self.majority : ["w": 1],
                ], on: database)
        } catch  where error.code == .duplicateKey {
            return [:]
        }
    }

    /// Deletes every document that fits, some at a time.
    /// - Parameter between: called before each of these times.
    package func deleteAll<E: Error>(
        _ collection: String, _ filter: BSONDocument, _ between: () throws(E) -> Void
    ) throws {
        while true {
            try between()
            let cursor = client.collection(Namespace(database: database, collection: collection)).find(
                filter, options: ["projection": ["_id": 1], "limit": 100])
            let ids = try cursor.documents().compactMap { $0["_id"] }
            guard !ids.isEmpty else { return }
            try delete(collection, ids: ids)
        }
    }

    /// Deletes every document that fits, some at a time.
    package func deleteAll(_ collection: String, _ filter: BSONDocument) throws(MongoError) {
        do { try deleteAll(collection, filter) {} } catch let error as MongoError {
            throw error
        } catch {
            preconditionFailure("nothing else is thrown: \(error)")
        }
    }

    /// Sets fields in the documents of these `_id`s to what the server computes, and creates those that are missing.
    func upsert(_ collection: String, ids: [BSONValue], _ fields: BSONDocument) throws(MongoError) {
        let upserts = ids.map { id in
            BSONValue.object(["q": ["_id": id], "u": [["$set": .object(fields)]], "upsert": true])
        }
        for slice in upserts.commandSlices(count: 500) {
            try write(
                [
                    "update": .string(collection), "updates": .array(of: slice),
                    "ordered": false, "maxTimeMS": Self.limit, "writeConcern": Self.majority,
                ], on: database)
        }
    }

    /// Makes an index; one that is there already stays.
    func createIndex(_ collection: String, _ key: BSONDocument, name: String) throws(MongoError) {
        try write(
            [
                "createIndexes": .string(collection), "indexes": [["key": .object(key), "name": .string(name)]],
                "maxTimeMS": Self.limit, "writeConcern": Self.majority,
            ], on: database)
    }

    /// Deletes the documents of these `_id`s.
    package func delete(_ collection: String, ids: [BSONValue]) throws(MongoError) {
        for slice in ids.commandSlices() {
            try write(
                [
                    "delete": .string(collection),
                    "deletes": [["q": ["_id": ["$in": .array(of: slice)]], "limit": 0]],
                    "maxTimeMS": Self.limit, "writeConcern": Self.majority,
                ], on: database)
        }
    }

    /// Deletes every document that fits.
    package func delete(_ collection: String, where filter: BSONDocument) throws(MongoError) {
        try write(
            [
                "delete": .string(collection), "deletes": [["q": .object(filter), "limit": 0]],
                "maxTimeMS": Self.limit, "writeConcern": Self.majority,
            ], on: database)
    }

    /// Every document that fits; `fields` are computed by the server and added to each.
    package func all(_ collection: String, _ filter: BSONDocument, adding fields: BSONDocument? = nil) -> Cursor {
        var pipeline: [BSONDocument] = [["$match": .object(filter)]]
        if let fields { pipeline.append(["$set": .object(fields)]) }
        return client.collection(Namespace(database: database, collection: collection)).aggregate(
            pipeline, options: ["readConcern": ["level": "majority"]])
    }

    /// How many documents fit, by the value of a field.
    package func counts(_ collection: String, _ filter: BSONDocument, by field: String) throws(MongoError)
        -> [BSONDocument]
    {
        let cursor = client.collection(Namespace(database: database, collection: collection)).aggregate(
            [
                ["$match": .object(filter)], ["$group": ["_id": .string("$\(field)"), "count": ["$sum": 1]]],
                ["$sort": ["_id": 1]],
            ], options: ["readConcern": ["level": "majority"]])
        return try cursor.documents()
    }

    /// The values that a field has in the documents that fit: with an index over both, the server reads one key of each.
    package func values(_ collection: String, _ filter: BSONDocument, of field: String) throws(MongoError)
        -> [BSONValue]
    {
        let cursor = client.collection(Namespace(database: database, collection: collection)).aggregate(
            [["$match": .object(filter)], ["$group": ["_id": .string("$\(field)")]]],
            options: ["readConcern": ["level": "majority"]])
        return try cursor.documents().compactMap { $0["_id"] }
    }

    /// The `_id`s of a collection's documents, in their order.
    package func ids(_ collection: String) throws(MongoError) -> [BSONValue] {
        let cursor = client.collection(Namespace(database: database, collection: collection)).find(
            [:], options: ["readConcern": ["level": "majority"], "projection": ["_id": 1], "sort": ["_id": 1]])
        return try cursor.documents().compactMap { $0["_id"] }
    }

    /// How many documents fit.
    package func count(_ collection: String, _ filter: BSONDocument) throws(MongoError) -> Int {
        var cursor = client.collection(Namespace(database: database, collection: collection)).aggregate(
            [["$match": .object(filter)], ["$count": "n"]], options: ["readConcern": ["level": "majority"]])
        return try cursor.nextDocument()?["n"]?.integer ?? 0
    }

    /// Sets fields of a record that is there to what the server computes; for what no lease guards.
    package func note(_ collection: String, _ filter: BSONDocument, _ fields: BSONDocument) throws(MongoError) {
        try set(collection, filter, fields)
    }

    /// Sets fields in every document that fits to what the server computes.
    func set(_ collection: String, _ filter: BSONDocument, _ fields: BSONDocument) throws(MongoError) {
        try write(
            [
                "update": .string(collection),
                "updates": [["q": .object(filter), "u": [["$set": .object(fields)]], "multi": true]],
                "maxTimeMS": Self.limit, "writeConcern": Self.majority,
            ], on: database)
    }
}
