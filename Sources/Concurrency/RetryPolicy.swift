internal import Synchronization

/// How failures that pass, such as an election, are bridged: an idempotent operation is tried again, ever more slowly.
package struct RetryPolicy: Sendable {
    /// How long after the first failure it still tries.
    package let limit: Duration
    /// Ends the retrying.
    package let stop: StopSignal
    /// Takes the time of what failed, and of the pauses after it.
    package let lost: LostTime
    private let passes: @Sendable (any Error) -> Bool
    private let onRetry: @Sendable (_ error: any Error, _ attempt: Int) -> Void
    private let whenStopped: @Sendable (any Error) -> any Error

    /// Joins the parts.
    /// - Parameters:
    ///   - passes: whether a failure may pass by itself.
    ///   - onRetry: told of each failure that is bridged, and of how many there were.
    ///   - whenStopped: what is thrown in the place of a failure once stopping was asked for.
    package init(
        limit: Duration, stop: StopSignal = StopSignal(), lost: LostTime = LostTime(),
        passes: @Sendable @escaping (any Error) -> Bool,
        onRetry: @Sendable @escaping (_ error: any Error, _ attempt: Int) -> Void = { _, _ in },
        whenStopped: @Sendable @escaping (any Error) -> any Error = { $0 }
    ) {
        (self.limit, self.stop, self.lost) = (limit, stop, lost)
        (self.passes, self.onRetry, self.whenStopped) = (passes, onRetry, whenStopped)
    }

    /// The policy for operations of which fewer failures pass.
    package func refusing(_ those: @Sendable @escaping (any Error) -> Bool) -> RetryPolicy {
        let passes = passes
        return RetryPolicy(
            limit: limit, stop: stop, lost: lost, passes: { passes($0) && !those($0) }, onRetry: onRetry,
            whenStopped: whenStopped)
    }

    /// Runs `operation` until it succeeds, fails for good, or the time is over.
    ///
    /// Only what may be repeated belongs here: an operation that failed may have been done.
    /// - Throws: what the operation throws.
    package func run<R>(_ operation: () throws -> R) throws -> R {
        var retries = Retries(limit: limit)
        while true {
            let started = ContinuousClock.now
            do {
                return try operation()
            } catch  where passes(error) {
                guard !stop.isRaised else { throw whenStopped(error) }
                guard let pause = retries.pause(afterFailureAt: .now) else { throw error }
                onRetry(error, retries.count)
                PosixThread.sleep(pause, unless: { stop.isRaised })
                lost.add(started.duration(to: .now))
            }
        }
    }
}

/// The time that a run lost to failures that passed.
package final class LostTime: Sendable {
    private let milliseconds = Atomic<Int64>(0)

    /// Starts at nothing.
    package init() {}

    /// All of it, up to now.
    package var total: Duration { .milliseconds(milliseconds.load(ordering: .relaxed)) }

    func add(_ duration: Duration) { milliseconds.add(duration.milliseconds, ordering: .relaxed) }
}
