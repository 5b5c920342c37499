package import BSON
internal import CMongoC

/// The documents of a result that the server sends batch by batch.
///
/// The cursor's calls block the thread until the server answers. The cursor holds its client, and kills the server's
/// cursor when it is destroyed. The corresponding C type is `mongoc_cursor_t`.
///
/// If the server refuses to send a batch because of its load, this type requests the batch again. For this purpose, it
/// creates a session of its own, because a session that the driver creates for a cursor is lost at the first error.
@safe
package struct Cursor: ~Copyable {
    private var handle: OpaquePointer
    private let lease: ClientLease
    /// The caller's options `sessionId` and `batchSize`, for a new driver cursor that requests a refused batch again.
    private let options: BSONDocument
    /// The namespace that `getMore` commands name.
    private let namespace: String
    /// The session that this type made; `nil` if the caller's options name one, or if making one failed.
    private let session: OpaquePointer?
    /// The driver's earlier cursors, which failed because of the server's load.
    ///
    /// They share the server's cursor, and destroying any of them would kill it. They are therefore destroyed only at
    /// the end.
    private var spent: [OpaquePointer] = unsafe []
    /// The error that prevented the creation of the session; `nil` if there was none.
    private var failure: MongoError?
    /// The size of a batch, and what was read of it; `nil` if the caller chooses the size.
    private var batch: (size: BatchSize, documents: Int, bytes: Int)?

    /// Opens a cursor.
    /// - Parameters:
    ///   - options: the command's options; a session is added if they name none.
    ///   - namespace: the namespace that `getMore` commands name.
    ///   - open: makes the driver open its cursor with the given options; never returns `nil`.
    init(
        _ lease: ClientLease, _ options: BSONDocument, of namespace: String,
        open: (BSONDocument) -> OpaquePointer?
    ) {
        var (session, failure): (OpaquePointer?, MongoError?) = (nil, nil)
        var options = options
        if options["sessionId"] == nil {
            var error = bson_error_t()
            if let own = unsafe cmongoc_plain_session(lease.handle, &error) {
                unsafe session = own
                var answer = unsafe cmongoc_reply()
                _ = unsafe options.lend { unsafe cmongoc_session_append(own, $0, &answer, &error) }
                options = unsafe answer.take()
            } else {
                failure = lease.explained(MongoError(error, host: lease.host))
            }
        }
        guard let handle = unsafe open(options) else { preconditionFailure("the driver always gives a cursor") }
        unsafe (self.handle, self.session) = (handle, session)
        (self.lease, self.namespace, self.failure) = (lease, namespace, failure)
        self.options = BSONDocument(
            ["sessionId", "batchSize"].compactMap { name in options[name].map { (name, $0) } })
        lease.opened()
    }

    deinit {
        unsafe mongoc_cursor_destroy(handle)
        for index in 0..<(unsafe spent.count) { unsafe mongoc_cursor_destroy(spent[index]) }
        if let session = unsafe session { unsafe mongoc_client_session_destroy(session) }
        lease.closed()
    }

    /// Returns the next document, or `nil` when there is none.
    ///
    /// The view is the driver's own buffer: nothing is copied, and it is valid until the next call. The corresponding C
    /// function is `mongoc_cursor_next`.
    /// - Throws: ``MongoError`` when the server or the network fails; the cursor cannot be used after that.
    @_lifetime(&self)
    package mutating func next() throws(MongoError) -> BSONView? {
        if let failure { throw failure }
        if let read = batch, read.documents == read.size.documents {
            var size = read.size
            size.adapt(to: read.documents, bytes: read.bytes)
            setBatchSize(size.documents)
            batch = (size, 0, 0)
        }
        var lent = unsafe cmongoc_document()
        var wait: Overload.Wait?
        while unsafe !cmongoc_cursor_next(handle, &lent) {
            guard let error = error() else { return nil }
            var current = wait ?? Overload.Wait(lease.pool.overload)
            guard current.shouldRetry(after: error, writes: false) else { throw error }
            wait = current
            continueAfterOverload()
        }
        let bytes = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(lent.data), byteCount: lent.length)
        batch?.documents += 1
        batch?.bytes += bytes.byteCount
        do throws(BSONError) {
            return unsafe _overrideLifetime(try BSONView(bytes), mutating: &self)
        } catch {
            throw MongoError(damaged: error, host: lease.host)
        }
    }

    /// Adapts each further reply to the size of the documents; the first was asked for with the size given here.
    package mutating func adaptBatches(_ size: BatchSize) { batch = (size, 0, 0) }

    /// Sets the most documents in each further reply of the server.
    ///
    /// The corresponding C function is `mongoc_cursor_set_batch_size`.
    package mutating func setBatchSize(_ size: Int) {
        unsafe mongoc_cursor_set_batch_size(handle, UInt32(clamping: size))
    }

    /// Replaces the driver's cursor after the server refused a command because of its load.
    ///
    /// The new cursor requests the refused batch again. If the server had not opened its cursor yet, the new cursor
    /// sends the whole command again.
    private mutating func continueAfterOverload() {
        let id = unsafe mongoc_cursor_get_id(handle)
        let next: OpaquePointer?
        if id == 0 {
            unsafe next = mongoc_cursor_clone(handle)
        } else {
            let reply: BSONDocument = [
                "ok": 1, "cursor": ["id": .long(id), "ns": .string(namespace), "firstBatch": []],
            ]
            let options = options.appending("serverId", .integer(Int(unsafe mongoc_cursor_get_hint(handle))))
            unsafe next = reply.lend { reply in
                unsafe options.lend { unsafe cmongoc_cursor_continuing(lease.handle, reply, $0) }
            }
        }
        guard let next = unsafe next else { preconditionFailure("the driver always gives a cursor") }
        unsafe spent.append(handle)
        unsafe handle = next
    }

    /// Returns the error of the driver's cursor; `nil` if there is none.
    ///
    /// The corresponding C function is `mongoc_cursor_error_document`.
    private func error() -> MongoError? {
        var error = bson_error_t()
        var reply = unsafe cmongoc_document()
        guard unsafe cmongoc_cursor_error(handle, &error, &reply) else { return nil }
        return lease.explained(unsafe MongoError(error, reply: BSONDocument(copying: reply), host: lease.host))
    }
}

extension Cursor {
    /// Returns a copy of the next document, or `nil` when there is none.
    package mutating func nextDocument() throws(MongoError) -> BSONDocument? {
        guard let view = try next() else { return nil }
        return BSONDocument(copying: view)
    }

    /// Returns copies of all remaining documents; use it only for small results.
    package consuming func documents() throws(MongoError) -> [BSONDocument] {
        var documents: [BSONDocument] = []
        while let document = try nextDocument() { documents.append(document) }
        return documents
    }
}
