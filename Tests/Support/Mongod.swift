package import BSON
import Concurrency
package import Mongo
import Synchronization

/// A deployment for tests: a mongod that we started, or one that is there.
package final class Mongod: Sendable {
    /// What to start.
    package enum Kind: Sendable {
        /// A replica set of one member: what most of the tests want.
        case replicaSet
        /// A server without an oplog: no change streams, no sessions' retries.
        case standalone
        /// A replica set of one member that asks for a login; ``Mongod/uri`` is the administrator's.
        case withAuthentication
    }

    /// The connection string.
    package let uri: String
    /// `127.0.0.1:port`; the host of the given string where the deployment is not ours.
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

    /// Whether we started it, so that a test may kill it.
    package var isOurs: Bool { process != nil }

    /// Kills our server as `kill -9` does.
    package func kill() throws {
        guard let process else { throw TestSupportError("the deployment at \(host) is not ours to kill") }
        try process.kill()
    }

    /// Options to reach it, with short timeouts.
    package var options: ConnectionOptions {
        var options = ConnectionOptions(uri: uri)
        options.connectTimeout = .seconds(20)
        return options
    }

    /// A pool of its own for a test.
    /// - Parameter appName: what ``FailPoint/appName`` tells it apart by.
    package func pool(appName: String? = nil) throws -> ClientPool {
        var options = options
        options.appName = appName
        return try ClientPool.open(options)
    }

    /// Runs a command on `admin`, or another database that is the server's own.
    @discardableResult
    package func admin(_ command: BSONDocument, on database: String = "admin") async throws -> BSONDocument {
        try await sharedPool().withClient { client throws(MongoError) in
            try client.runCommand(command, on: database)
        }
    }

    /// The pool that this support itself uses: a new one per command would connect anew each time.
    func sharedPool() throws -> ClientPool {
        try adminPool.withLock { kept in
            let pool = try kept ?? pool()
            kept = pool
            return pool
        }
    }
}

extension ClientPool {
    /// Lends a client to `body` on a thread of our own; `body` may throw anything.
    package func run<R: Sendable>(
        _ body: @Sendable @escaping (borrowing Client) throws -> R
    ) async throws -> R {
        try await onOwnedThread(name: "test") { [self] in
            let client = try self.client()
            return try body(client)
        }
    }
}
