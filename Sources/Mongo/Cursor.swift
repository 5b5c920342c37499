package import BSON
internal import CMongoC

/// Documents that the server sends, batch by batch; its calls block.
///
/// It holds its client, and kills the server's cursor when it goes. The corresponding C type is `mongoc_cursor_t`.
@safe
package struct Cursor: ~Copyable {
    private let handle: OpaquePointer
    private let lease: ClientLease

    init(owning handle: OpaquePointer, lease: ClientLease) {
        unsafe self.handle = handle
        self.lease = lease
        lease.opened()
    }

    deinit {
        unsafe mongoc_cursor_destroy(handle)
        lease.closed()
    }

    /// Returns the next document, or `nil` when there is none.
    ///
    /// The view is the driver's own buffer: nothing is copied, and it is valid until the next call. The corresponding C
    /// function is `mongoc_cursor_next`.
    /// - Throws: ``MongoError`` when the server or the network fails; the cursor is spent after that.
    @_lifetime(&self)
    package mutating func next() throws(MongoError) -> BSONView? {
        var lent = unsafe cmongoc_document()
        guard unsafe cmongoc_cursor_next(handle, &lent) else {
            try throwError()
            return nil
        }
        let bytes = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(lent.data), byteCount: lent.length)
        do throws(BSONError) {
            return unsafe _overrideLifetime(try BSONView(bytes), mutating: &self)
        } catch {
            throw MongoError(damaged: error, host: lease.host)
        }
    }

    /// The corresponding C function is `mongoc_cursor_error_document`.
    private func throwError() throws(MongoError) {
        var error = bson_error_t()
        var reply = unsafe cmongoc_document()
        guard unsafe cmongoc_cursor_error(handle, &error, &reply) else { return }
        throw lease.explained(unsafe MongoError(error, reply: BSONDocument(copying: reply), host: lease.host))
    }
}

extension Cursor {
    /// Returns a copy of the next document, or `nil` when there is none.
    /// - Throws: ``MongoError``.
    package mutating func nextDocument() throws(MongoError) -> BSONDocument? {
        guard let view = try next() else { return nil }
        return BSONDocument(copying: view)
    }

    /// Copies what is left: for few documents.
    /// - Throws: ``MongoError``.
    package consuming func documents() throws(MongoError) -> [BSONDocument] {
        var documents: [BSONDocument] = []
        while let document = try nextDocument() { documents.append(document) }
        return documents
    }
}
