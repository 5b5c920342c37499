import BSON
import Checking
import Concurrency
import JobState
import Jobs
import Mongo
import Running
import Scanning

/// The ledger that a watch keeps.
///
/// The entries have the fields of the sync engine's ledger, and further fields such as the path and the rule. The `_id`
/// of an entry consists of the namespace and the `_id` of a document, so no document has two entries. Only the runner
/// that holds the watch's lease writes to the ledger.
struct WatchLedger {
    let namespace: Namespace
    let appID: String?

    /// Throws if the collection is in a database to which only the sync engine may write.
    static func check(_ namespace: Namespace) throws(WatchError) {
        guard namespace.database.hasPrefix(LedgerFinder.database) else { return }
        throw WatchError(
            "\(namespace) is in a database of the sync engine, where nothing else must write: name another database")
    }

    /// Creates the ledger's collection and its index, unless they exist.
    func create(under kernel: borrowing Kernel) throws {
        try kernel.retrying {
            do throws(MongoError) {
                try kernel.client.runWriteCommand(["create": .string(namespace.collection)], on: namespace.database)
            } catch {
                guard error.code == .namespaceExists else { throw error }
            }
            try kernel.client.runWriteCommand(
                ["createIndexes": .string(namespace.collection), "indexes": [["key": ["ns": 1], "name": "ns"]]],
                on: namespace.database)
        }
    }

    /// Returns the ledger's entry for a failing document.
    /// - Parameter pass: identifies the read of the whole collection that found the document; `nil` if the watch judged
    ///   the document because of a change event.
    func entry(_ id: BSONValue, of collection: Namespace, _ violation: Violation?, pass: ObjectID?) -> BSONDocument {
        var builder = BSONBuilder()
        builder.append("_id", key(id, of: collection))
        if let appID { builder.append("appId", .string(appID)) }
        builder.append("documentId", id)
        builder.append("ns", Self.place(collection))
        builder.append("reason", .string(violation.map { "\($0.rule) at \($0.path)" } ?? "invalid schema"))
        if let violation {
            builder.append("path", .string("\(violation.path)"))
            builder.append("rule", .string("\(violation.rule)"))
        }
        if let pass { builder.append("pass", .objectID(pass)) }
        return builder.finish()
    }

    private func key(_ id: BSONValue, of collection: Namespace) -> BSONValue {
        ["ns": .string("\(collection)"), "id": id]
    }

    private static func place(_ collection: Namespace) -> BSONValue {
        ["db": .string(collection.database), "coll": .string(collection.collection)]
    }
}

// MARK: Writing

extension WatchLedger {
    private static let majority: BSONValue = ["w": "majority", "wtimeout": 10_000]

    /// Records entries in the ledger; an existing entry keeps the time at which it was added.
    ///
    /// An aggregation reads the watch's record in the state database and writes the entries with `$merge`. Its `$match`
    /// stage contains the fence, a condition that fails after the lease has ended, so a runner without the lease writes
    /// nothing. An upsert with the fence in its filter would insert the entry if the fence failed.
    /// - Returns: how many of the entries are new.
    @discardableResult
    func record(_ entries: [BSONDocument], under kernel: inout Kernel) throws -> Int {
        // A document can fail twice in one read. If both entries were counted, the ledger would seem to lack one.
        let entries = Dictionary(entries.map { ($0["_id"], $0) }) { $1 }.values
        let known = try count(of: entries.compactMap { $0["_id"] }, under: kernel)
        for slice in entries.map({ BSONValue.object($0) }).commandSlices(count: 500) {
            try kernel.fenced { kernel in
                let kept: BSONValue = [
                    "$mergeObjects": ["$$ROOT", "$$new", ["time": "$time"]]
                ]
                let pipeline: [BSONDocument] = [
                    ["$match": .object(kernel.fencedRecord)],
                    ["$project": ["_id": 0, "entry": ["$literal": .array(of: slice)]]],
                    ["$unwind": "$entry"], ["$replaceWith": "$entry"], ["$set": ["time": "$$NOW"]],
                    [
                        "$merge": [
                            "into": ["db": .string(namespace.database), "coll": .string(namespace.collection)],
                            "whenMatched": [["$replaceWith": kept]], "whenNotMatched": "insert",
                        ]
                    ],
                ]
                let records = Namespace(database: kernel.store.client.database, collection: StateStore.streams)
                var cursor = kernel.client.collection(records).aggregate(
                    pipeline,
                    options: [
                        "maxTimeMS": .long(kernel.lease.terms.writeLimit.milliseconds), "writeConcern": Self.majority,
                        "comment": "shipshape ledger follow",
                    ])
                _ = try cursor.next() == nil
            }
        }
        return entries.count - known
    }

    /// Removes the entries of documents that no longer fail or no longer exist.
    /// - Returns: how many of the documents had an entry.
    func remove(_ ids: [BSONValue], of collection: Namespace, under kernel: inout Kernel) throws -> Int {
        let keys = ids.map { key($0, of: collection) }
        let known = try count(of: keys, under: kernel)
        guard known > 0 else { return 0 }
        for slice in keys.commandSlices(count: 1_000) {
            try delete(["_id": ["$in": .array(of: slice)]], under: &kernel)
        }
        return known
    }

    /// Returns how many of the given `_id`s are `_id`s of entries in the ledger.
    private func count(of keys: [BSONValue], under kernel: borrowing Kernel) throws -> Int {
        try keys.commandSlices(count: 1_000).reduce(0) { sum, slice in
            sum + (try count(["_id": ["$in": .array(of: slice)]], under: kernel))
        }
    }

    private func count(_ filter: BSONDocument, under kernel: borrowing Kernel) throws -> Int {
        let found = try kernel.retrying {
            try kernel.client.collection(namespace).aggregate(
                [["$match": .object(filter)], ["$count": "n"]],
                options: ["readConcern": ["level": "majority"], "comment": "shipshape ledger follow"]
            ).documents()
        }
        return found.first?["n"]?.integer ?? 0
    }

    /// Removes the entries of a collection's documents from the ledger.
    /// - Parameter pass: identifies a read of the whole collection; the entries that this read recorded stay. `nil` to
    ///   remove all entries of the collection.
    /// - Returns: how many entries were removed.
    @discardableResult
    func remove(of collection: Namespace, except pass: ObjectID?, under kernel: inout Kernel) throws -> Int {
        var filter: BSONDocument = ["ns": Self.place(collection)]
        if let pass { filter = filter.appending("pass", ["$ne": .objectID(pass)]) }
        let known = try count(filter, under: kernel)
        try delete(filter, under: &kernel)
        return known
    }

    func remove(notOf collections: [Namespace], under kernel: inout Kernel) throws {
        try delete(["ns": ["$nin": .array(of: collections.map(Self.place))]], under: &kernel)
    }

    private func delete(_ filter: BSONDocument, under kernel: inout Kernel) throws {
        try kernel.fenced { kernel in
            let statement = DeleteStatement(
                ["$and": [.object(filter), ["$expr": kernel.lease.fence.bson]]], isMulti: true)
            try kernel.client.collection(namespace).delete(
                [statement], options: ["writeConcern": Self.majority, "comment": "shipshape ledger follow"])
        }
    }

    /// Returns the number of entries in the ledger for each collection that has entries.
    func counts(under kernel: borrowing Kernel) throws -> [(namespace: Namespace, count: Int)] {
        let groups = try kernel.retrying {
            try kernel.client.collection(namespace).aggregate(
                [["$group": ["_id": "$ns", "n": ["$sum": 1]]], ["$sort": ["_id": 1]]],
                options: ["readConcern": ["level": "majority"], "comment": "shipshape ledger follow"]
            ).documents()
        }
        return groups.compactMap { group in
            guard let place = group["_id"]?.document, let database = place["db"]?.text,
                let collection = place["coll"]?.text
            else { return nil }
            return (Namespace(database: database, collection: collection), group["n"]?.integer ?? 0)
        }
    }
}
