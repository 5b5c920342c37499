package import BSON
package import Checking
package import Mongo

/// Reads the ledger of unsynced documents; nothing here can write.
///
/// Source: `semantics.md` section 7.
package struct LedgerReader {
    /// The ledger's collection.
    package let collection: MongoCollection
    /// The app whose entries count, as the ledger or the operator spells it; `nil` when no entry names one.
    package let appID: BSONValue?

    /// Opens the ledger; `nil` when there is no such collection.
    /// - Parameter appID: the app whose entries count; `nil` takes the app with the most, as the limit is per app.
    /// - Throws: ``MongoError`` when it cannot be told, for instance for want of a privilege.
    package static func open(
        _ namespace: Namespace, appID: String?, on client: borrowing Client
    ) throws(MongoError) -> LedgerReader? {
        guard try client.readableCollection(namespace) != nil else { return nil }
        let collection = client.collection(namespace)
        if let appID { return LedgerReader(collection: collection, appID: .string(appID)) }
        var largest = collection.aggregate(
            [["$sortByCount": "$appId"], ["$limit": 1]], options: options)
        return LedgerReader(collection: collection, appID: try largest.nextDocument()?["_id"])
    }

    /// Entries may hold the app's id as an ObjectId or as its digits.
    private var filter: BSONDocument {
        guard let appID, appID != .null else { return [:] }
        let objectID = appID.text.flatMap { ObjectID($0) }.map { BSONValue.objectID($0) }
        // An app's own database need not say in each entry whose it is.
        let isOwn = appID.text == LedgerFinder.appID(of: collection.namespace.database)
        return ["appId": ["$in": .array(of: [appID] + (objectID.map { [$0] } ?? []) + (isOwn ? [.null] : []))]]
    }

    /// The distinct documents that the ledger holds for the app.
    /// - Throws: ``MongoError``.
    package func count() throws(MongoError) -> Int {
        var cursor = collection.aggregate(
            [
                ["$match": .object(filter)], ["$group": ["_id": ["ns": "$ns", "id": "$documentId"]]],
                ["$count": "n"],
            ], options: Self.options)
        return try cursor.nextDocument()?["n"]?.integer ?? 0
    }

    /// The documents that the ledger holds for the app; memory grows with them, and so is bounded by the limit.
    /// - Throws: ``MongoError``, or ``BSONError`` for a damaged entry.
    package func index() throws -> LedgerIndex {
        var index = LedgerIndex()
        var cursor = collection.find(filter, options: Self.options)
        while let entry = try cursor.next() { try index.insert(entry: entry) }
        return index
    }

    /// Which of these documents the ledger holds for the app.
    /// - Throws: ``MongoError``, or ``BSONError`` for a damaged entry.
    package func holding(_ ids: [BSONValue], of namespace: Namespace) throws -> [BSONValue] {
        // The ledger may spell an ObjectId as its digits; numbers the server compares by value.
        let digits = ids.compactMap { id in
            if case .objectID(let id) = id { BSONValue.string(id.description) } else { nil as BSONValue? }
        }
        var index = LedgerIndex()
        for slice in (ids + digits).commandSlices() {
            let entries: BSONDocument = [
                "ns.db": .string(namespace.database), "ns.coll": .string(namespace.collection),
                "documentId": ["$in": .array(of: slice)],
            ]
            var cursor = collection.find(["$and": [.object(filter), .object(entries)]], options: Self.options)
            while let entry = try cursor.next() { try index.insert(entry: entry) }
        }
        return ids.filter { index.contains($0, in: namespace) }
    }

    private static var options: BSONDocument {
        ["readConcern": ["level": "majority"], "maxTimeMS": 60_000, "comment": "shipshape ledger"]
    }
}
