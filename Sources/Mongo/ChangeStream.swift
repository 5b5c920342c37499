package import BSON
internal import CMongoC

/// The changes of a collection, in order.
///
/// The stream returns a change only after a majority of the members has it, so that no failover can undo the change.
/// The stream's calls block the thread until the server answers. The stream holds its client, and kills the server's
/// cursor when it is destroyed. The corresponding C type is `mongoc_change_stream_t`, which reopens a lost stream once
/// per call. If the server refuses to read because of its load, this type reopens the stream.
@safe
package struct ChangeStream: ~Copyable {
    private var handle: OpaquePointer
    private let lease: ClientLease
    private let options: BSONDocument
    private let open: (BSONDocument) -> OpaquePointer?
    /// The position of the stream when it was last reopened; `nil` if it was never reopened, or had no position then.
    private var place: ResumeToken?
    private var refusals = 0

    /// Opens a change stream.
    /// - Parameter open: makes the driver open its stream with the given options; never returns `nil`.
    init(_ lease: ClientLease, _ options: BSONDocument, open: @escaping (BSONDocument) -> OpaquePointer?) {
        unsafe handle = Self.opened(open, options)
        (self.lease, self.options) = (lease, options)
        unsafe self.open = open
        lease.opened()
    }

    deinit {
        unsafe mongoc_change_stream_destroy(handle)
        lease.closed()
    }

    private static func opened(_ open: (BSONDocument) -> OpaquePointer?, _ options: BSONDocument) -> OpaquePointer {
        guard let handle = unsafe open(options) else { preconditionFailure("the driver always gives a stream") }
        return unsafe handle
    }

    /// Returns the next change; `nil` if none arrived within the stream's `maxAwaitTimeMS`.
    ///
    /// The result is also `nil` if the server refused to search for a change because of its load. The view is the
    /// driver's own buffer: nothing is copied, and it is valid until the next call. The corresponding C function is
    /// `mongoc_change_stream_next`.
    /// - Throws: ``MongoError`` when the server or the network fails; the stream cannot be used after that.
    @_lifetime(&self)
    package mutating func next() throws(MongoError) -> BSONView? {
        var lent = unsafe cmongoc_document()
        var wait: Overload.Wait?
        while unsafe !cmongoc_change_stream_next(handle, &lent) {
            guard let error = error() else {
                refusals = 0
                return nil
            }
            guard error.isOverload else { throw error }
            // If the stream has a position to resume from, this method returns after a short wait, so that the caller
            // can do other work. Before the server's first answer there is no such position, so this method retries by
            // itself.
            let hasPlace = resumeToken != nil
            if hasPlace {
                lease.pool.overload.rest(after: error, refusals: refusals + 1)
            } else {
                var current = wait ?? Overload.Wait(lease.pool.overload)
                guard current.shouldRetry(after: error, writes: false) else { throw error }
                wait = current
            }
            refusals += 1
            reopen()
            if hasPlace { return nil }
        }
        refusals = 0
        let bytes = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(lent.data), byteCount: lent.length)
        do throws(BSONError) {
            return unsafe _overrideLifetime(try BSONView(bytes), mutating: &self)
        } catch {
            throw MongoError(damaged: error, host: lease.host)
        }
    }

    /// The position of the stream, for `resumeAfter`; `nil` before the server's first answer.
    ///
    /// The corresponding C function is `mongoc_change_stream_get_resume_token`.
    package var resumeToken: ResumeToken? {
        unsafe BSONDocument(copying: cmongoc_change_stream_token(handle)).map { ResumeToken($0) } ?? place
    }

    private mutating func reopen() {
        place = resumeToken
        var options = options
        if let place {
            let places = ["resumeAfter", "startAfter", "startAtOperationTime"]
            let others = ((try? options.elements()) ?? []).filter { !places.contains($0.name) }
            options = BSONDocument(
                [("resumeAfter", .object(place.document))] + others.map { ($0.name, $0.value) })
        }
        unsafe mongoc_change_stream_destroy(handle)
        unsafe handle = Self.opened(open, options)
    }

    private func error() -> MongoError? {
        var error = bson_error_t()
        var reply = unsafe cmongoc_document()
        guard unsafe cmongoc_change_stream_error(handle, &error, &reply) else { return nil }
        return lease.explained(unsafe MongoError(error, reply: BSONDocument(copying: reply), host: lease.host))
    }
}

package struct ResumeToken: Hashable, Sendable {
    /// The token as the server sent it.
    package let document: BSONDocument

    /// Wraps a token that a stream returned, in this run or in an earlier one.
    package init(_ document: BSONDocument) { self.document = document }

    /// The cluster time up to which the stream was read; `nil` if the token has an unknown format.
    ///
    /// Source: `resume_token.cpp` of mongod. The text in `_data` begins with the type byte 0x82 and the timestamp, in
    /// hexadecimal digits.
    package var time: ClusterTime? {
        guard let text = document["_data"]?.text, text.hasPrefix("82"), text.utf8.count >= 18 else { return nil }
        return UInt64(text.dropFirst(2).prefix(16), radix: 16).map { ClusterTime(rawValue: $0) }
    }
}
