import BSON

/// The stable name of what can make a run wait before a chunk, as the state, metrics and hooks spell it.
///
/// Open: the state may hold the name of a reason that a later version knows.
package struct ThrottleReason: RawRepresentable, Hashable, Sendable {
    /// The name.
    package let rawValue: String

    /// Wraps a name.
    package init(rawValue: String) { self.rawValue = rawValue }

    /// The deployment's state could not be read, or what was read is old.
    package static let reading = Self(rawValue: "reading")
    /// The server refuses commands because of its load.
    package static let overload = Self(rawValue: "overload")
    /// How far a majority of the members is behind the primary.
    package static let majorityLag = Self(rawValue: "majorityLag")
    /// How far the slowest healthy secondary is behind the primary.
    package static let secondaryLag = Self(rawValue: "secondaryLag")
    /// The server itself slows down writers, because the majority lags.
    package static let flowControl = Self(rawValue: "flowControl")
    /// The share of the storage engine's execution tickets that are in use.
    package static let tickets = Self(rawValue: "tickets")
    /// The share of the cache that waits to be written to disk.
    package static let cacheDirty = Self(rawValue: "cacheDirty")
    /// The share of the cache that is filled.
    package static let cacheUsed = Self(rawValue: "cacheUsed")
    /// The time between the oldest and the newest entry of the oplog.
    package static let oplog = Self(rawValue: "oplog")
    /// A time of day at which the job file wants no writes.
    package static let pauseWindow = Self(rawValue: "pauseWindow")
    /// An operator's `pause`.
    package static let operatorPause = Self(rawValue: "operatorPause")
    /// A program or a server that the job file has asked.
    package static let veto = Self(rawValue: "veto")

    /// The reasons that this version knows.
    package static let known: [Self] = [
        reading, overload, majorityLag, secondaryLag, flowControl, tickets, cacheDirty, cacheUsed, oplog, pauseWindow,
        operatorPause, veto,
    ]
}

/// Why a run waits: reason, metric, value, limit.
package struct Hold: Hashable, Sendable {
    /// Which.
    package var reason: ThrottleReason
    /// The quantity that is measured.
    package var metric: String
    /// The value of it now.
    package var value: String
    /// The value at which the run goes on.
    package var limit: String

    /// Joins the four.
    package init(_ reason: ThrottleReason, metric: String, value: String, limit: String) {
        (self.reason, self.metric, self.value, self.limit) = (reason, metric, value, limit)
    }

    /// The wait for a server that refuses commands because of its load.
    package init(overload error: any Error) {
        self.init(.overload, metric: "the server sheds load", value: "\(error)", limit: "it takes commands again")
    }
}

extension Hold: CustomStringConvertible {
    /// Such as `majority lag: 12 s, limit 10 s`, or `paused by root@host; continue with: shipshape resume JOB`.
    package var description: String {
        switch reason {
        case .operatorPause: "\(value); continue with: \(limit)"
        case .veto: "\(metric): \(value), goes on at \(limit)"
        default: "\(metric): \(value), limit \(limit)"
        }
    }
}

/// The form in which the range of a job records a hold.
extension Hold {
    /// Reads a record; a part that is missing there is empty.
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

    /// The hold as it is recorded.
    var document: BSONDocument {
        [
            "brake": .string(reason.rawValue), "metric": .string(metric), "value": .string(value),
            "limit": .string(limit),
        ]
    }
}
