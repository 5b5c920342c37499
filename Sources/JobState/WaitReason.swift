import BSON
import Mongo

/// The stable name of a reason that makes a run wait before a chunk.
///
/// The name appears in the state database, the metrics and the hooks. The set of names is open: the state database may
/// hold a name that only a later version of the program knows.
package struct ThrottleReason: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// The server metrics could not be read, or the last reading is too old.
    package static let reading = Self(rawValue: "reading")
    /// The server refuses commands because of its load.
    package static let overload = Self(rawValue: "overload")
    /// No majority of the members confirms the writes.
    package static let majority = Self(rawValue: "majority")
    /// The replication lag of a majority of the members is too high.
    package static let majorityLag = Self(rawValue: "majorityLag")
    /// The replication lag of the slowest healthy secondary is too high.
    package static let secondaryLag = Self(rawValue: "secondaryLag")
    /// The server slows down writers by its flow control, because a majority of the members lags.
    package static let flowControl = Self(rawValue: "flowControl")
    /// Too large a share of the storage engine's execution tickets is in use.
    package static let tickets = Self(rawValue: "tickets")
    /// Too large a share of the cache is not yet written to disk.
    package static let cacheDirty = Self(rawValue: "cacheDirty")
    /// Too large a share of the cache is filled.
    package static let cacheUsed = Self(rawValue: "cacheUsed")
    /// The time between the oldest and the newest entry of the oplog is too short.
    package static let oplog = Self(rawValue: "oplog")
    /// The run changes documents faster than the consumer of the changes can process them.
    package static let consumer = Self(rawValue: "consumer")
    /// The current time is in a period in which the job file allows no writes, such as `Mon-Fri 08:00-20:00`.
    package static let pauseWindow = Self(rawValue: "pauseWindow")
    /// An operator paused the job with `job pause`.
    package static let operatorPause = Self(rawValue: "operatorPause")
    /// A program or a server that the job file names vetoes writes.
    package static let veto = Self(rawValue: "veto")

    /// The reasons that this version of the program knows.
    package static let known: [Self] = [
        reading, overload, majority, majorityLag, secondaryLag, flowControl, tickets, cacheDirty, cacheUsed, oplog,
        consumer, pauseWindow, operatorPause, veto,
    ]
}

/// A reason why a run waits, with the metric, its value and its limit.
package struct WaitReason: Hashable, Sendable {
    package var reason: ThrottleReason
    package var metric: String
    /// The value that the metric had when it was read.
    package var value: String
    /// The value of the metric at which the run continues, or the command that ends an operator's pause.
    package var limit: String

    package init(_ reason: ThrottleReason, metric: String, value: String, limit: String) {
        (self.reason, self.metric, self.value, self.limit) = (reason, metric, value, limit)
    }

    /// Creates the wait reason for an error of a server that refuses commands because of its load, or of a write that
    /// no majority confirms.
    package init(_ error: any Error) {
        self =
            (error as? MongoError)?.isWriteConcern == true
            ? Self(
                .majority, metric: "no majority of the members confirms the writes", value: "\(error)",
                limit: "a majority answers again")
            : Self(
                .overload, metric: "the server sheds load", value: "\(error)",
                limit: "the server takes commands again")
    }
}

extension WaitReason: CustomStringConvertible {
    /// A line such as `majority lag: 12 s, limit 10 s`, or `paused by root@host; continue with: shipshape job resume
    /// JOB`.
    package var description: String {
        switch reason {
        case .operatorPause: "\(value); continue with: \(limit)"
        case .veto: "\(metric): \(value), continues at \(limit)"
        case .overload, .majority: "\(metric): \(value), until \(limit)"
        default: "\(metric): \(value), limit \(limit)"
        }
    }
}

/// The form of a wait reason in a job's record in the collection `ranges`.
extension WaitReason {
    /// Reads a stored wait reason; a missing field becomes an empty text.
    init(_ document: BSONDocument) {
        func text(_ name: String) -> String {
            switch document[name] {
            case .double(let number)?: "\(number)"
            case let value?: value.text ?? value.integer.map { "\($0)" } ?? ""
            case nil: ""
            }
        }
        self.init(
            ThrottleReason(rawValue: text("brake")), metric: text("metric"), value: text("value"), limit: text("limit"))
    }

    /// The wait reason as a document that ``init(_:)`` can read.
    var document: BSONDocument {
        [
            "brake": .string(reason.rawValue), "metric": .string(metric), "value": .string(value),
            "limit": .string(limit),
        ]
    }
}
