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
    /// - Throws: ``MongoError``.
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

extension MongoCollection {
    /// Inserts documents, in as many messages as needed; the driver retries each message once.
    ///
    /// The corresponding C function is `mongoc_bulk_operation_execute`.
    /// - Parameters:
    ///   - isOrdered: whether the first refused document ends the insert.
    ///   - collectsWriteErrors: whether refused documents are in the reply; otherwise the first refusal is thrown.
    ///   - options: `writeConcern`, `let`, `comment`, and `sessionId`.
    /// - Throws: ``MongoError``. A write concern error means that the write was done, but that not enough members
    ///   confirmed it in time.
    @discardableResult
    package func insertMany(
        _ documents: some Sequence<BSONDocument>, isOrdered: Bool = true, collectsWriteErrors: Bool = false,
        options: BSONDocument = [:]
    ) throws(MongoError) -> WriteReply {
        let bulk = InsertBulk.open(self, isOrdered: isOrdered, options: options)
        var isEmpty = true
        for document in documents {
            try bulk.append(document)
            isEmpty = false
        }
        return isEmpty ? WriteReply(bulk: BSONDocument()) : try bulk.execute(collectsWriteErrors: collectsWriteErrors)
    }
}

/// Inserts that are sent together; the corresponding C type is `mongoc_bulk_operation_t`.
@safe
private struct InsertBulk: ~Copyable {
    private let handle: OpaquePointer
    private let lease: ClientLease

    private init(owning handle: OpaquePointer, lease: ClientLease) {
        unsafe self.handle = handle
        self.lease = lease
        lease.opened()
    }

    deinit {
        unsafe mongoc_bulk_operation_destroy(handle)
        lease.closed()
    }

    static func open(_ collection: MongoCollection, isOrdered: Bool, options: BSONDocument) -> InsertBulk {
        let given = (try? options.elements())?.map { ($0.name, $0.value) } ?? []
        let all = BSONDocument([("ordered", .bool(isOrdered))] + given)
        let names = collection.namespace
        let handle = unsafe all.lend {
            unsafe cmongoc_bulk_new(collection.lease.handle, names.database, names.collection, $0)
        }
        guard let handle = unsafe handle else { preconditionFailure("a bulk operation is always made") }
        return unsafe InsertBulk(owning: handle, lease: collection.lease)
    }

    func append(_ document: BSONDocument) throws(MongoError) {
        var error = bson_error_t()
        guard unsafe document.lend({ unsafe cmongoc_bulk_insert(handle, $0, &error) }) else {
            throw MongoError(error, host: lease.host)
        }
    }

    consuming func execute(collectsWriteErrors: Bool) throws(MongoError) -> WriteReply {
        var error = bson_error_t()
        var answer = unsafe cmongoc_reply()
        let isDone = unsafe cmongoc_bulk_execute(handle, &answer, &error) != 0
        let reply = unsafe answer.take()
        let outcome = WriteReply(bulk: reply)
        if let error = MongoError(writeConcernErrorOf: reply, host: lease.host) { throw error }
        if !isDone && outcome.writeErrors.isEmpty {
            throw lease.explained(MongoError(error, reply: reply, host: lease.host))
        }
        return try outcome.checked(collectsWriteErrors, labels: reply.errorLabels, lease)
    }
}
