import BSON
import Concurrency
import Jobs
package import Mongo

/// Reads the server metrics from the primary.
package struct ServerMetricsReader {
    /// The groups of metrics that could not be read; the reader does not request them again.
    private(set) var missing: Set<Missing> = []
    /// Whether ``missing`` is final, so that reading throws an error if a group that is not in ``missing`` cannot be
    /// read.
    private let isFixed: Bool

    /// Creates a reader.
    /// - Parameter missing: the groups of metrics that an earlier reader could not read; if this reader cannot read
    ///   another group, it throws an error. `nil` if there was no earlier reader.
    init(missing: Set<Missing>? = nil) {
        self.missing = missing ?? []
        isFixed = missing != nil
    }

    /// A group of metrics that cannot be read, so that the run is not throttled by the metrics of the group.
    package enum Missing: Hashable, CaseIterable {
        case shards, replicaSetStatus, serverStatus, oplog
    }

    /// A note for the operator on each group of metrics that cannot be read.
    var notes: [String] { Missing.allCases.filter(missing.contains).map(\.note) }

    /// The time limit in milliseconds of each command, except `hello` and the read of the oplog's size.
    private static let timeLimit: BSONValue = 5_000
    /// The pause before the reader reads the lag again, because the first value had reached the limit.
    private static let confirmationPause = Duration.milliseconds(150)
    /// Sections of `serverStatus` that no throttle rule needs; the command excludes them.
    private static let leftOut = [
        "asserts", "batchedDeletes", "catalogStats", "connections", "electionMetrics", "extra_info", "indexStats",
        "locks", "logicalSessionRecordCache", "metrics", "network", "opLatencies", "opcounters", "opcountersRepl",
        "repl", "security", "tcmalloc", "tenantMigrations", "transactions", "transportSecurity",
        "twoPhaseCommitCoordinator",
    ]

    /// Reads the metrics for the throttle rules, except the ones that the user lacks the privilege to read.
    /// - Throws: ``MongoError`` when the server does not answer, or refuses a metric that it allowed before.
    mutating func read(_ limits: ThrottleLimits, on client: borrowing Client) throws(MongoError) -> ServerMetrics {
        var reading = try lag(limits, on: client)
        // An idle replica set writes an oplog entry every ten seconds. Until the other members have that entry, they
        // seem to lag by ten seconds. A lag at its limit is therefore read twice, and the lower one counts.
        if let limit = limits.lag?.seconds, max(reading.majorityLag ?? 0, reading.secondaryLag?.seconds ?? 0) >= limit {
            PosixThread.sleep(Self.confirmationPause)
            let again = try lag(limits, on: client)
            reading.majorityLag = [reading.majorityLag, again.majorityLag].compactMap(\.self).min()
            reading.secondaryLag = [reading.secondaryLag, again.secondaryLag].compactMap(\.self)
                .min { $0.seconds < $1.seconds }
        }
        guard !missing.contains(.shards) else { return reading }
        let leftOut = Self.leftOut.map { ($0, 0 as BSONValue) }
        if let status = try answer(
            BSONDocument([("serverStatus", 1), ("oplog", 1)] + leftOut), on: client, orElse: .serverStatus)
        {
            reading.take(serverStatus: status)
        }
        if limits.oplog != nil { try oplog(&reading, limits, on: client) }
        return reading
    }

    private mutating func lag(_ limits: ThrottleLimits, on client: borrowing Client) throws(MongoError) -> ServerMetrics
    {
        var reading = ServerMetrics()
        let hello = try client.hello()
        reading.take(hello: hello.reply)
        if hello.topology == .sharded { missing.insert(.shards) }
        if hello.topology == .replicaSet, limits.lag != nil,
            let status = try answer(["replSetGetStatus": 1], on: client, orElse: .replicaSetStatus)
        {
            reading.take(replicaSet: status)
        }
        return reading
    }

    /// Reads the oplog window, if `serverStatus` did not report it, as on servers before MongoDB 5.0.
    ///
    /// If the window is short, also reads how full the oplog is.
    private mutating func oplog(_ reading: inout ServerMetrics, _ limits: ThrottleLimits, on client: borrowing Client)
        throws(MongoError)
    {
        guard reading.majorityLag != nil else { return }  // a standalone has no oplog
        let oplog = Namespace(database: "local", collection: "oplog.rs")
        if reading.oplogWindow == nil {
            let entry = { (order: Int) -> BSONDocument in
                [
                    "find": .string(oplog.collection), "sort": ["$natural": .integer(order)],
                    "projection": ["ts": 1], "limit": 1, "singleBatch": true,
                ]
            }
            guard let oldest = try answer(entry(1), of: oplog.database, on: client, orElse: .oplog),
                let newest = try answer(entry(-1), of: oplog.database, on: client, orElse: .oplog)
            else { return }
            reading.take(oldest: oldest.firstOfBatch, newest: newest.firstOfBatch)
        }
        guard let window = reading.oplogWindow, let limit = limits.oplog?.seconds,
            window <= limit / ThrottleRules.release
        else { return }
        let stats: BSONDocument = [
            "aggregate": .string(oplog.collection), "cursor": [:],
            "pipeline": [["$collStats": ["storageStats": [:]]]],
        ]
        let reply: BSONDocument
        do throws(MongoError) { reply = try client.runCommand(stats, on: oplog.database) } catch {
            guard !error.isTransient else { throw error }
            // If the oplog's size cannot be read, for example without the privilege, the oplog counts as full.
            return
        }
        guard let storage = reply.firstOfBatch?.document?["storageStats"]?.document,
            let size = storage["size"]?.integer, let maximum = storage["maxSize"]?.integer, maximum > 0
        else { return }
        (reading.oplogFill, reading.oplogSize) = (Double(size) / Double(maximum), maximum)
    }

    /// Returns the reply to a command; `nil` if the user lacks the privilege for the command.
    ///
    /// If the privilege is lacking, ``missing`` records `guarantee`, and later calls with the same `guarantee` return
    /// `nil` without sending a command. If ``missing`` is final, an error is thrown instead.
    private mutating func answer(
        _ command: BSONDocument, of database: String = "admin", on client: borrowing Client, orElse guarantee: Missing
    ) throws(MongoError) -> BSONDocument? {
        guard !missing.contains(guarantee) else { return nil }
        let limited = command.appending("maxTimeMS", Self.timeLimit)
        do throws(MongoError) { return try client.runCommand(limited, on: database) } catch {
            guard error.isAuthorization, !isFixed else { throw error }
            missing.insert(guarantee)
            return nil
        }
    }
}

extension ServerMetricsReader.Missing {
    /// A note that names the throttle rules that do not apply, because this group of metrics cannot be read.
    ///
    /// If the user only lacks a privilege to read the group, the note names a role that has the privilege.
    var note: String {
        switch self {
        case .shards:
            "no throttle: through a router the shards' lag, flow control, tickets, cache and oplog window cannot be "
                + "read"
        case .replicaSetStatus:
            "no throttle on the lag of single secondaries: replSetGetStatus is not allowed (grant clusterMonitor); the "
                + "lag of a majority still counts"
        case .serverStatus:
            "no throttle on flow control, tickets and cache: serverStatus is not allowed (grant clusterMonitor)"
        case .oplog:
            "no throttle on the oplog window: neither serverStatus nor reading local.oplog.rs is allowed (grant "
                + "clusterMonitor)"
        }
    }
}

/// The period that the oplog covers.
package struct OplogSpan: Sendable {
    /// The time between the oldest and the newest entry.
    package let window: Duration
    /// Whether the oplog is full, so that the server removes old entries; also `true` if its size was not read, for
    /// example because the window is long.
    package let isFull: Bool

    /// The period that an oplog should cover.
    ///
    /// If the oplog covers this period, a reader of changes that stops in the evening can continue in the morning.
    private static let enough = Duration.seconds(24 * 3_600)
    /// The share of its maximum size from which an oplog counts as full.
    private static let full = 0.9

    /// Whether the oplog is full and covers less than a day.
    package var isShort: Bool { isFull && window < Self.enough }

    /// Reads the period that the oplog covers; `nil` on a standalone server, through a router, or if the user lacks the
    /// privilege to read it.
    package static func read(on client: borrowing Client) throws(MongoError) -> OplogSpan? {
        var limits = ThrottleLimits()
        (limits.lag, limits.oplog) = (nil, enough)
        var reader = ServerMetricsReader()
        let metrics = try reader.read(limits, on: client)
        return metrics.oplogWindow.map { OplogSpan(window: .seconds($0), isFull: (metrics.oplogFill ?? 1) >= full) }
    }
}

extension BSONDocument {
    /// The first document of the first batch in a cursor's reply; `nil` if the batch is empty.
    fileprivate var firstOfBatch: BSONValue? { self["cursor"]?.document?["firstBatch"]?.document?.values.first }
}
