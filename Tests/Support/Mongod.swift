package import BSON
import Concurrency
import Glibc
package import Mongo
import Synchronization

/// A deployment for tests: a mongod that the tests started, or an existing deployment.
package final class Mongod: Sendable {
    /// The kind of server to start.
    package enum Kind: Sendable {
        /// A replica set of one member, for most of the tests.
        case replicaSet
        /// A server without an oplog, and therefore without change streams and retryable writes.
        case standalone
        /// A replica set of one member that requires a login; ``Mongod/uri`` logs in as an administrator.
        case withAuthentication
    }

    /// The connection string of the deployment.
    package let uri: String
    /// The address as `127.0.0.1:port`; for an existing deployment, the host in its connection string.
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

    /// Whether the tests started the server, so that a test may kill it.
    package var isOurs: Bool { process != nil }

    /// Kills the server as `kill -9` does.
    /// - Throws: ``TestSupportError`` if the tests did not start it.
    package func kill() throws {
        guard let process else { throw TestSupportError("the deployment at \(host) is not ours to kill") }
        try process.kill()
    }

    /// Suspends the server for the rest of the test, so that it answers nothing.
    /// - Throws: ``TestSupportError`` if the tests did not start it.
    package func suspend() throws {
        guard let process else { throw TestSupportError("the deployment at \(host) is not ours to suspend") }
        try process.send(SIGSTOP)
    }

    /// Options to connect to the deployment, with a short timeout.
    package var options: ConnectionOptions {
        var options = ConnectionOptions(uri: uri)
        options.add("serverSelectionTimeoutMS=16000")
        return options
    }

    /// Returns a new pool of connections for a test.
    /// - Parameter appName: the application name of the pool, so that ``FailPoint/appName`` can select the pool.
    package func pool(appName: String? = nil) throws -> ClientPool {
        var options = options
        if let appName { options.add("appName=\(appName)") }
        return try ClientPool.open(options)
    }

    /// Runs a command on `admin`, or on another of the server's system databases, such as `local`.
    @discardableResult
    package func admin(_ command: BSONDocument, on database: String = "admin") async throws -> BSONDocument {
        try await sharedPool().withClient { client throws(MongoError) in
            try client.runCommand(command, on: database)
        }
    }

    /// Returns the pool that the test support uses for its own commands.
    ///
    /// There is only one such pool, because a new pool for each command would have to connect each time.
    func sharedPool() throws -> ClientPool {
        try adminPool.withLock { kept in
            let pool = try kept ?? pool()
            kept = pool
            return pool
        }
    }
}

extension ClientPool {
    /// Runs `body` with a client of the pool on a thread of its own; `body` may throw any error.
    package func run<R: Sendable>(
        _ body: @Sendable @escaping (borrowing Client) throws -> R
    ) async throws -> R {
        try await onOwnedThread(name: "test") { [self] in
            let client = try self.client()
            return try body(client)
        }
    }
}

extension ConnectionOptions {
    /// Adds an option, such as `appName=mine`, to the connection string.
    package mutating func add(_ option: String) {
        uri += (uri.contains("?") ? "&" : uri.hasSuffix("/") ? "?" : "/?") + option
    }
}
