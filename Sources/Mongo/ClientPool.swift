internal import CMongoC
package import Concurrency
import Synchronization

/// The clients of one deployment, and the threads that monitor its servers.
///
/// The pool can be used from every thread. A client, a cursor or a session keeps its pool alive. The corresponding C
/// type is `mongoc_client_pool_t`.
@safe
package final class ClientPool {
    let handle: OpaquePointer
    /// The deployment's addresses, without user and password.
    package let host: String
    /// The database that the connection string names; `nil` when it names none.
    package let database: String?
    /// The connection string without its secrets.
    package let redactedURI: String
    /// The options that weaken the verification of the server's certificate, by their names in the connection string.
    package let weaknesses: [String]
    /// The longest time for which a call searches for a suitable server.
    let searchTime: Duration
    let isEncrypted: Bool
    /// The replica set that the connection string names; `nil` when it names none.
    let replicaSet: String?
    let handles = HandleCount()
    /// Whether a ping has shown that the deployment answers quickly.
    let isNear = Mutex(false)
    /// Makes this pool's commands wait while an overloaded server refuses them.
    package let overload = Overload()

    private init(owning handle: OpaquePointer, uri: borrowing MongoURI) {
        unsafe self.handle = handle
        host = uri.hosts.joined(separator: ",")
        database = uri.database
        redactedURI = uri.redacted
        weaknesses = uri.weaknesses
        searchTime = uri.serverSelectionTimeout
        isEncrypted = uri.isEncrypted
        replicaSet = uri.replicaSet
    }

    /// Closes the connections on a thread of our own, because the driver takes a third of a second to end its threads.
    deinit {
        nonisolated(unsafe) let handle = unsafe handle
        PosixThread.start(name: "mongo close") { unsafe mongoc_client_pool_destroy(handle) }
    }
}

// @unchecked: libmongoc documents mongoc_client_pool_t as thread-safe, and every stored property is constant.
extension ClientPool: @unchecked Sendable {}

extension ClientPool {
    /// Creates a pool; nothing is connected yet.
    /// - Throws: ``MongoError`` for a connection string, an option or a file that is not valid.
    package static func open(_ options: ConnectionOptions) throws(MongoError) -> ClientPool {
        let uri = try options.resolved()
        var error = bson_error_t()
        guard let handle = unsafe mongoc_client_pool_new_with_error(uri.handle, &error) else { throw MongoError(error) }
        let pool = unsafe ClientPool(owning: handle, uri: uri)
        // Version 2 of the error API separates the server's codes from the driver's, which partly have the same
        // numbers.
        guard unsafe mongoc_client_pool_set_error_api(handle, MONGOC_ERROR_API_VERSION_2) else {
            preconditionFailure("a new pool takes the error API")
        }
        return pool
    }

    /// Returns a client, for use on one thread at a time; it goes back to the pool when it is no longer referenced.
    ///
    /// Blocks while all clients are in use. The corresponding C function is `mongoc_client_pool_pop`.
    /// - Throws: ``MongoError`` when the connection string sets `waitQueueTimeoutMS` and that time has passed.
    package func client() throws(MongoError) -> Client {
        guard let client = unsafe mongoc_client_pool_pop(handle) else {
            throw MongoError(.client, .poolExhausted, message: "no client was free in time", host: host)
        }
        return Client(lease: unsafe ClientLease(owning: client, of: self))
    }

    /// Calls `body` with a client on a thread of our own, so that no thread of the cooperative pool blocks.
    package func withClient<R: Sendable>(
        _ body: @Sendable @escaping (borrowing Client) throws(MongoError) -> R
    ) async throws(MongoError) -> R {
        try await onOwnedThread(name: "mongo") { [self] () throws(MongoError) -> R in
            let client = try self.client()
            return try body(client)
        }
    }

    /// The number of this pool's live handles of the driver, such as clients and cursors; for tests.
    package var liveHandles: Int { handles.value }
}

extension BackgroundTask {
    /// Starts a background task that calls `body` with a client of the pool.
    ///
    /// If the server is overloaded, the client's commands wait no longer than the caller's limit (``Overload/limit``)
    /// allows. If the caller stops waiting for the task, a read that the task has sent continues. The server ends such
    /// a read early only when the client disconnects.
    package convenience init(on pool: ClientPool, _ body: @Sendable @escaping (borrowing Client) throws -> R) {
        let limit = Overload.limit
        self.init { try Overload.within(limit) { try body(try pool.client()) } }
    }
}
