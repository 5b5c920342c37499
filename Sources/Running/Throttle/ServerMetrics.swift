import BSON
import Concurrency

/// The server metrics that the primary reported at one moment; each is `nil` if it was not reported.
struct ServerMetrics: Hashable, Sendable {
    /// The server's clock, in seconds since 1970.
    var serverTime: Int?
    /// The lag of a majority of the members, in seconds.
    var majorityLag: Double?
    /// The lag of the slowest healthy secondary, in seconds.
    var secondaryLag: SecondaryLag?
    /// Whether flow control is slowing down writers.
    var isFlowControlled: Bool?
    /// How long writers have waited for flow control since the server's start, in microseconds.
    var flowControlWait: Int?
    /// The share of the execution tickets in use, of readers' or of writers', whichever is greater.
    var ticketsInUse: Double?
    /// The number of operations that wait for a ticket, where the server reports it.
    var ticketQueue: Int?
    /// The share of the cache that waits to be written.
    var cacheDirty: Double?
    /// The share of the cache that is filled.
    var cacheUsed: Double?
    /// The time between the oldest and the newest entry of the oplog, in seconds.
    var oplogWindow: Double?
    /// The share of the oplog's size that is filled; the server removes no entries before the oplog is full.
    var oplogFill: Double?
    /// The oplog's largest size in bytes; read only while the oplog is short.
    var oplogSize: Int?

    /// The member with the largest lag.
    struct SecondaryLag: Hashable, Sendable {
        var host: String
        var seconds: Double
    }
}

extension ServerMetrics {
    /// Reads the reply of `hello`; that of a standalone or a router has no `lastWrite`, and so no lag.
    mutating func take(hello: BSONDocument) {
        serverTime = hello["localTime"]?.seconds.map { Int($0) }
        let lastWrite = hello["lastWrite"]?.document
        if let last = lastWrite?["lastWriteDate"]?.seconds, let majority = lastWrite?["majorityWriteDate"]?.seconds {
            majorityLag = max(0, last - majority)
        }
    }

    /// Reads the lag of the reachable secondaries from the reply of `replSetGetStatus`.
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

    /// Reads the reply of `serverStatus`.
    mutating func take(serverStatus status: BSONDocument) {
        if let flow = status["flowControl"]?.document {
            isFlowControlled = flow["enabled"]?.isTrue == true && flow["isLagged"]?.isTrue == true
            flowControlWait = flow["timeAcquiringMicros"]?.integer
        }
        // Before 8.0, the tickets are in the storage engine's section.
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

    /// Computes the oplog window from the times of the oplog's first and last entry.
    mutating func take(oldest: BSONValue?, newest: BSONValue?) {
        guard let oldest = oldest?.entrySeconds, let newest = newest?.entrySeconds else { return }
        oplogWindow = Double(max(0, newest - oldest))
    }
}

extension BSONValue {
    /// A date, in seconds since 1970.
    fileprivate var seconds: Double? {
        if case .date(let milliseconds) = self { Double(milliseconds) / 1_000 } else { nil }
    }

    /// The time of an oplog entry: a timestamp, or a document that holds one as `ts`.
    fileprivate var entrySeconds: Int? {
        switch self {
        case .timestamp(let bits): ClusterTime(rawValue: bits).seconds
        case .object(let entry): entry["ts"]?.entrySeconds
        default: nil
        }
    }

    /// Any number.
    fileprivate var number: Double? { if case .double(let value) = self { value } else { integer.map(Double.init) } }
}
