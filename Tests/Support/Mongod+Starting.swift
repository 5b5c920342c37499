import BSON
import Mongo

extension Mongod {
    /// Starts a server of its own, which ends with the last reference to it, or with the process.
    package static func start(_ kind: Kind = .replicaSet) async throws -> Mongod {
        var lastError: (any Error)?
        for _ in 0..<3 {  // somebody may take the port between our look and mongod's
            do { return try await startOnce(kind) } catch { lastError = error }
        }
        throw lastError ?? TestSupportError("no mongod")
    }

    private static func startOnce(_ kind: Kind) async throws -> Mongod {
        let binary = try executable()
        let port = try LocalPort.free()
        let folder = try makeTemporaryFolder("shipshape-mongod")
        let arguments = try arguments(kind, folder: folder, port: port)
        let process = try WatchedProcess.start([binary] + arguments, folder: folder)
        do {
            try await waitUntil("mongod listens; see its log: \(log(folder))") { port.isOpen }
            return try await ready(kind, host: "127.0.0.1:\(port.number)", process: process)
        } catch {
            process.stop()
            throw error
        }
    }

    private static func arguments(_ kind: Kind, folder: String, port: LocalPort) throws -> [String] {
        var arguments = [
            "--dbpath", folder, "--port", "\(port.number)", "--bind_ip", "127.0.0.1", "--nounixsocket", "--quiet",
            "--wiredTigerCacheSizeGB", "0.5", "--setParameter", "enableTestCommands=1",
            "--setParameter", "diagnosticDataCollectionEnabled=false",
        ]
        if kind != .standalone { arguments += ["--replSet", setName, "--oplogSize", "256"] }
        if kind == .withAuthentication {
            try writeText("c2hpcHNoYXBlIHRlc3RzIG9ubHk=", to: "\(folder)/key")
            arguments += ["--auth", "--keyFile", "\(folder)/key"]
        }
        return arguments
    }

    private static func ready(_ kind: Kind, host: String, process: WatchedProcess) async throws -> Mongod {
        let direct = Mongod(uri: "mongodb://\(host)/?directConnection=true", host: host, process: nil)
        guard kind != .standalone else { return Mongod(uri: direct.uri, host: host, process: process) }
        let members: BSONValue = [["_id": 0, "host": .string(host)]]
        try await direct.admin([
            "replSetInitiate": [
                "_id": .string(setName), "members": members, "settings": ["electionTimeoutMillis": 1_000],
            ]
        ])
        try await direct.waitForPrimary()
        guard kind == .withAuthentication else {
            return Mongod(uri: "mongodb://\(host)/?replicaSet=\(setName)", host: host, process: process)
        }
        try await direct.admin(["createUser": "admin", "pwd": "admin-password", "roles": ["root"]])
        return Mongod(
            uri: "mongodb://admin:admin-password@\(host)/?replicaSet=\(setName)", host: host, process: process)
    }

    /// Waits until the server takes writes.
    package func waitForPrimary() async throws {
        let pool = try sharedPool()
        try await waitUntil("\(host) becomes primary") {
            try await pool.withClient { client throws(MongoError) in
                try client.hello(readPreference: ReadPreference(.nearest)).isWritablePrimary
            }
        }
    }

    /// The replica sets' name.
    private static var setName: String { "shipshape" }

    private static func log(_ folder: String) -> String { "\(folder)/output" }
}

/// Asks again and again until `condition` holds, for a minute at most.
package func waitUntil(_ what: String, _ condition: () async throws -> Bool) async throws {
    let start = ContinuousClock.now
    while try await !condition() {
        if ContinuousClock.now - start > .seconds(60) { throw TestSupportError("waited in vain until \(what)") }
        try await Task.sleep(for: .milliseconds(20))
    }
}
