import BSON
import Glibc
import Mongo

/// A replica set of three members, which ends with the last reference to it, or with the process.
package final class ThreeNodes: Sendable {
    /// The member that takes writes; its connection string names that member alone, save where any may be elected.
    package let primary: Mongod
    /// The hosts of the others.
    package let secondaries: [String]
    private let processes: [WatchedProcess]

    private init(primary: Mongod, secondaries: [String], processes: [WatchedProcess]) {
        self.primary = primary
        self.secondaries = secondaries
        self.processes = processes
    }

    deinit { processes.forEach { $0.stop() } }

    /// Starts it and waits until all members have all data.
    ///
    /// A member that stands still stays in the set, as seen by the others, for a minute.
    /// - Parameter electsAny: whether any member may take the primary's place, at once.
    package static func start(electsAny: Bool = false) async throws -> ThreeNodes {
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
                ["_id": .integer(index), "host": .string(host), "priority": index == 0 || electsAny ? 1 : 0]
            }
            try await first.admin([
                "replSetInitiate": [
                    "_id": .string(Mongod.setName), "members": .array(of: members),
                    // Each follows the primary itself, so that one that stands still holds up nobody else.
                    "settings": ["electionTimeoutMillis": electsAny ? 1_000 : 3_000, "chainingAllowed": false],
                ]
            ])
            try await primary.waitForPrimary()
            let set = ThreeNodes(
                primary: primary, secondaries: Array(hosts[1...]), processes: started.map(\.process))
            started = []
            try await waitUntil("both secondaries follow") {
                try await set.lags().filter { $0.isSecondary && $0.seconds <= 0 }.count == 2
            }
            if !electsAny { try await set.keepUnreachableMembers() }
            return set
        } catch {
            started.forEach { $0.process.stop() }
            throw error
        }
    }

    /// Has the primary take a member that does not answer for one that is healthy, for a minute.
    ///
    /// After the first election: until that the members wait as long.
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

    /// The host of the member that takes writes.
    private func currentPrimary() async throws -> String? {
        let status = try await primary.admin(["replSetGetStatus": 1])
        let members = status["members"]?.document?.values.compactMap(\.document) ?? []
        return members.first { $0["state"] == 1 }?["name"]?.text
    }

    /// Has another member take the primary's place, which lives on or is killed; only where any may be elected.
    package func failOver(killing kills: Bool) async throws {
        guard let before = try await currentPrimary() else { throw TestSupportError("the set has no primary") }
        if kills {
            let hosts = primary.host.split(separator: ",").map(String.init)
            guard let index = hosts.firstIndex(of: before) else { throw TestSupportError("\(before) is no member") }
            try processes[index].kill()
        } else {
            // The connection may break with it, and so the reply be lost.
            _ = try? await primary.admin(["replSetStepDown": 60, "secondaryCatchUpPeriodSecs": 10])
        }
        try await waitUntil("another member takes writes") {
            let now = try? await currentPrimary()
            return now != nil && now != before
        }
    }

    /// How far the other members are behind, in whole seconds, as the primary knows it.
    private func lags() async throws -> [(host: String, isSecondary: Bool, seconds: Int)] {
        let status = try await primary.admin(["replSetGetStatus": 1])
        let members = status["members"]?.document?.values.compactMap(\.document) ?? []
        func time(_ member: BSONDocument?) -> Int {
            if case .date(let milliseconds)? = member?["optimeDate"] { Int(milliseconds / 1_000) } else { 0 }
        }
        // Any of them, where any may be elected.
        let first = time(members.first { $0["state"]?.integer == 1 })
        return members.filter { $0["state"]?.integer != 1 }.map { member in
            (member["name"]?.text ?? "", member["state"]?.integer == 2, first - time(member))
        }
    }

    /// Stops a secondary, writes, and waits until the primary knows it to be so many seconds behind.
    package func stopSecondary(behindBy seconds: Int) async throws {
        try processes[1].send(SIGSTOP)
        try await waitUntil("\(secondaries[0]) is behind") {
            try await primary.admin(["appendOplogNote": 1, "data": ["test": "a write"]])
            return try await lags().contains { $0.host == secondaries[0] && $0.seconds >= seconds }
        }
    }

    /// Lets the secondary go on.
    package func continueSecondary() throws { try processes[1].send(SIGCONT) }
}
