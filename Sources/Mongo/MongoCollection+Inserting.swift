package import BSON
internal import CMongoC

extension MongoCollection {
    /// Inserts documents, in as many messages as they need; the driver retries each once.
    ///
    /// The corresponding C function is `mongoc_bulk_operation_execute`.
    /// - Parameters:
    ///   - isOrdered: whether the first refused document ends the insert.
    ///   - collectsWriteErrors: whether refused documents are in the reply, instead of the first being thrown.
    ///   - options: `writeConcern`, `let`, `comment`, and `sessionId`.
    /// - Throws: ``MongoError``. A write concern error means that the write was done.
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
