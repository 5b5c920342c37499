internal import Synchronization

/// The rules for retrying an idempotent operation after temporary failures such as an election, with growing pauses.
package struct RetryPolicy: Sendable {
    /// How long the operation is retried, counted from the first of several failures in a row.
    package let limit: Duration
    package let stop: StopSignal
    /// The total time of the failed attempts and of the pauses after them.
    package let lost: LostTime
    private let passes: @Sendable (any Error) -> Bool
    /// The rules for failures that are retried without a time limit; `nil` if the time limit applies to all failures.
    private let unlimited: Unlimited?
    private let onRetry: @Sendable (_ error: any Error, _ attempt: Int) -> Void
    private let whenStopped: @Sendable (any Error) -> any Error

    /// Creates a policy from its parts.
    /// - Parameters:
    ///   - passes: returns whether a failure may be temporary, so that the operation is retried.
    ///   - unlimited: which of these failures are retried without a time limit, and how; `nil` for none.
    ///   - onRetry: called with each failure that is retried within the limit, and the number of failures in a row.
    ///   - whenStopped: returns the error that is thrown in place of a failure after a stop was requested.
    package init(
        limit: Duration, stop: StopSignal = StopSignal(), lost: LostTime = LostTime(),
        passes: @Sendable @escaping (any Error) -> Bool, unlimited: Unlimited? = nil,
        onRetry: @Sendable @escaping (_ error: any Error, _ attempt: Int) -> Void = { _, _ in },
        whenStopped: @Sendable @escaping (any Error) -> any Error = { $0 }
    ) {
        (self.limit, self.stop, self.lost, self.unlimited) = (limit, stop, lost, unlimited)
        (self.passes, self.onRetry, self.whenStopped) = (passes, onRetry, whenStopped)
    }

    /// Returns a copy of the policy that does not retry failures for which `those` returns true.
    package func refusing(_ those: @Sendable @escaping (any Error) -> Bool) -> RetryPolicy {
        let passes = passes
        return RetryPolicy(
            limit: limit, stop: stop, lost: lost, passes: { passes($0) && !those($0) }, unlimited: unlimited,
            onRetry: onRetry, whenStopped: whenStopped)
    }

    /// Returns a copy of the policy that also retries failures for which `those` returns true without a time limit.
    package func waiting(for those: @Sendable @escaping (any Error) -> Bool) -> RetryPolicy {
        guard let unlimited else { return self }
        return RetryPolicy(
            limit: limit, stop: stop, lost: lost, passes: passes, unlimited: unlimited.applying(to: those),
            onRetry: onRetry, whenStopped: whenStopped)
    }

    /// The rules for failures that are retried without a time limit.
    ///
    /// A server that sheds load causes these failures, and recovers by itself.
    package struct Unlimited: Sendable {
        let applies: @Sendable (any Error) -> Bool
        let pause: @Sendable (_ refusals: Int) -> Duration
        let aroundAttempt: @Sendable (() throws -> Void) throws -> Void
        let onWait: @Sendable (any Error) -> Void
        let onEnd: @Sendable (Duration) -> Void

        /// Creates the rules for retries without a time limit.
        /// - Parameters:
        ///   - applies: returns whether a failure is retried without a time limit.
        ///   - pause: returns the time to wait after this number of failures in a row.
        ///   - aroundAttempt: receives each attempt as a closure, and has to call the closure.
        ///   - onWait: called with the failure, once a wait has lasted for a second.
        ///   - onEnd: called at the end of a wait that lasted for a second or more, with its duration.
        package init(
            for applies: @Sendable @escaping (any Error) -> Bool,
            pause: @Sendable @escaping (_ refusals: Int) -> Duration,
            aroundAttempt: @Sendable @escaping (() throws -> Void) throws -> Void,
            onWait: @Sendable @escaping (any Error) -> Void, onEnd: @Sendable @escaping (Duration) -> Void
        ) {
            (self.applies, self.pause, self.aroundAttempt) = (applies, pause, aroundAttempt)
            (self.onWait, self.onEnd) = (onWait, onEnd)
        }

        fileprivate func applying(to those: @Sendable @escaping (any Error) -> Bool) -> Unlimited {
            let applies = applies
            return Unlimited(
                for: { applies($0) || those($0) }, pause: pause, aroundAttempt: aroundAttempt, onWait: onWait,
                onEnd: onEnd)
        }
    }

    /// The state of a wait without a time limit, which is passed to the closure `whileWaiting`.
    package struct Wait {
        /// The failure that caused the wait.
        package let error: any Error
        /// The time since the start of the first attempt that failed.
        package let waited: Duration
        /// The time since the previous call of `whileWaiting`; in the first call, the same as ``waited``.
        package let added: Duration
    }

    /// Runs `operation` until it succeeds, fails with an error that is not temporary, or fails after the time limit or
    /// a request to stop.
    ///
    /// The operation must be repeatable, because an attempt that failed may have taken effect.
    /// - Parameter whileWaiting: called at intervals during a wait without a time limit, to keep a lease; an error that
    ///   it throws ends the wait.
    /// - Throws: the operation's error, or the error that `whenStopped` returns for it; an error of `whileWaiting`.
    package func run<R>(_ operation: () throws -> R, whileWaiting: (Wait) throws -> Void = { _ in }) throws -> R {
        var retries = Retries(limit: limit)
        var wait: LongWait?
        defer { wait.map { $0.end(unlimited) } }
        while true {
            let started = ContinuousClock.now
            do {
                return try attempt(operation)
            } catch  where passes(error) {
                guard !stop.isRaised else { throw whenStopped(error) }
                if let unlimited, unlimited.applies(error) {
                    retries.succeeded()
                    try (wait ?? LongWait(since: started)).wait(after: error, unlimited, stop, whileWaiting, &wait)
                } else {
                    guard let pause = retries.pause(afterFailureAt: .now) else { throw error }
                    onRetry(error, retries.count)
                    PosixThread.sleep(pause, unless: { stop.isRaised })
                }
                lost.add(started.duration(to: .now))
            }
        }
    }

    private func attempt<R>(_ operation: () throws -> R) throws -> R {
        guard let unlimited else { return try operation() }
        var result: R?
        try unlimited.aroundAttempt { result = try operation() }
        guard let result else { preconditionFailure("an attempt that does not throw has a result") }
        return result
    }
}

/// A wait without a time limit, which includes all pauses between failures in a row.
private struct LongWait {
    private let start: ContinuousClock.Instant
    private var seen: ContinuousClock.Instant
    private var refusals = 0
    private var isReported = false

    init(since start: ContinuousClock.Instant) { (self.start, seen) = (start, start) }

    private static var reportDelay: Duration { .seconds(1) }

    /// Pauses before the next attempt, and stores the wait in `kept` for the next failure.
    func wait(
        after error: any Error, _ unlimited: RetryPolicy.Unlimited, _ stop: StopSignal,
        _ whileWaiting: (RetryPolicy.Wait) throws -> Void, _ kept: inout LongWait?
    ) throws {
        var wait = self
        wait.refusals += 1
        defer { kept = wait }
        let end = ContinuousClock.now + unlimited.pause(wait.refusals)
        repeat {
            let rest = ContinuousClock.now.duration(to: end)
            PosixThread.sleep(max(.milliseconds(1), min(rest, .milliseconds(200))), unless: { stop.isRaised })
            let now = ContinuousClock.now
            let waited = start.duration(to: now)
            if waited >= Self.reportDelay, !wait.isReported {
                wait.isReported = true
                unlimited.onWait(error)
            }
            defer { wait.seen = now }
            try whileWaiting(RetryPolicy.Wait(error: error, waited: waited, added: wait.seen.duration(to: now)))
        } while .now < end && !stop.isRaised
    }

    func end(_ unlimited: RetryPolicy.Unlimited?) {
        if isReported { unlimited?.onEnd(start.duration(to: .now)) }
    }
}

/// The time that a run lost to temporary failures.
package final class LostTime: Sendable {
    private let milliseconds = Atomic<Int64>(0)

    package init() {}

    /// The time that the run has lost so far to failed attempts and the pauses after them.
    package var total: Duration { .milliseconds(milliseconds.load(ordering: .relaxed)) }

    func add(_ duration: Duration) { milliseconds.add(duration.milliseconds, ordering: .relaxed) }
}

/// The growing pauses between the retries of an operation.
///
/// The retries end when a time limit has passed since the first of several failures in a row.
package struct Retries: Sendable {
    private let limit: Duration
    private var firstFailure: ContinuousClock.Instant?
    /// The number of failures since the last success.
    package private(set) var count = 0

    /// Creates the state before the first failure.
    /// - Parameter limit: the longest time from the first of several failures in a row to the last attempt.
    package init(limit: Duration) { self.limit = limit }

    /// Records a success, so that the next failure counts as the first one in a row.
    package mutating func succeeded() { (firstFailure, count) = (nil, 0) }

    /// Records a failure.
    /// - Returns: the time to wait before the next attempt; `nil` when the limit is reached.
    package mutating func pause(afterFailureAt now: ContinuousClock.Instant) -> Duration? {
        let start = firstFailure ?? now
        firstFailure = start
        count += 1
        let rest = limit - start.duration(to: now)
        guard rest > .zero else { return nil }
        return min(.milliseconds(100) * (1 << min(count, 6)), .seconds(5), rest)
    }
}
