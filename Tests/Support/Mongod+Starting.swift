import BSON
import Mongo

extension Mongod {
    /// Starts a server for the caller alone.
    ///
    /// The server stops when the last reference to it is released, or when the process ends.
    /// - Parameter more: arguments of mongod in addition to the usual ones; `--oplogSize` and `--wiredTigerCacheSizeGB`
    ///   replace the usual ones.
    package static func start(_ kind: Kind = .replicaSet, _ more: [String] = []) async throws -> Mongod {
        let (process, host, _) = try await startProcess(kind, more)
        do {
            return try await ready(kind, host: host, process: process)
        } catch {
            process.stop()
            throw error
        }
    }

    /// A function that changes the command by which a server is started; `folder` has the server's data.
    typealias Wrapping = (_ command: [String], _ folder: String) -> [String]

    /// Starts a server that listens, but is not a member of a replica set yet.
    /// - Returns: the process, its address, and the command that starts the server again.
    static func startProcess(
        _ kind: Kind, _ more: [String], by wrapping: Wrapping = { command, _ in command }
    ) async throws -> (WatchedProcess, host: String, command: [String]) {
        var lastError: (any Error)?
        for _ in 0..<3 {  // another program may take the port before mongod does
            do { return try await startOnce(kind, more, wrapping) } catch { lastError = error }
        }
        throw lastError ?? TestSupportError("no mongod")
    }

    private static func startOnce(
        _ kind: Kind, _ more: [String], _ wrapping: Wrapping
    ) async throws -> (WatchedProcess, host: String, command: [String]) {
        let binary = try executable()
        let port = try LocalPort.free()
        let folder = try makeTemporaryFolder("shipshape-mongod")
        let arguments = try arguments(kind, more, folder: folder, port: port)
        let command = wrapping([binary] + arguments, folder)
        let process = try WatchedProcess.start(command, folder: folder)
        do {
            try await waitUntil("mongod listens; see its log: \(log(folder))") { port.isOpen }
        } catch {
            process.stop()
            throw error
        }
        return (process, "127.0.0.1:\(port.number)", command)
    }

    private static func arguments(
        _ kind: Kind, _ more: [String], folder: String, port: LocalPort
    ) throws -> [String] {
        var arguments = [
            "--dbpath", folder, "--port", "\(port.number)", "--bind_ip", "127.0.0.1", "--nounixsocket", "--quiet",
            "--setParameter", "enableTestCommands=1",
            "--setParameter", "diagnosticDataCollectionEnabled=false",
        ]
        // The oplog is so large that no test waits for the oplog window, even after an hour of tests.
        for (name, value) in [("--wiredTigerCacheSizeGB", "0.5"), ("--oplogSize", "4096")] where !more.contains(name) {
            arguments += [name, value]
        }
        if kind != .standalone { arguments += ["--replSet", setName] }
        if kind == .withAuthentication {
            try writeText("c2hpcHNoYXBlIHRlc3RzIG9ubHk=", to: "\(folder)/key")
            arguments += ["--auth", "--keyFile", "\(folder)/key"]
            // The server hashes a password this many times when a user is created, and the client does so in each
            // login. The tests log in thousands of times, so they use the lowest number that mongod allows.
            for name in ["scramIterationCount", "scramSHA256IterationCount"] {
                arguments += ["--setParameter", "\(name)=5000"]
            }
        }
        return arguments + more
    }

    static func ready(_ kind: Kind, host: String, process: WatchedProcess) async throws -> Mongod {
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
            try await direct.writeToMajority()
            return Mongod(uri: "mongodb://\(host)/?replicaSet=\(setName)", host: host, process: process)
        }
        try await direct.admin(["createUser": "admin", "pwd": "admin-password", "roles": ["root"]])
        return Mongod(
            uri: "mongodb://admin:admin-password@\(host)/?replicaSet=\(setName)", host: host, process: process)
    }

    /// Makes all writes wait for a majority on MongoDB 4, so that a test can read its own writes.
    ///
    /// From MongoDB 5.0 on, this is the default, and the function changes nothing.
    private func writeToMajority() async throws {
        guard try await admin(["buildInfo": 1])["version"]?.text?.hasPrefix("4.") == true else { return }
        try await admin(["setDefaultRWConcern": 1, "defaultWriteConcern": ["w": "majority"]])
    }

    /// Waits until the server accepts writes.
    package func waitForPrimary() async throws {
        let pool = try sharedPool()
        try await waitUntil("\(host) becomes primary") {
            try await pool.withClient { client throws(MongoError) in
                try client.hello(readPreference: .nearest).isWritablePrimary
            }
        }
    }

    /// The name of all replica sets that the tests start.
    static var setName: String { "shipshape" }

    private static func log(_ folder: String) -> String { "\(folder)/output" }
}

/// Waits until `condition` holds; throws an error after ten minutes.
///
/// Nothing in the tests takes that long, even on a busy machine.
package func waitUntil(_ what: String, _ condition: () async throws -> Bool) async throws {
    let start = ContinuousClock.now
    while try await !condition() {
        if ContinuousClock.now - start > .seconds(600) { throw TestSupportError("waited in vain until \(what)") }
        try await Task.sleep(for: .milliseconds(20))
    }
}
