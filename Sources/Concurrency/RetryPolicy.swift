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
    /// `nil` where no failure is waited for without a limit.
    private let patience: Patience?
    private let onRetry: @Sendable (_ error: any Error, _ attempt: Int) -> Void
    private let whenStopped: @Sendable (any Error) -> any Error

    /// Joins the parts.
    /// - Parameters:
    ///   - passes: whether a failure may pass by itself.
    ///   - patience: which of these failures are waited for without a limit, and how.
    ///   - onRetry: told of each failure that is bridged, and of how many there were.
    ///   - whenStopped: what is thrown in the place of a failure once stopping was asked for.
    package init(
        limit: Duration, stop: StopSignal = StopSignal(), lost: LostTime = LostTime(),
        passes: @Sendable @escaping (any Error) -> Bool, patience: Patience? = nil,
        onRetry: @Sendable @escaping (_ error: any Error, _ attempt: Int) -> Void = { _, _ in },
        whenStopped: @Sendable @escaping (any Error) -> any Error = { $0 }
    ) {
        (self.limit, self.stop, self.lost, self.patience) = (limit, stop, lost, patience)
        (self.passes, self.onRetry, self.whenStopped) = (passes, onRetry, whenStopped)
    }

    /// The policy for operations of which fewer failures pass.
    package func refusing(_ those: @Sendable @escaping (any Error) -> Bool) -> RetryPolicy {
        let passes = passes
        return RetryPolicy(
            limit: limit, stop: stop, lost: lost, passes: { passes($0) && !those($0) }, patience: patience,
            onRetry: onRetry, whenStopped: whenStopped)
    }

    /// The failures that are waited for without a limit: a server that sheds load resumes its work by itself.
    package struct Patience: Sendable {
        let applies: @Sendable (any Error) -> Bool
        let pause: @Sendable (_ refusals: Int) -> Duration
        let surround: @Sendable (() throws -> Void) throws -> Void
        let onWait: @Sendable (any Error) -> Void
        let onEnd: @Sendable (Duration) -> Void

        /// Joins the parts.
        /// - Parameters:
        ///   - applies: whether a failure is one of those.
        ///   - pause: how long to wait after so many failures in a row.
        ///   - surround: runs each attempt.
        ///   - onWait: takes the failure, once a wait has lasted for a second.
        ///   - onEnd: takes how long such a wait lasted.
        package init(
            for applies: @Sendable @escaping (any Error) -> Bool,
            pause: @Sendable @escaping (_ refusals: Int) -> Duration,
            surround: @Sendable @escaping (() throws -> Void) throws -> Void,
            onWait: @Sendable @escaping (any Error) -> Void, onEnd: @Sendable @escaping (Duration) -> Void
        ) {
            (self.applies, self.pause, self.surround) = (applies, pause, surround)
            (self.onWait, self.onEnd) = (onWait, onEnd)
        }
    }

    /// A wait without a limit, as its caller sees it.
    package struct Wait {
        /// The failure that it is for.
        package let error: any Error
        /// How long it has lasted since the first failure.
        package let waited: Duration
        /// How long it has lasted since the call before.
        package let added: Duration
    }

    /// Runs `operation` until it succeeds, fails for good, or the time is over.
    ///
    /// Only what may be repeated belongs here: an operation that failed may have been done.
    /// - Parameter meanwhile: called now and then in a wait without a limit, to keep a lease; what it throws ends the
    ///   wait.
    /// - Throws: what the operation throws.
    package func run<R>(_ operation: () throws -> R, meanwhile: (Wait) throws -> Void = { _ in }) throws -> R {
        var retries = Retries(limit: limit)
        var wait: LongWait?
        defer { wait.map { $0.end(patience) } }
        while true {
            let started = ContinuousClock.now
            do {
                return try attempt(operation)
            } catch  where passes(error) {
                guard !stop.isRaised else { throw whenStopped(error) }
                if let patience, patience.applies(error) {
                    retries.succeeded()
                    try (wait ?? LongWait(since: started)).goOn(after: error, patience, stop, meanwhile, &wait)
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
        guard let patience else { return try operation() }
        var result: R?
        try patience.surround { result = try operation() }
        guard let result else { preconditionFailure("an attempt that does not throw has a result") }
        return result
    }
}

/// A wait without a limit.
private struct LongWait {
    private let start: ContinuousClock.Instant
    private var seen: ContinuousClock.Instant
    private var refusals = 0
    private var isTold = false

    init(since start: ContinuousClock.Instant) { (self.start, seen) = (start, start) }

    /// How long a wait lasts before it is reported.
    private static var silence: Duration { .seconds(1) }

    /// Pauses once, and keeps itself in `kept` for the next failure.
    func goOn(
        after error: any Error, _ patience: RetryPolicy.Patience, _ stop: StopSignal,
        _ meanwhile: (RetryPolicy.Wait) throws -> Void, _ kept: inout LongWait?
    ) throws {
        var wait = self
        wait.refusals += 1
        defer { kept = wait }
        let end = ContinuousClock.now + patience.pause(wait.refusals)
        repeat {
            let rest = ContinuousClock.now.duration(to: end)
            PosixThread.sleep(max(.milliseconds(1), min(rest, .milliseconds(200))), unless: { stop.isRaised })
            let now = ContinuousClock.now
            let waited = start.duration(to: now)
            if waited >= Self.silence, !wait.isTold {
                wait.isTold = true
                patience.onWait(error)
            }
            defer { wait.seen = now }
            try meanwhile(RetryPolicy.Wait(error: error, waited: waited, added: wait.seen.duration(to: now)))
        } while .now < end && !stop.isRaised
    }

    func end(_ patience: RetryPolicy.Patience?) {
        if isTold { patience?.onEnd(start.duration(to: .now)) }
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
