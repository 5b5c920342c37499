import BSON
import Mongo

extension Mongod {
    /// Starts a server of its own, which ends with the last reference to it, or with the process.
    /// - Parameter more: further arguments of mongod; the last one of a name counts.
    package static func start(_ kind: Kind = .replicaSet, _ more: [String] = []) async throws -> Mongod {
        let (process, host, _) = try await startProcess(kind, more)
        do {
            return try await ready(kind, host: host, process: process)
        } catch {
            process.stop()
            throw error
        }
    }

    /// How a server is started that is not to be started as it is, of its command and its folder.
    typealias Wrapping = (_ command: [String], _ folder: String) -> [String]

    /// Starts a server that listens and belongs to no set yet, by a command that starts it again.
    static func startProcess(
        _ kind: Kind, _ more: [String], by wrapping: Wrapping = { command, _ in command }
    ) async throws -> (WatchedProcess, host: String, command: [String]) {
        var lastError: (any Error)?
        for _ in 0..<3 {  // somebody may take the port between our look and mongod's
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
        // Nobody is to wait for the oplog's window when the tests of an hour have filled it.
        for (name, value) in [("--wiredTigerCacheSizeGB", "0.5"), ("--oplogSize", "4096")] where !more.contains(name) {
            arguments += [name, value]
        }
        if kind != .standalone { arguments += ["--replSet", setName] }
        if kind == .withAuthentication {
            try writeText("c2hpcHNoYXBlIHRlc3RzIG9ubHk=", to: "\(folder)/key")
            arguments += ["--auth", "--keyFile", "\(folder)/key"]
            // The fewest that mongod takes: each of thousands of logins works through them on both sides.
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

    /// Has writes wait for a majority, as they do from 5.0 on: what a test wrote is read so at once.
    private func writeToMajority() async throws {
        guard try await admin(["buildInfo": 1])["version"]?.text?.hasPrefix("4.") == true else { return }
        try await admin(["setDefaultRWConcern": 1, "defaultWriteConcern": ["w": "majority"]])
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
    static var setName: String { "shipshape" }

    private static func log(_ folder: String) -> String { "\(folder)/output" }
}

/// Asks again and again until `condition` holds, for three minutes at most, which nothing takes on a machine that is busy.
package func waitUntil(_ what: String, _ condition: () async throws -> Bool) async throws {
    let start = ContinuousClock.now
    while try await !condition() {
        if ContinuousClock.now - start > .seconds(600) { throw TestSupportError("waited in vain until \(what)") }
        try await Task.sleep(for: .milliseconds(20))
    }
}
