package import BSON
internal import CMongoC

/// A logical session, for operations that belong together; the server knows it by its ``id``.
///
/// It holds its client. The corresponding C type is `mongoc_client_session_t`.
@safe
package struct Session: ~Copyable {
    private let handle: OpaquePointer
    private let lease: ClientLease

    fileprivate init(owning handle: OpaquePointer, lease: ClientLease) {
        unsafe self.handle = handle
        self.lease = lease
        lease.opened()
    }

    deinit {
        unsafe mongoc_client_session_destroy(handle)
        lease.closed()
    }

    /// The `lsid`, as `killSessions` takes it and `currentOp` shows it.
    package var id: BSONDocument { unsafe BSONDocument(copying: cmongoc_session_lsid(handle)) ?? BSONDocument() }

    /// The options of an operation that shall run in this session.
    ///
    /// The corresponding C function is `mongoc_client_session_append`.
    /// - Throws: ``MongoError`` when the options belong to another session.
    package func options(adding options: BSONDocument = [:]) throws(MongoError) -> BSONDocument {
        var error = bson_error_t()
        var answer = unsafe cmongoc_reply()
        let isDone = unsafe options.lend { unsafe cmongoc_session_append(handle, $0, &answer, &error) }
        let appended = unsafe answer.take()
        guard isDone else { throw MongoError(error, host: lease.host) }
        return appended
    }

    /// The cluster time of the last operation: seconds in the upper, an ordinal in the lower half; 0 before any.
    package var operationTime: UInt64 {
        var seconds: UInt32 = 0
        var ordinal: UInt32 = 0
        unsafe mongoc_client_session_get_operation_time(handle, &seconds, &ordinal)
        return UInt64(seconds) << 32 | UInt64(ordinal)
    }

    /// Makes later reads see at least what there was at that cluster time; an earlier one than ``operationTime`` changes
    /// nothing.
    ///
    /// The corresponding C function is `mongoc_client_session_advance_operation_time`.
    package func advance(to time: UInt64) {
        unsafe mongoc_client_session_advance_operation_time(
            handle, UInt32(truncatingIfNeeded: time >> 32), UInt32(truncatingIfNeeded: time))
    }
}

extension Client {
    /// The deployment's time now, as a timestamp's bits; 0 of a server that has none.
    /// - Throws: ``MongoError``.
    package func operationTime() throws(MongoError) -> UInt64 {
        let session = try startSession()
        try runCommand(
            ["ping": 1], on: "admin", options: try session.options(), readPreference: ReadPreference(.primaryPreferred))
        return session.operationTime
    }

    /// Starts a session.
    ///
    /// The corresponding C function is `mongoc_client_start_session`.
    /// - Parameter isSnapshot: whether all its reads see one point in time (servers from 5.0 on).
    /// - Throws: ``MongoError`` when the deployment knows no sessions, or cannot be reached.
    package func startSession(isSnapshot: Bool = false) throws(MongoError) -> Session {
        let options = unsafe mongoc_session_opts_new()
        defer { unsafe mongoc_session_opts_destroy(options) }
        if isSnapshot { unsafe mongoc_session_opts_set_snapshot(options, true) }
        var error = bson_error_t()
        guard let handle = unsafe mongoc_client_start_session(lease.handle, options, &error) else {
            throw lease.explained(MongoError(error, host: lease.host))
        }
        return unsafe Session(owning: handle, lease: lease)
    }
}
