package import BSON
internal import CMongoC

/// The changes of a collection, in their order, as soon as no failover can take them back; its calls block.
///
/// It holds its client, and kills the server's cursor when it goes. The corresponding C type is
/// `mongoc_change_stream_t`, which opens the stream anew, once per call, when it is lost.
@safe
package struct ChangeStream: ~Copyable {
    private let handle: OpaquePointer
    private let lease: ClientLease

    init(owning handle: OpaquePointer, lease: ClientLease) {
        unsafe self.handle = handle
        self.lease = lease
        lease.opened()
    }

    deinit {
        unsafe mongoc_change_stream_destroy(handle)
        lease.closed()
    }

    /// Returns the next change, or `nil` when none came within the stream's `maxAwaitTimeMS`.
    ///
    /// The view is the driver's own buffer: nothing is copied, and it is valid until the next call. The corresponding C
    /// function is `mongoc_change_stream_next`.
    /// - Throws: ``MongoError`` when the server or the network fails; the stream is spent after that.
    @_lifetime(&self)
    package mutating func next() throws(MongoError) -> BSONView? {
        var lent = unsafe cmongoc_document()
        guard unsafe cmongoc_change_stream_next(handle, &lent) else {
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

    /// Where the stream is: what `resumeAfter` takes; `nil` before the server's first answer.
    ///
    /// The corresponding C function is `mongoc_change_stream_get_resume_token`.
    package var resumeToken: ResumeToken? {
        unsafe BSONDocument(copying: cmongoc_change_stream_token(handle)).map { ResumeToken($0) }
    }

    private func throwError() throws(MongoError) {
        var error = bson_error_t()
        var reply = unsafe cmongoc_document()
        guard unsafe cmongoc_change_stream_error(handle, &error, &reply) else { return }
        throw lease.explained(unsafe MongoError(error, reply: BSONDocument(copying: reply), host: lease.host))
    }
}

/// A place in a change stream.
package struct ResumeToken: Hashable, Sendable {
    /// What the server understands.
    package let document: BSONDocument

    /// Wraps what a stream gave, now or in an earlier run.
    package init(_ document: BSONDocument) { self.document = document }

    /// The cluster time up to which the stream was read; `nil` for a form that is not known.
    ///
    /// Source: `resume_token.cpp` of mongod: the text begins with the type byte 0x82 and the timestamp, in hexadecimal
    /// digits.
    package var time: ClusterTime? {
        guard let text = document["_data"]?.text, text.hasPrefix("82"), text.utf8.count >= 18 else { return nil }
        return UInt64(text.dropFirst(2).prefix(16), radix: 16).map { ClusterTime(rawValue: $0) }
    }
}

extension MongoCollection {
    /// Follows the changes of the collection.
    ///
    /// The corresponding C function is `mongoc_collection_watch`.
    /// - Parameter options: `startAtOperationTime`, `resumeAfter`, `maxAwaitTimeMS`, `batchSize`, `readConcern`, ….
    /// - Returns: a stream; what goes wrong is thrown by its first `next()`.
    package func watch(_ pipeline: [BSONDocument] = [], options: BSONDocument = [:]) -> ChangeStream {
        let stages: BSONDocument = ["pipeline": .array(of: pipeline.map { .object($0) })]
        // To go on behind a place, the server may have much of its oplog to read.
        let stream = unsafe lending(stages, options.withTimeLimit, nil) { stages, options, _ in
            unsafe cmongoc_watch(lease.handle, namespace.database, namespace.collection, stages, options)
        }
        guard let stream = unsafe stream else { preconditionFailure("mongoc_collection_watch never fails") }
        return unsafe ChangeStream(owning: stream, lease: lease)
    }
}
