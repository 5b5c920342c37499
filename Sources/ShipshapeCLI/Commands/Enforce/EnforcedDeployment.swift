internal import BSON
internal import Concurrency
internal import Enforcing
internal import Files
internal import JobState
internal import Mongo

/// A collection whose validator is tightened, and its deployment; each read and step runs on a separate thread.
struct EnforcedDeployment {
    let namespace: Namespace
    let reading: ClientPool
    private let stateDatabase: String
    private let host: DeploymentHost
    private let identity = RunnerIdentity.current()

    init(_ namespace: Namespace, state: String, reading: ClientPool, changing: ClientPool) {
        (self.namespace, stateDatabase, self.reading) = (namespace, state, reading)
        host = DeploymentHost(reading: reading, changing: changing)
    }

    /// Calls `body` on a separate thread, and passes it the ``Enforcement`` of the collection.
    func with<R: Sendable>(_ body: @Sendable @escaping (borrowing Enforcement) throws -> R) async throws -> R {
        try await onOwnedThread(name: "enforce") { [namespace, reading, stateDatabase, host, identity] () throws in
            let client = StoreClient(database: stateDatabase, client: try reading.client())
            let store = EnforcementStore(namespace, client: client, identity: identity)
            return try body(Enforcement(namespace, store: store, host: host))
        }
    }

    /// Refuses a server older than MongoDB 9.0, which does not know the level "constraint".
    func requireConstraint() async throws {
        let version = try await reading.withClient { client throws(MongoError) in try client.buildInfo() }
        guard version.isAtLeast(9) else {
            throw UsageError(
                "--to constraint needs MongoDB 9.0, and this server is \(version.version): use --to error")
        }
    }
}
