package import BSON
import Glibc
import Mongo
import Synchronization

/// A replica set of three members, each of which can be the primary.
///
/// It stops when the last reference to it is released, or when the process ends.
package final class FailoverSet: Sendable {
    private struct Member {
        let host: String
        let command: [String]
        /// The processes of the member.
        ///
        /// The first process owns the data folder; each of the others was started after a kill.
        var processes: [WatchedProcess]
        /// The clock of the member's processes; `nil` for the machine's clock.
        let clock: FakeClock?
    }

    /// The deployment; its connection string names all members.
    package let mongod: Mongod
    private let members: Mutex<[Member]>
    /// A deployment for each member, which connects only to that member.
    private let direct: [Mongod]

    private init(_ mongod: Mongod, _ members: [Member]) {
        self.mongod = mongod
        direct = members.map { Mongod(uri: "mongodb://\($0.host)/?directConnection=true", host: $0.host, process: nil) }
        self.members = Mutex(members)
    }

    deinit { members.withLock { Self.stop($0) } }

    private static func stop(_ members: [Member]) {
        for member in members { member.processes.reversed().forEach { $0.stop() } }
    }

    /// Starts the set, and waits until it has a primary.
    /// - Parameter offsets: the offsets of the first members' clocks from the machine's clock, such as `4s` or `-4s`.
    ///   All other members have the machine's clock.
    package static func start(offsets: [String] = []) async throws -> FailoverSet {
        var members: [Member] = []
        do {
            for index in 0..<3 {
                let clock = index < offsets.count ? try FakeClock() : nil
                let variables = clock?.variables(offsets[index]).map { "\($0.key)=\($0.value)" } ?? []
                let (process, host, command) = try await Mongod.startProcess(
                    .replicaSet, [], by: { command, _ in variables.isEmpty ? command : ["env"] + variables + command })
                members.append(Member(host: host, command: command, processes: [process], clock: clock))
            }
            let hosts = members.map(\.host)
            let config = hosts.enumerated().map { ["_id": .integer($0), "host": .string($1)] as BSONValue }
            let first = Mongod(uri: "mongodb://\(hosts[0])/?directConnection=true", host: hosts[0], process: nil)
            try await first.admin([
                "replSetInitiate": [
                    "_id": .string(Mongod.setName), "members": .array(of: config),
                    "settings": ["electionTimeoutMillis": 2_000, "heartbeatIntervalMillis": 500],
                ]
            ])
            let uri = "mongodb://\(hosts.joined(separator: ","))/?replicaSet=\(Mongod.setName)"
            let set = FailoverSet(Mongod(uri: uri, host: hosts[0], process: nil), members)
            members = []
            _ = try await set.primary()
            return set
        } catch {
            stop(members)
            throw error
        }
    }

    /// Waits for a primary, and returns its host.
    private func primary() async throws -> String {
        var host: String?
        try await waitUntil("the set has a primary") {
            // During an election, the members might not answer.
            host = try? await mongod.admin(["hello": 1])["primary"]?.text
            return host != nil
        }
        return host ?? ""
    }

    /// Returns the number of the current term, which grows with each election; 0 if the server reports none.
    package func term() async throws -> Int {
        try await mongod.admin(["replSetGetStatus": 1])["term"]?.integer ?? 0
    }

    /// Waits until the set has a primary that the other members follow, so that a test may stop the primary.
    package func waitForMembers() async throws {
        try await waitUntil("all members are there") {
            let status = try? await mongod.admin(["replSetGetStatus": 1])
            let states = status?["members"]?.document?.values.compactMap { $0.document?["state"]?.integer } ?? []
            return states.sorted() == [1, 2, 2]
        }
    }

    /// Returns the number of documents that each open cursor over a collection has returned, by the cursor's ID.
    package func returned(from namespace: Namespace) async -> [Int64: Int] {
        var returned: [Int64: Int] = [:]
        for member in direct {
            let found = try? await member.admin([
                "aggregate": 1,
                "pipeline": [
                    ["$currentOp": ["idleCursors": true]],
                    ["$match": ["ns": .string("\(namespace)"), "cursor": ["$exists": true]]],
                ], "cursor": [:],
            ])
            for operation in found?["cursor"]?.document?["firstBatch"]?.document?.values.compactMap(\.document) ?? [] {
                guard let cursor = operation["cursor"]?.document, case .long(let id)? = cursor["cursorId"] else {
                    continue
                }
                returned[id] = cursor["nDocsReturned"]?.integer ?? 0
            }
        }
        return returned
    }

    /// Kills the primary as `kill -9` does, and starts that member again.
    package func killPrimary() async throws {
        let host = try await primary()
        guard let port = host.split(separator: ":").last.flatMap({ UInt16($0) }).map(LocalPort.init(number:)),
            let index = members.withLock({ $0.firstIndex { $0.host == host } })
        else { throw TestSupportError("no member is called \(host)") }
        try members.withLock { try $0[index].processes.last?.kill() }
        try await waitUntil("\(host) is gone") { !port.isOpen }
        let folder = try makeTemporaryFolder("shipshape-mongod")
        try members.withLock { members in
            members[index].processes.append(try WatchedProcess.start(members[index].command, folder: folder))
        }
        _ = try await primary()
    }

    /// Makes the primary step down, and waits until the set has a primary.
    package func stepDown() async throws {
        // All errors are ignored, because the server may close the connection before it replies.
        _ = try? await mongod.admin(["replSetStepDown": 5, "secondaryCatchUpPeriodSecs": 2, "force": true])
        _ = try await primary()
    }
}
