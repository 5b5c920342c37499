package import BSON

/// A failure that a test causes in a server with the fail point `failCommand`.
package struct FailPoint: Sendable {
    /// The rule that decides which calls of the commands fail: all, the first few, all but the first few, or a random
    /// share.
    package enum Mode: Sendable {
        /// All calls fail until the fail point is removed.
        case always
        /// The first calls, up to this number, fail, and all later calls succeed.
        case times(Int)
        /// The first calls, up to this number, succeed, and all later calls fail.
        case skip(Int)
        /// Each call fails with this probability, from 0 to 1.
        case probability(Double)
    }

    /// The names of the commands that fail.
    package var commands: [String]
    /// The rule that decides which calls of the ``commands`` fail.
    package var mode: Mode = .always
    /// The error code with which the server replies; `nil` for no error.
    package var errorCode: Int?
    /// The labels of the error.
    package var errorLabels: [String] = []
    /// Whether the server closes the connection instead of replying.
    package var closesConnection = false
    /// The time for which the server blocks the command; `nil` to not block it.
    package var blockTime: Duration?
    /// The write concern error that the server adds to a successful reply; `nil` for none.
    package var writeConcernError: BSONDocument?
    /// The only collection to which the fail point applies, as "database.collection"; `nil` for all collections.
    package var namespace: String?
    /// The application name of the only client to which the fail point applies.
    ///
    /// `nil` for all clients, which is not allowed on a shared server.
    package var appName: String?

    /// Makes a fail point that has no effect yet.
    package init(_ commands: String..., appName: String? = nil, mode: Mode = .always) {
        self.commands = commands
        self.appName = appName
        self.mode = mode
    }

    /// Makes a fail point by which commands fail with this error code.
    package static func error(
        _ code: Int, _ commands: String..., appName: String? = nil, mode: Mode = .always
    ) -> FailPoint {
        var point = FailPoint(appName: appName, mode: mode)
        point.commands = commands
        point.errorCode = code
        return point
    }

    var command: BSONDocument {
        [
            "configureFailPoint": "failCommand",
            "mode": {
                switch mode {
                case .always: "alwaysOn"
                case .times(let count): ["times": .integer(count)]
                case .skip(let count): ["skip": .integer(count)]
                case .probability(let share): ["activationProbability": .double(share)]
                }
            }(),
            "data": .object(data),
        ]
    }

    private var data: BSONDocument {
        var data = BSONBuilder()
        data.append("failCommands", .array(of: commands.map { .string($0) }))
        if let errorCode { data.append("errorCode", .integer(errorCode)) }
        if !errorLabels.isEmpty { data.append("errorLabels", .array(of: errorLabels.map { .string($0) })) }
        if closesConnection { data.append("closeConnection", true) }
        if let blockTime {
            data.append("blockConnection", true)
            data.append("blockTimeMS", .integer(Int(blockTime / .milliseconds(1))))
        }
        if let writeConcernError { data.append("writeConcernError", .object(writeConcernError)) }
        if let namespace { data.append("namespace", .string(namespace)) }
        if let appName { data.append("appName", .string(appName)) }
        return data.finish()
    }
}

extension Mongod {
    /// Runs `body` while the server has the fail point.
    ///
    /// Only one such body runs at a time, because a server has only one `failCommand`.
    package func failing<R>(_ point: FailPoint, during body: () async throws -> R) async throws -> R {
        try await lock.withLock {
            try await admin(point.command)
            do {
                let result = try await body()
                try await clearFailPoint()
                return result
            } catch {
                try await clearFailPoint()
                throw error
            }
        }
    }

    private func clearFailPoint() async throws {
        try await admin(["configureFailPoint": "failCommand", "mode": "off"])
    }

    /// Waits until the server runs this command for a client, for example because a fail point blocks the command.
    package func waitForCommand(_ command: String, of appName: String) async throws {
        try await waitUntil("\(appName) is in the midst of a \(command)") {
            try await isAnyUnderWay(["appName": .string(appName), "command.\(command)": ["$exists": true]])
        }
    }

    /// Waits until the server runs no command for a stopped client.
    package func waitForNoCommand(of appName: String) async throws {
        try await waitUntil("\(appName) is idle") {
            try await !isAnyUnderWay(["appName": .string(appName), "active": true, "command.hello": ["$exists": false]])
        }
    }

    /// Ends all running commands with this name from one client, such as commands that a fail point blocks.
    /// - Parameter appName: the application name of the client.
    /// - Returns: the number of ended commands.
    package func killCommands(_ command: String, of appName: String) async throws -> Int {
        let commands = try await underWay(["appName": .string(appName), "command.\(command)": ["$exists": true]])
        for id in commands.compactMap({ $0["opid"] }) { try await admin(["killOp": 1, "op": id]) }
        return commands.count
    }

    private func isAnyUnderWay(_ filter: BSONDocument) async throws -> Bool {
        try await !underWay(filter).isEmpty
    }

    private func underWay(_ filter: BSONDocument) async throws -> [BSONDocument] {
        let reply = try await admin([
            "aggregate": 1, "pipeline": [["$currentOp": [:]], ["$match": .object(filter)]], "cursor": [:],
        ])
        return reply["cursor"]?.document?["firstBatch"]?.document?.values.compactMap(\.document) ?? []
    }

    /// Makes the primary step down for some seconds, and waits until it is the primary again.
    ///
    /// Do not use it on a shared server, because it affects all tests that run at the same time.
    package func stepDown() async throws {
        // The step-down fails if the server does not get its locks within five seconds.
        try await admin(["replSetStepDown": 5, "secondaryCatchUpPeriodSecs": 0, "force": true])
        try await waitForPrimary()
    }
}
