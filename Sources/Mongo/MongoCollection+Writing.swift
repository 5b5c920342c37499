package import BSON
internal import CMongoC

extension MongoCollection {
    /// Runs the `update` command.
    ///
    /// If the server refuses the command because of its load, before it has begun the command, the command is sent
    /// again. No other failure is retried, because only the caller knows whether its update is idempotent.
    /// - Parameters:
    ///   - statements: the statements, which together must fit one command of 16 MiB.
    ///   - isOrdered: whether the first refused statement ends the command.
    ///   - collectsWriteErrors: whether refused statements are in the reply; otherwise the first refusal is thrown.
    ///   - options: the command's options: `let`, `maxTimeMS`, `collectionUUID`, `comment`, `writeConcern`,
    ///     `bypassDocumentValidation`, …; and `sessionId`.
    /// - Throws: ``MongoError``. A write concern error means that the write was done, but that not enough members
    ///   confirmed it in time.
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

    /// Runs the `delete` command, with the same parameters as `update`.
    /// - Throws: ``MongoError``. A write concern error means that the write was done, but that not enough members
    ///   confirmed it in time.
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

    /// Runs the `insert` command, with the same parameters as `update`.
    /// - Throws: ``MongoError``. A write concern error means that the write was done, but that not enough members
    ///   confirmed it in time.
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
    ///   - options: the command's options: `new`, `upsert`, `sort`, `fields`, `hint`, `let`, `maxTimeMS`,
    ///     `writeConcern`, …; and `sessionId`.
    /// - Returns: the document before the change, or after it if `new` is set; `nil` if no document matches `filter`.
    /// - Throws: ``MongoError``. A write concern error means that the write was done, but that not enough members
    ///   confirmed it in time.
    @discardableResult
    package func findAndModify(
        _ filter: BSONDocument, _ update: BSONValue, options: BSONDocument = [:]
    ) throws(MongoError) -> BSONDocument? {
        let command: BSONDocument = [
            "findAndModify": .string(namespace.collection), "query": .object(filter), "update": update,
        ]
        return try lease.run(.write, command, on: namespace.database, options: options)["value"]?.document
    }

    func write(
        _ command: [(String, BSONValue)], _ options: BSONDocument, _ collectsWriteErrors: Bool
    ) throws(MongoError) -> WriteReply {
        let answer = try lease.run(
            session == nil ? .write : .raw, BSONDocument(command), on: namespace.database, options: scoped(options))
        return try WriteReply(command: answer).checked(collectsWriteErrors, labels: answer.errorLabels, lease)
    }
}

extension WriteReply {
    /// Returns the reply if it contains no write error that has to be thrown.
    ///
    /// A transient error is always thrown, because its cause is not the document but, for example, the server's load.
    /// - Parameter collectsWriteErrors: whether the caller reads all other write errors in the reply; if `false`, the
    ///   first one is thrown.
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
