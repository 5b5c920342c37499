import BSON
import Concurrency

/// The server metrics of one reading from the primary; a metric that was not read or not reported is `nil`.
struct ServerMetrics: Hashable, Sendable {
    /// The time on the server's clock, in seconds since 1970.
    var serverTime: Int?
    /// The lag of the majority of the replica set's members behind the primary, in seconds.
    var majorityLag: Double?
    /// The healthy secondary with the largest lag, and its lag.
    var secondaryLag: SecondaryLag?
    /// Whether the server's flow control is slowing down writers.
    var isFlowControlled: Bool?
    /// How long writers have waited for flow control in all since the server's start, in microseconds.
    var flowControlWait: Int?
    /// The share of the execution tickets in use, from 0 to 1: the share for readers or the share for writers,
    /// whichever is greater.
    var ticketsInUse: Double?
    /// The number of operations that wait for an execution ticket; `nil` if the server does not report it.
    var ticketQueue: Int?
    /// The share of the storage engine's cache that holds changes not yet written to disk.
    var cacheDirty: Double?
    /// The share of the storage engine's cache that is filled.
    var cacheUsed: Double?
    /// The time between the oldest and the newest entry of the oplog, in seconds.
    var oplogWindow: Double?
    /// The filled share of the oplog's maximum size; `nil` if ``oplogSize`` was not read.
    ///
    /// The server removes no entries before the oplog is full.
    var oplogFill: Double?
    /// The maximum size of the oplog in bytes.
    ///
    /// The size is read only if the oplog window is short; otherwise it is `nil`.
    var oplogSize: Int?

    /// A secondary, and its lag behind the primary in seconds.
    struct SecondaryLag: Hashable, Sendable {
        var host: String
        var seconds: Double
    }
}

extension ServerMetrics {
    /// Takes the server's time and the majority lag from the reply to `hello`.
    ///
    /// A standalone server or a router reports no `lastWrite`, so the lag stays `nil`.
    mutating func take(hello: BSONDocument) {
        serverTime = hello["localTime"]?.seconds.map { Int($0) }
        let lastWrite = hello["lastWrite"]?.document
        if let last = lastWrite?["lastWriteDate"]?.seconds, let majority = lastWrite?["majorityWriteDate"]?.seconds {
            majorityLag = max(0, last - majority)
        }
    }

    /// Takes the largest lag of a healthy secondary from the reply to `replSetGetStatus`.
    mutating func take(replicaSet status: BSONDocument) {
        let members = status["members"]?.document?.values.compactMap(\.document) ?? []
        let (primary, secondary) = (1, 2)
        guard let last = members.first(where: { $0["state"]?.integer == primary })?["optimeDate"]?.seconds else {
            return
        }
        for member in members where member["state"]?.integer == secondary && member["health"]?.integer == 1 {
            guard let host = member["name"]?.text, let applied = member["optimeDate"]?.seconds else { continue }
            let seconds = max(0, last - applied)
            if secondaryLag.map({ seconds > $0.seconds }) ?? true {
                secondaryLag = SecondaryLag(host: host, seconds: seconds)
            }
        }
    }

    /// Takes flow control, tickets, cache and oplog window from the reply to `serverStatus`.
    mutating func take(serverStatus status: BSONDocument) {
        if let flow = status["flowControl"]?.document {
            isFlowControlled = flow["enabled"]?.isTrue == true && flow["isLagged"]?.isTrue == true
            flowControlWait = flow["timeAcquiringMicros"]?.integer
        }
        // Servers before MongoDB 8.0 report the tickets in the section of the storage engine.
        let engine = status["wiredTiger"]?.document
        let tickets = (status["queues"]?.document?["execution"] ?? engine?["concurrentTransactions"])?.document
        for kind in ["read", "write"] {
            guard let kind = tickets?[kind]?.document, let total = kind["totalTickets"]?.integer, total > 0,
                let out = kind["out"]?.integer
            else { continue }
            ticketsInUse = max(ticketsInUse ?? 0, Double(out) / Double(total))
            if let queue = kind["normalPriority"]?.document?["queueLength"]?.integer {
                ticketQueue = (ticketQueue ?? 0) + queue
            }
        }
        if let cache = engine?["cache"]?.document, let size = cache["maximum bytes configured"]?.number, size > 0 {
            cacheDirty = cache["tracked dirty bytes in the cache"]?.number.map { $0 / size }
            cacheUsed = cache["bytes currently in the cache"]?.number.map { $0 / size }
        }
        if let oplog = status["oplog"]?.document {
            take(oldest: oplog["earliestOptime"], newest: oplog["latestOptime"])
        }
    }

    /// Computes the oplog window from the times of the oplog's oldest and newest entry.
    mutating func take(oldest: BSONValue?, newest: BSONValue?) {
        guard let oldest = oldest?.entrySeconds, let newest = newest?.entrySeconds else { return }
        oplogWindow = Double(max(0, newest - oldest))
    }
}

extension BSONValue {
    /// A date in seconds since 1970; `nil` for a value of another type.
    fileprivate var seconds: Double? {
        if case .date(let milliseconds) = self { Double(milliseconds) / 1_000 } else { nil }
    }

    /// The time of an oplog entry in seconds since 1970, from a timestamp or from the field `ts` of a document.
    ///
    /// `nil` for any other value.
    fileprivate var entrySeconds: Int? {
        switch self {
        case .timestamp(let bits): ClusterTime(rawValue: bits).seconds
        case .object(let entry): entry["ts"]?.entrySeconds
        default: nil
        }
    }

    /// The number in an `int`, a `long` or a `double`; `nil` for other types.
    fileprivate var number: Double? { if case .double(let value) = self { value } else { integer.map(Double.init) } }
}
