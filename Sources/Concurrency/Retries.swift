/// When what failed is tried again: ever more slowly, for a limited time after the first failure of a row.
package struct Retries: Sendable {
    private let limit: Duration
    private var firstFailure: ContinuousClock.Instant?
    /// The failures of this row.
    package private(set) var count = 0

    /// Starts without a failure.
    /// - Parameter limit: how long after the first failure of a row the last attempt is made.
    package init(limit: Duration) { self.limit = limit }

    /// Takes note that it got on: the next failure begins a row of its own.
    package mutating func succeeded() { (firstFailure, count) = (nil, 0) }

    /// Takes note of a failure.
    /// - Returns: how long to wait before the next attempt; `nil` when it was tried for long enough.
    package mutating func pause(afterFailureAt now: ContinuousClock.Instant) -> Duration? {
        let start = firstFailure ?? now
        firstFailure = start
        count += 1
        let rest = limit - start.duration(to: now)
        guard rest > .zero else { return nil }
        return min(.milliseconds(100) * (1 << min(count, 6)), .seconds(5), rest)
    }
}
