import Concurrency
import JobState
import Jobs

/// The throttle rules, which compare the server metrics with their limits.
///
/// A metric that reaches its limit makes the run wait. The run continues only when the metric is well within its limit,
/// so that the run does not stop and continue all the time.
struct ThrottleRules: Sendable {
    /// The greatest age of the last reading of the server metrics; if the reading is older, the run waits.
    static let maximumAge = Duration.seconds(15)
    /// The share of a metric's limit below which the run continues after a wait.
    static let release = 0.8
    /// The share that is used in place of ``release`` for ``ServerMetrics/cacheUsed``.
    ///
    /// The share is higher, because WiredTiger keeps its cache about 80% full. With ``release`` and the default limit
    /// of 95%, the run would continue only below 76%.
    static let cacheRelease = 0.9

    /// The throttle reasons that applied at the last reading.
    private(set) var held: Set<ThrottleReason> = []
    /// An upper estimate of the bytes that the job has added to the oplog so far; `nil` if unknown.
    var written: Int?
    private var flowControl: (wait: Int, at: ContinuousClock.Instant, perSecond: Double)?

    /// Returns the reasons to wait now; empty if there are none.
    /// - Parameters:
    ///   - reading: the last successful reading of the metrics, and when it was requested; `nil` if there is none.
    ///   - failure: why the newest attempt to read the metrics failed; `nil` if it succeeded.
    mutating func waitReasons(
        _ reading: (values: ServerMetrics, askedAt: ContinuousClock.Instant)?, failure: String?, limits: ThrottleLimits,
        now: ContinuousClock.Instant
    ) -> [WaitReason] {
        guard failure == nil, let reading, reading.askedAt.duration(to: now) <= Self.maximumAge else {
            let age = reading.map { Self.text(seconds: $0.askedAt.duration(to: now).seconds) + " old" } ?? "none"
            return [
                WaitReason(
                    .reading, metric: "server status", value: failure.map { "unreadable (\($0))" } ?? age,
                    limit: "at most \(Self.text(seconds: Self.maximumAge.seconds)) old")
            ]
        }
        let waitReasons = all(reading.values, reading.askedAt, limits)
        held = Set(waitReasons.map(\.reason))
        return waitReasons
    }

    private mutating func all(
        _ reading: ServerMetrics, _ askedAt: ContinuousClock.Instant, _ limits: ThrottleLimits
    ) -> [WaitReason] {
        let lag = limits.lag?.seconds
        let secondary = reading.secondaryLag
        let waited = flowControlWait(reading, askedAt)
        let isQueueing = reading.ticketQueue.map { $0 > 0 } ?? true
        var waitReasons = [
            high(.majorityLag, "majority lag", reading.majorityLag, lag, Self.text(seconds:)),
            high(
                .secondaryLag, "lag of \(secondary?.host ?? "a secondary")", secondary?.seconds, lag,
                Self.text(seconds:)),
            high(
                .tickets, "execution tickets in use", isQueueing ? reading.ticketsInUse : nil,
                limits.tickets.map(Self.share), Self.text(share:)),
            high(
                .cacheDirty, "dirty cache", reading.cacheDirty, limits.cacheDirty.map(Self.share), Self.text(share:)),
            high(
                .cacheUsed, "cache in use", reading.cacheUsed, limits.cacheUsed.map(Self.share),
                release: Self.cacheRelease, Self.text(share:)),
        ]
        if let limit = limits.flowControl?.seconds {
            if reading.isFlowControlled == true {
                waitReasons.append(
                    WaitReason(.flowControl, metric: "flow control", value: "lagged", limit: "not lagged"))
            } else {
                waitReasons.append(
                    high(.flowControl, "writers' wait for flow control", waited, limit) {
                        "\(Self.text(seconds: $0)) in a second"
                    }
                )
            }
        }
        waitReasons.append(oplog(reading, limits))
        waitReasons += limits.pause.map { pause($0, at: reading.serverTime) }
        return waitReasons.compactMap(\.self)
    }

    private func high(
        _ reason: ThrottleReason, _ metric: String, _ value: Double?, _ limit: Double?, release: Double = release,
        _ text: (Double) -> String
    ) -> WaitReason? {
        guard let value, let limit else { return nil }
        let wasHeld = held.contains(reason)
        guard value >= (wasHeld ? limit * release : limit) else { return nil }
        let isReleasing = value < limit
        return WaitReason(
            reason, metric: metric, value: text(value),
            limit: isReleasing ? "\(text(limit)), continues below \(text(limit * release))" : text(limit))
    }

    /// Returns the reason to wait because the oplog window is short; `nil` if it is long enough, or not known.
    ///
    /// The result is also `nil` in two other cases. If the oplog is not full, the oplog loses no entries yet. If the
    /// job has written less than a hundredth of the oplog's size, the job has not noticeably shortened the window.
    private func oplog(_ reading: ServerMetrics, _ limits: ThrottleLimits) -> WaitReason? {
        guard let limit = limits.oplog?.seconds, let window = reading.oplogWindow else { return nil }
        guard (reading.oplogFill ?? 1) >= Self.fullOplog else { return nil }
        if let written, let size = reading.oplogSize, written < size / 100 { return nil }
        let wasHeld = held.contains(.oplog)
        guard window <= (wasHeld ? limit / Self.release : limit) else { return nil }
        let text = "at least \(Self.text(seconds: limit))"
        return WaitReason(
            .oplog, metric: "oplog window", value: Self.text(seconds: window),
            limit: window > limit ? "\(text), continues above \(Self.text(seconds: limit / Self.release))" : text)
    }

    private func pause(_ window: PauseWindow, at time: Int?) -> WaitReason? {
        guard let time, window.contains(secondsSince1970: time) else { return nil }
        return WaitReason(.pauseWindow, metric: "time", value: window.time(at: time), limit: "outside \(window.text)")
    }

    /// Returns how many seconds writers waited for flow control in each second since the last reading.
    ///
    /// Returns `nil` at the first reading, and if the server does not report the wait.
    private mutating func flowControlWait(_ reading: ServerMetrics, _ askedAt: ContinuousClock.Instant) -> Double? {
        guard let wait = reading.flowControlWait else { return nil }
        guard let last = flowControl else {
            flowControl = (wait, askedAt, 0)
            return nil
        }
        let elapsed = last.at.duration(to: askedAt).seconds
        guard elapsed > 0 else { return last.perSecond }
        // After a failover, another server answers. If its total wait is lower than the last total, the difference
        // counts as 0.
        let perSecond = max(0, Double(wait - last.wait) / 1e6 / elapsed)
        flowControl = (wait, askedAt, perSecond)
        return perSecond
    }

    /// The filled share from which an oplog counts as full; it is below 1, because the server removes many entries at a
    /// time.
    private static let fullOplog = 0.8

    private static func share(_ percent: Int) -> Double { Double(percent) / 100 }
    private static func text(share: Double) -> String { "\(Int((share * 100).rounded()))%" }

    static func text(seconds: Double) -> String {
        if seconds < 10, seconds != seconds.rounded() {
            let tenths = Int((seconds * 10).rounded())
            return "\(tenths / 10).\(tenths % 10) s"
        }
        let whole = Int(seconds.rounded())
        if whole < 600 { return "\(whole) s" }
        return whole < 36_000 ? "\(whole / 60) min" : "\(whole / 3_600) h"
    }
}
