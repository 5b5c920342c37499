package import BSON
package import Checking
package import Mongo

/// Reads the entries of the chosen apps in the ledgers of unsynced documents; never writes.
///
/// Source: `semantics.md` section 7.
package struct LedgerReader {
    /// The ids of the apps whose entries are read; `nil` among them means entries that name no app.
    package let apps: [String?]
    private let collections: [MongoCollection]

    init(apps: [String?], collections: [MongoCollection]) {
        (self.apps, self.collections) = (apps, collections)
    }

    /// Opens the ledgers that `scope` describes; returns `nil` if no such ledger exists.
    /// - Throws: ``MongoError`` if it is unknown whether a ledger exists, for example because a privilege is missing.
    package static func open(
        _ scope: LedgerScope, on client: borrowing Client
    ) throws(MongoError) -> LedgerReader? {
        let apps = scope.apps
        let ledgers = try LedgerFinder.find(scope.location, apps: apps.ids, on: client)
        guard !ledgers.isEmpty else { return nil }
        var collections: [MongoCollection] = []
        for ledger in ledgers { collections.append(client.collection(ledger)) }
        if case .stated(let ids) = apps { return LedgerReader(apps: ids, collections: collections) }
        let counts = try counts(in: collections)
        let known = apps.ids.filter { counts[$0] != nil }
        guard known.isEmpty else { return LedgerReader(apps: known, collections: collections) }
        let fullest = counts.max { ($0.value, $1.key ?? "") < ($1.value, $0.key ?? "") }
        return LedgerReader(apps: fullest.map { [$0.key] } ?? [], collections: collections)
    }

    /// Returns the number of entries of each app; the key `nil` is for entries that name no app.
    private static func counts(in collections: [MongoCollection]) throws(MongoError) -> [String?: Int] {
        var counts: [String?: Int] = [:]
        for collection in collections {
            var groups = collection.aggregate(
                [["$group": ["_id": LedgerExpression.app(in: collection.namespace), "n": ["$sum": 1]]]],
                options: options)
            while let group = try groups.nextDocument() {
                counts[group["_id"]?.text, default: 0] += group["n"]?.integer ?? 0
            }
        }
        return counts
    }

    private func filter(in collection: MongoCollection) -> BSONDocument {
        LedgerExpression.ofApps(apps, in: collection.namespace)
    }

    /// Returns the number of ledger entries, without counting the documents that they name.
    ///
    /// The limit of unsynced documents applies to the number of entries.
    /// - Throws: ``MongoError``.
    package func entries() throws(MongoError) -> LedgerCount {
        var count = LedgerCount(entries: 0)
        for collection in collections {
            count.entries += try collection.countDocuments(filter(in: collection), options: Self.options)
        }
        return count
    }

    /// Returns the number of ledger entries, and the number of different documents that they name.
    /// - Throws: ``MongoError``, or ``BSONError`` for a damaged entry.
    package func count() throws -> LedgerCount {
        // The server can count different documents in one ledger, but not over several databases.
        guard collections.count == 1 else { return try index().total }
        var count = try entries()
        var groups = collections[0].aggregate(
            [
                [
                    "$match": [
                        "$and": [.object(filter(in: collections[0])), .object(LedgerExpression.namesADocument)]
                    ]
                ],
                ["$group": ["_id": ["db": "$ns.db", "coll": "$ns.coll", "id": LedgerExpression.document]]],
                ["$count": "n"],
            ], options: Self.options)
        count.documents = try groups.nextDocument()?["n"]?.integer ?? 0
        return count
    }

    /// Returns the documents that the ledger records.
    ///
    /// All of the documents' `_id`s are in memory, but the limit of unsynced documents bounds their number.
    /// - Throws: ``MongoError``, or ``BSONError`` for a damaged entry.
    package func index() throws -> LedgerIndex {
        var index = LedgerIndex()
        for collection in collections {
            var cursor = collection.find(filter(in: collection), options: Self.options)
            while let entry = try cursor.next() { try index.insert(entry: entry) }
        }
        return index
    }

    /// Returns the given `_id`s whose documents the ledger records; empty if it records none of the documents.
    /// - Throws: ``MongoError``, or ``BSONError`` for a damaged entry.
    package func listed(_ ids: [BSONValue], of namespace: Namespace) throws -> [BSONValue] {
        // The ledger may contain an ObjectId as a text of its digits, so the filter contains both forms. A number needs
        // no second form, because the server compares numbers by value.
        let digits = ids.compactMap { id in
            if case .objectID(let id) = id { BSONValue.string(id.description) } else { nil as BSONValue? }
        }
        var index = LedgerIndex()
        for slice in (ids + digits).commandSlices() {
            let entries: BSONDocument = [
                "ns.db": .string(namespace.database), "ns.coll": .string(namespace.collection),
                "documentId": ["$in": .array(of: slice)],
            ]
            for collection in collections {
                var cursor = collection.find(
                    ["$and": [.object(filter(in: collection)), .object(entries)]], options: Self.options)
                while let entry = try cursor.next() { try index.insert(entry: entry) }
            }
        }
        return ids.filter { index.contains($0, in: namespace) }
    }

    private static var options: BSONDocument {
        ["readConcern": ["level": "majority"], "maxTimeMS": 60_000, "comment": "shipshape ledger"]
    }
}
