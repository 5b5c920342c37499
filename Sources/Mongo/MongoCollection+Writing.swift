package import BSON

extension MongoCollection {
    /// Runs the `update` command.
    ///
    /// Nothing is retried: an update of many documents cannot be, and the caller knows whether his is idempotent.
    /// - Parameters:
    ///   - statements: all of them together fit one command of 16 MiB.
    ///   - isOrdered: whether the first refused statement ends the command.
    ///   - collectsWriteErrors: whether refused statements are in the reply, instead of the first being thrown.
    ///   - options: those of the command: `let`, `maxTimeMS`, `collectionUUID`, `comment`, `writeConcern`,
    ///     `bypassDocumentValidation`, …; and `sessionId`.
    /// - Throws: ``MongoError``. A write concern error means that the write was done.
    @discardableResult
    package func update(
        _ statements: [UpdateStatement], isOrdered: Bool = true, collectsWriteErrors: Bool = false,
        options: BSONDocument = [:]
    ) throws(MongoError) -> WriteReply {
        try write(
            [
                ("update", .string(namespace.collection)),
                ("updates", .array(of: statements.map { .object($0.document) })), ("ordered", .bool(isOrdered)),
            ], options, collectsWriteErrors)
    }

    /// Runs the `delete` command; the parameters are those of `update`.
    /// - Throws: ``MongoError``. A write concern error means that the write was done.
    @discardableResult
    package func delete(
        _ statements: [DeleteStatement], isOrdered: Bool = true, collectsWriteErrors: Bool = false,
        options: BSONDocument = [:]
    ) throws(MongoError) -> WriteReply {
        try write(
            [
                ("delete", .string(namespace.collection)),
                ("deletes", .array(of: statements.map { .object($0.document) })), ("ordered", .bool(isOrdered)),
            ], options, collectsWriteErrors)
    }

    /// Runs the `insert` command; the parameters are those of `update`.
    /// - Throws: ``MongoError``. A write concern error means that the write was done.
    @discardableResult
    package func insert(
        _ documents: [BSONDocument], isOrdered: Bool = true, collectsWriteErrors: Bool = false,
        options: BSONDocument = [:]
    ) throws(MongoError) -> WriteReply {
        try write(
            [
                ("insert", .string(namespace.collection)),
                ("documents", .array(of: documents.map { .object($0) })), ("ordered", .bool(isOrdered)),
            ], options, collectsWriteErrors)
    }

    /// Runs the `findAndModify` command, which the driver retries once.
    /// - Parameters:
    ///   - update: operators, a pipeline (an `array`), or a whole document.
    ///   - options: those of the command: `new`, `upsert`, `sort`, `fields`, `hint`, `let`, `maxTimeMS`,
    ///     `writeConcern`, …; and `sessionId`.
    /// - Returns: the document before the change, or with `new` after it; `nil` when none fits.
    /// - Throws: ``MongoError``. A write concern error means that the write was done.
    @discardableResult
    package func findAndModify(
        _ filter: BSONDocument, _ update: BSONValue, options: BSONDocument = [:]
    ) throws(MongoError) -> BSONDocument? {
        let command: BSONDocument = [
            "findAndModify": .string(namespace.collection), "query": .object(filter), "update": update,
        ]
        return try lease.run(.write, command, on: namespace.database, options: options)["value"]?.document
    }

    private func write(
        _ command: [(String, BSONValue)], _ options: BSONDocument, _ collectsWriteErrors: Bool
    ) throws(MongoError) -> WriteReply {
        let answer = try lease.run(.write, BSONDocument(command), on: namespace.database, options: options)
        return try WriteReply(command: answer).checked(collectsWriteErrors, labels: answer.errorLabels, lease)
    }
}

extension WriteReply {
    /// The reply, unless it holds write errors that nobody collects: then the first is thrown.
    ///
    /// A statement that would succeed later, such as when the server has less to do, is never collected: its refusal
    /// says nothing of its document.
    func checked(
        _ collectsWriteErrors: Bool, labels: Set<String>, _ lease: ClientLease
    ) throws(MongoError) -> WriteReply {
        let errors = writeErrors.map { MongoError($0, labels: labels, host: lease.host) }
        if let thrown = errors.first(where: \.isTransient) ?? (collectsWriteErrors ? nil : errors.first) {
            throw thrown
        }
        return self
    }
}
