package import BSON

extension MongoCollection {
    /// Stages that put documents of ours in the place of a collection's own, in their order; the collection need not be
    /// there.
    ///
    /// `$documents` does the same from MongoDB 5.1 on, and asks for `find` on the whole database.
    package static func stages(supplying documents: [BSONDocument]) -> [BSONDocument] {
        [
            // What makes one document of any number of them, and of none.
            ["$limit": 1], ["$facet": ["none": [["$count": "n"]]]],
            ["$project": ["d": ["$literal": .array(of: documents.map { .object($0) })]]], ["$unwind": "$d"],
            ["$replaceWith": "$d"],
        ]
    }

    /// What a pipeline makes of documents that need not be in the collection, each in the place of the one that it was made
    /// of.
    ///
    /// The pipeline must neither drop nor add a document, nor change their order.
    /// - Parameter options: those of the `aggregate` command.
    /// - Throws: ``MongoError``; one of code ``MongoError/Code/documentTooLarge`` when a document does not fit a command
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
        guard documents.count > 1 else { throw MongoError(.server, .documentTooLarge, message: "too large a document") }
        let half = documents.count / 2
        return try aggregate(over: Array(documents[..<half]), pipeline, options: options)
            + aggregate(over: Array(documents[half...]), pipeline, options: options)
    }

    /// The documents of a reply; `nil` when the command or they do not fit one message.
    private func reply(to command: BSONDocument) throws(MongoError) -> [BSONDocument]? {
        // What the server takes as a command is a document of 16 MiB, and a little more.
        guard command.bytes.count <= 16 << 20 else { return nil }
        let reply = try lease.run(.read, command, on: namespace.database)
        guard let cursor = reply["cursor"]?.document, let batch = cursor["firstBatch"]?.document else {
            throw MongoError(incomplete: "the documents", host: lease.host)
        }
        guard let id = cursor["id"], id.integer != 0 else { return batch.values.compactMap(\.document) }
        // One that cannot be closed ends by itself.
        _ = try? lease.run(
            .raw, ["killCursors": .string(namespace.collection), "cursors": [id]], on: namespace.database)
        return nil
    }

    /// Another collection, reached by the same client.
    package func sibling(_ namespace: Namespace) -> MongoCollection {
        MongoCollection(namespace: namespace, lease: lease)
    }
}

extension MongoCollection {
    /// Whether the collection is there; a view is one too.
    ///
    /// The corresponding command is `listCollections`.
    /// - Throws: ``MongoError``.
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
