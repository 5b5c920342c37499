package import BSON
internal import CMongoC
import Synchronization

/// A collection that is used through one client, and only on the thread that uses this client.
package struct MongoCollection {
    package let namespace: Namespace
    let lease: ClientLease
    /// The option that names the session whose transaction all operations belong to; `nil` outside of transactions.
    var session: BSONDocument?
}

@available(*, unavailable)
extension MongoCollection: Sendable {}  // not Sendable, because only one thread at a time can use a mongoc_client_t

extension MongoCollection {
    /// Runs a command that reads, on the database of the collection, with the client's read concern and preference.
    package func command(_ command: BSONDocument) throws(MongoError) -> BSONDocument {
        try run(command)
    }

    /// Returns the collection for operations in the transaction of a session.
    ///
    /// All reads and writes through the result belong to the transaction. They have its read concern and its write
    /// concern, whatever their options say.
    package func inTransaction(of session: borrowing Session) throws(MongoError) -> MongoCollection {
        var collection = self
        collection.session = try session.options()
        return collection
    }

    /// Runs a command that reads, in the collection's transaction if there is one.
    func run(_ command: BSONDocument, options: BSONDocument = [:]) throws(MongoError) -> BSONDocument {
        guard session != nil else { return try lease.run(.read, command, on: namespace.database, options: options) }
        return try lease.run(
            .raw, command.withoutConcerns, on: namespace.database, options: scoped(options), readPreference: .primary)
    }

    /// Returns the options for an operation of this collection: in a transaction, with its session and without
    /// concerns of their own.
    func scoped(_ options: BSONDocument) -> BSONDocument {
        guard let session, let elements = try? session.elements() else { return options }
        return elements.reduce(options.withoutConcerns) { $0.appending($1.name, $1.value) }
    }

    /// The members that answer a read: in a transaction the primary, else those of the client's own preference.
    private var preference: ReadPreference? { session == nil ? nil : .primary }
}

extension BSONDocument {
    /// The command or the options without read and write concerns, which only a transaction as a whole can have.
    fileprivate var withoutConcerns: BSONDocument {
        guard self["readConcern"] != nil || self["writeConcern"] != nil, let elements = try? elements() else {
            return self
        }
        return BSONDocument(
            elements.filter { $0.name != "readConcern" && $0.name != "writeConcern" }.map { ($0.name, $0.value) })
    }
}

extension MongoCollection {
    /// Whether this program may read whole documents and evaluate expressions on them itself, instead of the server.
    ///
    /// The deployment has to answer quickly, so that reading costs little. The collection must not have a collation,
    /// because this program cannot compare strings by it.
    /// - Throws: ``MongoError``.
    package var suitsEvaluationByClient: Bool {
        get throws(MongoError) {
            guard try isNear else { return false }
            return try !hasCollation
        }
    }

    /// Whether a ping to the deployment takes less than 5 ms, one of at least six pings or of all within half a second.
    ///
    /// From such a deployment, reading documents costs little more than evaluating them on the server. A quick result
    /// is stored and not measured again.
    /// - Throws: ``MongoError``.
    private var isNear: Bool {
        get throws(MongoError) {
            if lease.pool.isNear.withLock({ $0 }) { return true }
            // On a busy machine, many pings in a row can be slow although the deployment is near.
            let first = ContinuousClock.now
            var pings = 0
            while pings < 6 || first.duration(to: .now) < .milliseconds(500) {
                let start = ContinuousClock.now
                _ = try command(["ping": 1])
                pings += 1
                guard start.duration(to: .now) < .milliseconds(5) else { continue }
                lease.pool.isNear.withLock { $0 = true }
                return true
            }
            // A slow result may be temporary, so only a quick one is stored.
            return false
        }
    }

    /// Whether the collection has a default collation other than the simple one.
    /// - Throws: ``MongoError``.
    private var hasCollation: Bool {
        get throws(MongoError) {
            let listing = try command([
                "listCollections": 1, "filter": ["name": .string(namespace.collection)], "cursor": [:],
            ])
            let info = listing["cursor"]?.document?["firstBatch"]?.document?.values.first?.document
            let collation = info?["options"]?.document?["collation"]?.document
            return collation.map { $0["locale"] != "simple" } ?? false
        }
    }
}

extension MongoCollection {
    /// Returns pipeline stages that output the given documents in their order, instead of the collection's documents.
    ///
    /// The collection need not exist.
    ///
    /// `$documents` does the same from MongoDB 5.1 on, but needs the privilege `find` on the whole database.
    package static func stages(supplying documents: [BSONDocument]) -> [BSONDocument] {
        [
            // These two stages make exactly one document, however many documents the collection has.
            ["$limit": 1], ["$facet": ["none": [["$count": "n"]]]],
            ["$project": ["d": ["$literal": .array(of: documents.map { .object($0) })]]], ["$unwind": "$d"],
            ["$replaceWith": "$d"],
        ]
    }

    /// Runs a pipeline over the given documents, which need not be in the collection.
    ///
    /// The pipeline must output exactly one result for each document, in the order of the documents.
    /// - Parameter options: the options of the `aggregate` command.
    /// - Throws: ``MongoError``, with code ``MongoError/Code/documentTooLarge`` when a document does not fit a command
    ///   or its reply.
    package func aggregate(
        over documents: [BSONDocument], _ pipeline: [BSONDocument], options: BSONDocument = [:]
    ) throws(MongoError) -> [BSONDocument] {
        guard !documents.isEmpty else { return [] }
        var command = BSONBuilder()
        command.append("aggregate", .string(namespace.collection))
        command.append("pipeline", .array(of: (Self.stages(supplying: documents) + pipeline).map { .object($0) }))
        command.append("cursor", ["batchSize": .integer(documents.count + 1)])
        for (name, value) in (try? options.elements()) ?? [] { command.append(name, value) }
        if let whole = try reply(to: command.finish()) { return whole }
        guard documents.count > 1 else {
            throw MongoError(.server, .documentTooLarge, message: "the document is too large")
        }
        let half = documents.count / 2
        return try aggregate(over: Array(documents[..<half]), pipeline, options: options)
            + aggregate(over: Array(documents[half...]), pipeline, options: options)
    }

    /// Runs a command, and returns the documents of its reply; `nil` if the command or the reply is too large for one
    /// message.
    private func reply(to command: BSONDocument) throws(MongoError) -> [BSONDocument]? {
        // The server's limit for a command is a little more than 16 MiB, so the driver's additional fields still fit.
        guard command.bytes.count <= 16 << 20 else { return nil }
        let reply = try run(command)
        guard let cursor = reply["cursor"]?.document, let batch = cursor["firstBatch"]?.document else {
            throw MongoError(incomplete: "the documents", host: lease.host)
        }
        guard let id = cursor["id"], id.integer != 0 else { return batch.values.compactMap(\.document) }
        // A cursor that cannot be killed times out by itself, so an error is ignored.
        _ = try? lease.run(
            .raw, ["killCursors": .string(namespace.collection), "cursors": [id]], on: namespace.database)
        return nil
    }

    /// Returns another collection of the same client.
    package func sibling(_ namespace: Namespace) -> MongoCollection {
        MongoCollection(namespace: namespace, lease: lease, session: session)
    }
}

extension MongoCollection {
    /// Whether the collection or view exists; `false` also if the user has no privilege on it.
    ///
    /// The corresponding command is `listCollections`.
    package func exists() throws(MongoError) -> Bool {
        let reply = try lease.run(
            .read,
            [
                "listCollections": 1, "filter": ["name": .string(namespace.collection)], "nameOnly": true,
                "authorizedCollections": true,
            ], on: namespace.database)
        return reply["cursor"]?.document?["firstBatch"]?.document?.isEmpty == false
    }
}

extension MongoCollection {
    /// Returns the documents that match `filter`.
    ///
    /// The corresponding C function is `mongoc_collection_find_with_opts`.
    /// - Parameter options: the options of the `find` command: `sort`, `projection`, `hint`, `min`, `max`, `batchSize`,
    ///   `limit`, `maxTimeMS`, `readConcern`, `collation`, `comment`, `let`, …; and `sessionId`.
    /// - Returns: a cursor; its first `next()` throws the error if it could not be opened.
    package func find(_ filter: BSONDocument = [:], options: BSONDocument = [:]) -> Cursor {
        unsafe Cursor(lease, scoped(options.withTimeLimit), of: "\(namespace)") { options in
            unsafe lending(filter, options, preference) { filter, options, preference in
                unsafe cmongoc_find(
                    lease.handle, namespace.database, namespace.collection, filter, options, preference)
            }
        }
    }

    /// Returns the first documents of a `find`, as many as one reply holds.
    ///
    /// Unlike ``find(_:options:)``, this method accepts filters and other arguments that contain a field
    /// with an empty name. The driver's cursors refuse such arguments.
    /// - Parameters:
    ///   - arguments: the arguments of the `find` command, without the collection's name.
    ///   - options: the options that the driver reads or adds to the command, such as `readConcern` and `sessionId`;
    ///     ignored if `reads` is given.
    ///   - reads: the one member that answers; `nil` for a member that the client's read preference allows.
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
                    readPreference: .chosenMember)
            } else {
                try run(find, options: options)
            }
        guard let batch = reply["cursor"]?.document?["firstBatch"]?.document else {
            throw MongoError(incomplete: "the batch", host: lease.host)
        }
        return batch.values.compactMap(\.document)
    }

    /// Returns the result of a pipeline over the collection.
    ///
    /// The corresponding C function is `mongoc_collection_aggregate`. A pipeline that ends in `$out` or `$merge` runs
    /// at the first `next()`, which returns `nil`.
    /// - Parameter options: the options of the `aggregate` command: `allowDiskUse`, `batchSize`, `hint`, `maxTimeMS`,
    ///   `readConcern`, `writeConcern`, `collation`, `comment`, `let`, …; and `sessionId`.
    /// - Returns: a cursor; its first `next()` throws the error if it could not be opened.
    package func aggregate(_ pipeline: [BSONDocument], options: BSONDocument = [:]) -> Cursor {
        let stages: BSONDocument = ["pipeline": .array(of: pipeline.map { .object($0) })]
        return unsafe Cursor(lease, scoped(options.withTimeLimit), of: "\(namespace)") { options in
            unsafe lending(stages, options, preference) { stages, options, preference in
                unsafe cmongoc_aggregate(
                    lease.handle, namespace.database, namespace.collection, stages, options, preference)
            }
        }
    }

    /// Returns the exact number of documents that match `filter`, by reading them or entries of an index.
    /// - Parameter options: the options of the `aggregate` command.
    package func countDocuments(
        _ filter: BSONDocument = [:], options: BSONDocument = [:]
    ) throws(MongoError) -> Int {
        let count: BSONDocument = ["$group": ["_id": 1, "n": ["$sum": 1]]]
        var cursor = aggregate([["$match": .object(filter)], count], options: options)
        return try cursor.nextDocument()?["n"]?.integer ?? 0
    }

    /// Returns the number of documents that the server's metadata states.
    ///
    /// The count is quick, but inexact after an unclean shutdown or on a sharded cluster.
    package func estimatedCount() throws(MongoError) -> Int {
        let reply = try lease.run(.read, ["count": .string(namespace.collection)], on: namespace.database)
        guard let count = reply["n"]?.integer else { throw MongoError(incomplete: "the count", host: lease.host) }
        return count
    }
}

extension BSONDocument {
    /// The options of a read, with `maxTimeMS: 0` (no time limit) added if they set no limit.
    ///
    /// A scan may take any time. The 0 has to be explicit, because from MongoDB 8.0 on, a deployment may have a default
    /// limit for reads (`defaultMaxTimeMS`). Older servers also take 0 for no limit.
    var withTimeLimit: BSONDocument { self["maxTimeMS"] == nil ? appending("maxTimeMS", 0) : self }
}

// MARK: changes and records

extension MongoCollection {
    /// Opens a stream of the collection's changes.
    ///
    /// The corresponding C function is `mongoc_collection_watch`.
    /// - Parameter options: `startAtOperationTime`, `resumeAfter`, `maxAwaitTimeMS`, `batchSize`, `readConcern`, ….
    /// - Returns: a stream; its first `next()` throws the error if it could not be opened.
    package func watch(_ pipeline: [BSONDocument] = [], options: BSONDocument = [:]) -> ChangeStream {
        let stages: BSONDocument = ["pipeline": .array(of: pipeline.map { .object($0) })]
        // There is no time limit, because the server may have to read much of its oplog to resume at a position.
        return unsafe ChangeStream(lease, options.withTimeLimit) { [lease, namespace] options in
            unsafe lending(stages, options, nil) { stages, options, _ in
                unsafe cmongoc_watch(lease.handle, namespace.database, namespace.collection, stages, options)
            }
        }
    }

    /// Returns the documents in the order in which one member of the replica set stores them.
    /// - Parameters:
    ///   - reads: the settings that keep all reads with one member and one session.
    ///   - place: the `$recordId` of the record after which the cursor begins; `nil` to begin with the first record.
    ///   - showsRecords: whether each document contains its record's number, as `$recordId` after its own fields; this
    ///     doubles the cost on the server.
    package func records(
        _ reads: MemberReads, after place: Int64?, showsRecords: Bool = false,
        batchSize: Int, comment: String
    ) -> RecordCursor {
        RecordCursor(
            self, reads, after: place, showsRecords: showsRecords, batchSize: batchSize,
            comment: comment)
    }

    /// Returns the reply to `hello` from the replica set member that `reads` selects.
    package func hello(of reads: MemberReads) throws(MongoError) -> ServerHello {
        ServerHello(
            try lease.run(
                .raw, ["hello": 1], on: "admin", options: reads.options, readPreference: .chosenMember))
    }
}
