import BSON
import Glibc
import Mongo

/// A replica set of three members.
///
/// It stops when the last reference to it is released, or when the process ends.
package final class ThreeNodes: Sendable {
    /// The member that accepts writes, with a connection string.
    ///
    /// If every member can be elected, the connection string names all members; otherwise, it names only the first
    /// member.
    package let primary: Mongod
    /// The hosts of the second and the third member; if every member can be elected, one of them may be the primary.
    package let secondaries: [String]
    private let processes: [WatchedProcess]

    private init(primary: Mongod, secondaries: [String], processes: [WatchedProcess]) {
        self.primary = primary
        self.secondaries = secondaries
        self.processes = processes
    }

    deinit { processes.forEach { $0.stop() } }

    /// Starts the set, and waits until all members have all data.
    ///
    /// If only the first member can be elected, it considers another member healthy for a minute after that member has
    /// stopped answering. The throttle ignores the lag of members that are not healthy.
    /// - Parameters:
    ///   - electsAny: whether every member can be elected; otherwise only the first one can.
    ///   - hasArbiter: whether the third member is an arbiter, which votes and has no data.
    package static func start(electsAny: Bool = false, hasArbiter: Bool = false) async throws -> ThreeNodes {
        var started: [(process: WatchedProcess, host: String)] = []
        do {
            for _ in 0..<3 {
                let (process, host, _) = try await Mongod.startProcess(.replicaSet, [])
                started.append((process, host))
            }
            let hosts = started.map(\.host)
            let first = Mongod(uri: "mongodb://\(hosts[0])/?directConnection=true", host: hosts[0], process: nil)
            let all = hosts.joined(separator: ",")
            let primary =
                electsAny
                ? Mongod(uri: "mongodb://\(all)/?replicaSet=\(Mongod.setName)", host: all, process: nil) : first
            let members = hosts.enumerated().map { index, host -> BSONValue in
                [
                    "_id": .integer(index), "host": .string(host), "priority": index == 0 || electsAny ? 1 : 0,
                    "arbiterOnly": .bool(hasArbiter && index == 2),
                ]
            }
            try await first.admin([
                "replSetInitiate": [
                    "_id": .string(Mongod.setName), "members": .array(of: members),
                    // Each member replicates from the primary, so that a stopped member does not delay another one.
                    "settings": ["electionTimeoutMillis": electsAny ? 1_000 : 3_000, "chainingAllowed": false],
                ]
            ])
            try await primary.waitForPrimary()
            let set = ThreeNodes(
                primary: primary, secondaries: Array(hosts[1...]), processes: started.map(\.process))
            started = []
            try await waitUntil("the secondaries follow") {
                try await set.lags().filter { $0.isSecondary && $0.seconds <= 0 }.count == (hasArbiter ? 1 : 2)
            }
            if !electsAny { try await set.keepUnreachableMembers() }
            return set
        } catch {
            started.forEach { $0.process.stop() }
            throw error
        }
    }

    /// Makes the primary consider a member healthy for a minute after the member has stopped answering.
    ///
    /// The throttle ignores the lag of members that are not healthy. Call this function after the first election,
    /// because its settings would delay that election by a minute.
    private func keepUnreachableMembers() async throws {
        let reply = try await primary.admin(["replSetGetConfig": 1])
        guard let config = reply["config"]?.document, let version = config["version"]?.integer else {
            throw TestSupportError("the set has no configuration")
        }
        let settings: BSONDocument = [
            "electionTimeoutMillis": 60_000, "heartbeatTimeoutSecs": 60, "chainingAllowed": false,
        ]
        let fields = try config.elements().map { name, value -> (String, BSONValue) in
            switch name {
            case "version": (name, .integer(version + 1))
            case "settings": (name, .object(settings))
            default: (name, value)
            }
        }
        try await primary.admin(["replSetReconfig": .object(BSONDocument(fields))])
    }

    /// Returns the host of the member that accepts writes; `nil` if there is none.
    private func currentPrimary() async throws -> String? {
        let status = try await primary.admin(["replSetGetStatus": 1])
        let members = status["members"]?.document?.values.compactMap(\.document) ?? []
        return members.first { $0["state"] == 1 }?["name"]?.text
    }

    /// Makes another member the primary; the old primary steps down or is killed.
    ///
    /// Every member must be electable.
    package func failOver(killing kills: Bool) async throws {
        guard let before = try await currentPrimary() else { throw TestSupportError("the set has no primary") }
        if kills {
            let hosts = primary.host.split(separator: ",").map(String.init)
            guard let index = hosts.firstIndex(of: before) else { throw TestSupportError("\(before) is no member") }
            try processes[index].kill()
        } else {
            // All errors are ignored, because the connection may break before the reply arrives.
            _ = try? await primary.admin(["replSetStepDown": 60, "secondaryCatchUpPeriodSecs": 10])
        }
        try await waitUntil("another member takes writes") {
            let now = try? await currentPrimary()
            return now != nil && now != before
        }
    }

    /// Returns the lag of each member except the primary, in whole seconds, as the primary reports it.
    private func lags() async throws -> [(host: String, isSecondary: Bool, seconds: Int)] {
        let status = try await primary.admin(["replSetGetStatus": 1])
        let members = status["members"]?.document?.values.compactMap(\.document) ?? []
        func time(_ member: BSONDocument?) -> Int {
            if case .date(let milliseconds)? = member?["optimeDate"] { Int(milliseconds / 1_000) } else { 0 }
        }
        // If every member can be elected, the primary need not be the first member.
        let first = time(members.first { $0["state"]?.integer == 1 })
        return members.filter { $0["state"]?.integer != 1 }.map { member in
            (member["name"]?.text ?? "", member["state"]?.integer == 2, first - time(member))
        }
    }

    /// Stops a secondary, and writes until the primary reports that the secondary lags by this many seconds.
    package func stopSecondary(behindBy seconds: Int) async throws {
        try processes[1].send(SIGSTOP)
        try await waitUntil("\(secondaries[0]) is behind") {
            try await primary.admin(["appendOplogNote": 1, "data": ["test": "a write"]])
            return try await lags().contains { $0.host == secondaries[0] && $0.seconds >= seconds }
        }
    }

    /// Lets the stopped secondary continue.
    package func continueSecondary() throws { try processes[1].send(SIGCONT) }
}
