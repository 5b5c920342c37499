import JobState
package import Jobs

/// A description of the limit that decides how fast a run is.
package struct SpeedBound: CustomStringConvertible {
    /// The limit, such as `lag of db3:27017 (waited 40 of 60 s, lag=10s)`.
    package let description: String

    /// The length, in seconds, of the shortest run whose measurements show what limits it.
    private static let shortest = 5.0
    /// The smallest share of a run's time that shows what limits the run.
    ///
    /// A limit decides the speed only if the run waited or rested because of it for at least this share.
    private static let share = 0.25

    /// Finds the limit that made the run wait or rest longest.
    ///
    /// If the run waited and rested only briefly, the result names the server's speed instead. The result is `nil` for
    /// a run that is too short to judge.
    /// - Parameters:
    ///   - rested: the seconds that the run rested because of the limit `nice`.
    ///   - seconds: the length of the run so far.
    package init?(waits: [ThrottleWait], rested: Double, seconds: Double, limits: Job.Limits) {
        guard seconds >= Self.shortest else { return nil }
        func text(_ name: String) -> String { "\(name)=\(Limit.named(name)?.text(in: limits) ?? "")" }
        let longest = waits.max { $0.seconds < $1.seconds }
        let of = "of \(Int(seconds.rounded())) s"
        if let longest, longest.seconds >= max(rested, seconds * Self.share) {
            let reason = longest.waitReason.reason
            let limit = reason.limit.map { ", \(text($0))" } ?? ""
            let metric = reason.cause ?? longest.waitReason.metric
            description = "\(metric) (waited \(Int(longest.seconds.rounded())) \(of)\(limit))"
        } else if rested >= seconds * Self.share {
            description = "\(text("nice")) (rested \(Int(rested.rounded())) \(of))"
        } else {
            description = "the server's speed; no limit was reached for long"
        }
    }
}

extension ThrottleReason {
    /// The name of the limit in the job file that makes a run wait for this reason; `nil` if no limit of the job file
    /// does.
    fileprivate var limit: String? {
        switch self {
        case .majorityLag, .secondaryLag: "lag"
        case .flowControl: "flowControl"
        case .tickets: "tickets"
        case .cacheDirty: "cache.dirty"
        case .cacheUsed: "cache.used"
        case .oplog: "oplog"
        case .consumer: "consumer.documents"
        case .pauseWindow: "pause"
        default: nil
        }
    }

    /// The cause of the wait, in words; `nil` if the name of the reason's metric already says it.
    fileprivate var cause: String? {
        switch self {
        case .consumer: "the consumer of the changes"
        case .pauseWindow: "the times without writes"
        case .operatorPause: "a pause by an operator"
        case .overload: "an overloaded server"
        default: nil
        }
    }
}
