package import BSON
internal import CMongoC

extension MongoCollection {
    /// The documents that fit `filter`.
    ///
    /// The corresponding C function is `mongoc_collection_find_with_opts`.
    /// - Parameter options: those of the `find` command: `sort`, `projection`, `hint`, `min`, `max`, `batchSize`,
    ///   `limit`, `maxTimeMS`, `readConcern`, `collation`, `comment`, `let`, …; and `sessionId`.
    /// - Returns: a cursor; what goes wrong is thrown by its first `next()`.
    package func find(
        _ filter: BSONDocument = [:], options: BSONDocument = [:], readPreference: ReadPreference? = nil
    ) -> Cursor {
        unsafe Cursor(lease, options.withTimeLimit, of: "\(namespace)") { options in
            unsafe lending(filter, options, readPreference) { filter, options, preference in
                unsafe cmongoc_find(
                    lease.handle, namespace.database, namespace.collection, filter, options, preference)
            }
        }
    }

    /// The first documents that a `find` gives, as many as one reply holds.
    ///
    /// Unlike a cursor, it takes values in which a field has no name: the driver refuses those in a cursor's options.
    /// - Parameters:
    ///   - arguments: of the `find` command, its name aside.
    ///   - options: what the driver adds to the command, and `sessionId`.
    ///   - reads: the one member that answers; `nil` for whomever the client's read preference names.
    /// - Throws: ``MongoError``.
    package func findBatch(
        _ arguments: BSONDocument, options: BSONDocument = [:], by reads: MemberReads? = nil
    ) throws(MongoError) -> [BSONDocument] {
        var command = BSONBuilder()
        command.append("find", .string(namespace.collection))
        for (name, value) in (try? arguments.elements()) ?? [] { command.append(name, value) }
        command.append("singleBatch", true)
        let find = command.finish()
        let reply =
            if let reads {
                try lease.run(
                    .raw, find.withTimeLimit, on: namespace.database, options: reads.startOptions,
                    readPreference: .whoeverIsAsked)
            } else {
                try lease.run(.read, find, on: namespace.database, options: options)
            }
        guard let batch = reply["cursor"]?.document?["firstBatch"]?.document else {
            throw MongoError(incomplete: "the batch", host: lease.host)
        }
        return batch.values.compactMap(\.document)
    }

    /// The documents that a pipeline makes of the collection.
    ///
    /// The corresponding C function is `mongoc_collection_aggregate`. A pipeline that ends in `$out` or `$merge` runs
    /// with the first `next()`, which gives `nil`.
    /// - Parameter options: those of the `aggregate` command: `allowDiskUse`, `batchSize`, `hint`, `maxTimeMS`,
    ///   `readConcern`, `writeConcern`, `collation`, `comment`, `let`, …; and `sessionId`.
    /// - Returns: a cursor; what goes wrong is thrown by its first `next()`.
    package func aggregate(
        _ pipeline: [BSONDocument], options: BSONDocument = [:], readPreference: ReadPreference? = nil
    ) -> Cursor {
        let stages: BSONDocument = ["pipeline": .array(of: pipeline.map { .object($0) })]
        return unsafe Cursor(lease, options.withTimeLimit, of: "\(namespace)") { options in
            unsafe lending(stages, options, readPreference) { stages, options, preference in
                unsafe cmongoc_aggregate(
                    lease.handle, namespace.database, namespace.collection, stages, options, preference)
            }
        }
    }

    /// The exact number of documents that fit `filter`, by looking at them or at an index.
    /// - Parameter options: those of the `aggregate` command.
    /// - Throws: ``MongoError``.
    package func countDocuments(
        _ filter: BSONDocument = [:], options: BSONDocument = [:], readPreference: ReadPreference? = nil
    ) throws(MongoError) -> Int {
        let count: BSONDocument = ["$group": ["_id": 1, "n": ["$sum": 1]]]
        var cursor = aggregate(
            [["$match": .object(filter)], count], options: options, readPreference: readPreference)
        return try cursor.nextDocument()?["n"]?.integer ?? 0
    }

    /// The number of documents that the server's metadata holds: at once, and off after an unclean shutdown or on a
    /// sharded cluster.
    /// - Throws: ``MongoError``.
    package func estimatedCount(options: BSONDocument = [:]) throws(MongoError) -> Int {
        let reply = try lease.run(
            .read, ["count": .string(namespace.collection)], on: namespace.database, options: options)
        guard let count = reply["n"]?.integer else { throw MongoError(incomplete: "the count", host: lease.host) }
        return count
    }
}

extension BSONDocument {
    /// A read's options, with its time limit: none, where they state none.
    ///
    /// That has to be said: from MongoDB 8.0 on a deployment may have a limit for reads that say nothing
    /// (`defaultMaxTimeMS`), and a scan takes as long as it takes. Older servers take 0 for none as well.
    var withTimeLimit: BSONDocument { self["maxTimeMS"] == nil ? appending("maxTimeMS", 0) : self }
}
