package import BSON
import Concurrency
package import Mongo
import Synchronization

/// A deployment for tests: a mongod that we started, or one that was running already.
package final class Mongod: Sendable {
    /// The kind of server to start.
    package enum Kind: Sendable {
        /// A replica set of one member, which most of the tests use.
        case replicaSet
        /// A server without an oplog, and so without change streams and retryable writes.
        case standalone
        /// A replica set of one member that requires a login; ``Mongod/uri`` is the administrator's.
        case withAuthentication
    }

    /// The connection string.
    package let uri: String
    /// The host as `127.0.0.1:port`; the host in the given string if the deployment is not ours.
    package let host: String
    let process: WatchedProcess?
    let lock = AsyncLock()
    private let adminPool = Mutex<ClientPool?>(nil)

    init(uri: String, host: String, process: WatchedProcess?) {
        self.uri = uri
        self.host = host
        self.process = process
    }

    deinit { process?.stop() }

    /// Whether we started the server, so that a test may kill it.
    package var isOurs: Bool { process != nil }

    /// Kills our server as `kill -9` does.
    package func kill() throws {
        guard let process else { throw TestSupportError("the deployment at \(host) is not ours to kill") }
        try process.kill()
    }

    /// Options to connect to it, with short timeouts.
    package var options: ConnectionOptions {
        var options = ConnectionOptions(uri: uri)
        options.connectTimeout = .seconds(20)
        return options
    }

    /// Returns a separate pool for a test.
    /// - Parameter appName: the name by which ``FailPoint/appName`` recognises it.
    package func pool(appName: String? = nil) throws -> ClientPool {
        var options = options
        options.appName = appName
        return try ClientPool.open(options)
    }

    /// Runs a command on `admin`, or on another of the server's own databases.
    @discardableResult
    package func admin(_ command: BSONDocument, on database: String = "admin") async throws -> BSONDocument {
        try await sharedPool().withClient { client throws(MongoError) in
            try client.runCommand(command, on: database)
        }
    }

    /// Returns the pool that this support itself uses, because a new one for each command would connect again each
    /// time.
    func sharedPool() throws -> ClientPool {
        try adminPool.withLock { kept in
            let pool = try kept ?? pool()
            kept = pool
            return pool
        }
    }
}

extension ClientPool {
    /// Passes a client to `body` on a thread of our own; `body` may throw any error.
    package func run<R: Sendable>(
        _ body: @Sendable @escaping (borrowing Client) throws -> R
    ) async throws -> R {
        try await onOwnedThread(name: "test") { [self] in
            let client = try self.client()
            return try body(client)
        }
    }
}
