package import BSON
internal import CMongoC
internal import Concurrency

/// A logical session, for operations that belong together; the server identifies it by its ``id``.
///
/// The session holds its client. The corresponding C type is `mongoc_client_session_t`.
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

    /// The session's `lsid`, in the form that `killSessions` takes and `currentOp` shows.
    package var id: BSONDocument { unsafe BSONDocument(copying: cmongoc_session_lsid(handle)) ?? BSONDocument() }

    /// Returns `options` with this session added, so that an operation with these options runs in the session.
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

    /// The cluster time of the session's last operation: the seconds in the upper 32 bits, an ordinal in the lower 32
    /// bits.
    ///
    /// The value is 0 before the first operation.
    package var operationTime: UInt64 {
        var seconds: UInt32 = 0
        var ordinal: UInt32 = 0
        unsafe mongoc_client_session_get_operation_time(handle, &seconds, &ordinal)
        return UInt64(seconds) << 32 | UInt64(ordinal)
    }

    /// Makes later reads see at least the data of the cluster time `time`.
    ///
    /// A `time` before ``operationTime`` changes nothing.
    ///
    /// The corresponding C function is `mongoc_client_session_advance_operation_time`.
    package func advance(to time: UInt64) {
        unsafe mongoc_client_session_advance_operation_time(
            handle, UInt32(truncatingIfNeeded: time >> 32), UInt32(truncatingIfNeeded: time))
    }
}

// MARK: transactions

extension Session {
    /// Begins a transaction.
    ///
    /// The operations that use ``options(adding:)`` from now on belong to the transaction. They see one point in time,
    /// and happen all together or not at all. The change events of the transaction's writes name this session. The
    /// corresponding C function is `mongoc_client_session_start_transaction`.
    /// - Parameters:
    ///   - commitLimit: the longest time for the server to commit, and for a majority to acknowledge it.
    ///   - isLocal: whether the transaction reads the newest data of the primary (read concern `local`), which is one
    ///     point in time on a replica set, but not on a sharded cluster.
    ///   - isMajority: whether the commit waits for a majority; if not, only the primary acknowledges it.
    /// - Throws: ``MongoError`` when a transaction is already running, or the deployment does not support transactions.
    package func startTransaction(
        commitLimit: Duration, isLocal: Bool = false, isMajority: Bool = true
    ) throws(MongoError) {
        var error = bson_error_t()
        guard
            unsafe cmongoc_session_start_transaction(
                handle, isLocal, isMajority, commitLimit.milliseconds, &error)
        else {
            throw MongoError(error, host: lease.host)
        }
    }

    /// Commits the transaction, and waits for the members that the transaction was started with.
    ///
    /// The corresponding C function is `mongoc_client_session_commit_transaction`, which tries twice.
    /// - Throws: ``MongoError``; after a transient error, the transaction may have been committed.
    package func commitTransaction() throws(MongoError) {
        var error = bson_error_t()
        var answer = unsafe cmongoc_reply()
        let isDone = unsafe cmongoc_session_commit(handle, &answer, &error)
        let reply = unsafe answer.take()
        if let error = MongoError(writeConcernErrorOf: reply, host: lease.host) { throw error }
        guard isDone else { throw lease.explained(MongoError(error, reply: reply, host: lease.host)) }
    }

    /// Aborts the transaction, if one is running.
    ///
    /// The server aborts a transaction by itself after a minute, by default. The corresponding C function is
    /// `mongoc_client_session_abort_transaction`.
    /// - Returns: whether the server certainly has no transaction of this session any more.
    @discardableResult
    package func abortTransaction() -> Bool {
        guard unsafe mongoc_client_session_in_transaction(handle) else { return true }
        var error = bson_error_t()
        return unsafe mongoc_client_session_abort_transaction(handle, &error)
    }
}

extension Client {
    /// Ends sessions of this client or another one, and the transactions in them.
    /// - Parameter sessions: the ``Session/id`` of each.
    /// - Throws: ``MongoError``, for instance when the user has no permission to end another user's session.
    package func killSessions(_ sessions: [BSONDocument]) throws(MongoError) {
        try runCommand(["killSessions": .array(of: sessions.map { .object($0) })], on: "admin")
    }

    /// Returns the deployment's current cluster time, as the bits of a timestamp; 0 if the server has none.
    ///
    /// The primary returns the time of its last write, or a later time. A secondary that lags may return an earlier
    /// time.
    package func operationTime(_ members: ReadPreference = .primaryPreferred) throws(MongoError) -> UInt64 {
        let session = try startSession()
        try runCommand(["ping": 1], on: "admin", options: try session.options(), readPreference: members)
        return session.operationTime
    }

    /// Starts a session.
    ///
    /// The corresponding C function is `mongoc_client_start_session`.
    /// - Parameter isSnapshot: whether all reads of the session see one point in time (servers from 5.0 on).
    /// - Throws: ``MongoError`` when the deployment does not support sessions, or cannot be reached.
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
