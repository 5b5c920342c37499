import JobState

/// What can make a run wait before a chunk.
package enum ThrottleReason: String, Hashable, Sendable, CaseIterable {
    /// The deployment's state could not be read, or what was read is old.
    case reading
    /// How far a majority of the members is behind the primary.
    case majorityLag
    /// How far the slowest healthy secondary is behind the primary.
    case secondaryLag
    /// The server itself slows down writers, because the majority lags.
    case flowControl
    /// The share of the storage engine's execution tickets that are in use.
    case tickets
    /// The share of the cache that waits to be written to disk.
    case cacheDirty
    /// The share of the cache that is filled.
    case cacheUsed
    /// The time between the oldest and the newest entry of the oplog.
    case oplog
    /// A time of day at which the job file wants no writes.
    case pauseWindow
    /// An operator's `pause`.
    case operatorPause
    /// Somebody else, whom the job file has asked.
    case veto
}

/// Why a run waits now: reason, metric, value, limit.
package struct Hold: Hashable, Sendable {
    /// Which.
    package var reason: ThrottleReason
    /// What is measured.
    package var metric: String
    /// What it is now.
    package var value: String
    /// What it has to be for the run to go on.
    package var limit: String

    /// Joins the four.
    package init(_ reason: ThrottleReason, metric: String, value: String, limit: String) {
        self.reason = reason
        self.metric = metric
        self.value = value
        self.limit = limit
    }
}

extension Hold: CustomStringConvertible {
    /// As the job's status tells it.
    package var description: String {
        JobStatus.ThrottleReason(name: reason.rawValue, metric: metric, value: value, limit: limit).description
    }
}
