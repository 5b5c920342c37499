package import BSON
package import Concurrency
package import JobState
package import Mongo

/// The services that runs, undos, watches and mirrors share: the lease, the throttle, retries, pauses and the deadline.
///
/// A dry run has a kernel without a lease: it writes nothing, to the collections or to the state database.
package struct Kernel: ~Copyable {
    /// The policy for retrying operations after temporary failures.
    package let retry: RetryPolicy
    /// Called with each event that the runner reports, such as a finished chunk.
    package let events: @Sendable (RunEvent) -> Void
    /// The pool that provides further clients, for long reads and for concurrent commands.
    package let pool: ClientPool
    /// The client for the commands that the runner sends one after the other.
    package let client: Client
    /// The job's documents in the state database.
    package let store: StateStore
    /// The throttle; `nil` if the run never waits for one.
    package let throttler: Throttler?
    /// The time at which the run has to stop; `nil` without a time limit.
    package let deadline: ContinuousClock.Instant?
    /// The lease and the times of waits.
    ///
    /// A class holds them, so that functions that are not `mutating` can change them.
    private let state: State
    private var lostBefore = Duration.zero
    private var started = ContinuousClock.now

    private final class State {
        /// The lease that this runner holds; `nil` in a dry run.
        var heldLease: HeldLease?
        /// The time spent waiting for a majority since the last ``restart()``; it does not count as time of the work.
        var waited = Duration.zero
        /// Whether the state database now shows operators that the run waits for an overloaded server.
        var isWaitRecorded = false
        /// When this runner last tried to renew the lease during such a wait; `nil` before the first attempt.
        var triedAt: ContinuousClock.Instant?

        init(_ heldLease: HeldLease?) { self.heldLease = heldLease }
    }

    /// Creates a kernel from its parts; `heldLease` is `nil` in a dry run.
    package init(
        retry: RetryPolicy, events: @Sendable @escaping (RunEvent) -> Void, pool: ClientPool,
        client: consuming Client, store: consuming StateStore, throttler: Throttler?,
        deadline: ContinuousClock.Instant?,
        heldLease: HeldLease?
    ) {
        (self.retry, self.events) = (retry, events)
        (self.pool, self.throttler) = (pool, throttler)
        (self.deadline, state) = (deadline, State(heldLease))
        self.client = client
        self.store = store
    }

    /// The signal that asks the run to stop.
    package var stop: StopSignal { retry.stop }

    /// Runs an operation until it succeeds, fails for good, or the time for retries is over.
    ///
    /// The operation must be repeatable. While the server refuses commands because of its load, this function keeps the
    /// lease and records the wait in the state database.
    /// - Parameter those: returns whether a failure is not to be retried here; `nil` for the kernel's own policy.
    package func retrying<R>(
        refusing those: (@Sendable (any Error) -> Bool)? = nil, _ operation: () throws -> R
    ) throws -> R {
        let retry = those.map { self.retry.refusing($0) } ?? self.retry
        let result = try retry.run(operation) { try wait($0) }
        // Records that the wait is over. If the server refuses this update, the next operation that succeeds tries it
        // again.
        if state.isWaitRecorded, (try? renewOnce(setting: RangeChange.continuing)) != nil {
            state.isWaitRecorded = false
        }
        return result
    }

    /// How long a wait for an overloaded server lasts before it is recorded; also the time between two attempts to
    /// record it.
    private static var silence: Duration { .seconds(1) }

    private func wait(_ wait: RetryPolicy.Wait) throws {
        let waitReason = WaitReason(overload: wait.error)
        throttler?.count([waitReason], wait.added)
        if let deadline, .now >= deadline {
            throw RunError(.stopped, "stopped at --max-runtime: \(waitReason); run it again")
        }
        let isToRecord = wait.waited >= Self.silence && !state.isWaitRecorded
        guard isToRecord || state.heldLease?.isHalfOver == true else { return }
        if let triedAt = state.triedAt, triedAt.duration(to: .now) < Self.silence { return }
        state.triedAt = .now
        do {
            try renewOnce(setting: RangeChange.waiting(for: [waitReason]))
            state.isWaitRecorded = true
        } catch let error as MongoError where error.isTransient || error.isTimeLimit {}  // the next call tries again
    }

    /// Extends the lease with a single command, which is not retried here; does nothing in a dry run.
    private func renewOnce(setting changes: BSONDocument) throws {
        guard let lease = state.heldLease?.lease else { return }
        let askedAt = ContinuousClock.now
        let renewed = try Overload.within(.atOnce) { try store.ranges.renew(lease, setting: changes) }
        state.heldLease?.extend(renewed, askedAt: askedAt)
    }

    // MARK: The lease

    /// Whether this is a dry run: there is no lease, so nothing may be written.
    package var isDry: Bool { state.heldLease == nil }

    /// The lease; `nil` in a dry run.
    package var leaseIfAny: Lease? { state.heldLease?.lease }

    /// The lease; a dry run, which has none, must not ask for it.
    package var lease: Lease {
        guard let heldLease = state.heldLease else { preconditionFailure("nothing is written without a lease") }
        return heldLease.lease
    }

    /// Whether all writes up to now certainly reached the server before their fences ended.
    ///
    /// A write that arrives later changes nothing, and its reply looks like that of a write that had nothing to change.
    package var isFenceCertain: Bool { state.heldLease?.isCertain ?? true }

    /// Returns the lease whose fence the next attempt at a write has to carry.
    ///
    /// It is the newest one, because the lease may have been renewed since the last attempt.
    package func leaseForAttempt() -> Lease {
        state.heldLease?.refence()
        return lease
    }

    /// Extends the lease, and makes `changes` to the document of the state database that holds it.
    ///
    /// Does nothing in a dry run.
    /// - Throws: ``RunError`` of kind `leaseLost`; ``MongoError``.
    package mutating func renew(setting changes: BSONDocument = [:]) throws { try extendLease(setting: changes) }

    private func extendLease(setting changes: BSONDocument = [:]) throws {
        guard let lease = state.heldLease?.lease else { return }
        let (renewed, askedAt) = try retrying {
            let askedAt = ContinuousClock.now
            return (try store.ranges.renew(lease, setting: changes), askedAt)
        }
        state.heldLease?.renew(renewed, askedAt: askedAt)
        // The renewal waited for a majority, which does not count as time of the work.
        state.waited += askedAt.duration(to: .now)
    }

    /// Extends the lease if more than half of it is over; must not be called while a write is under way.
    package func keepLease() throws {
        state.heldLease?.refence()
        if state.heldLease?.isHalfOver ?? false { try extendLease() }
    }

    /// Records that the server may still execute a write that failed with this error, unless the error rules that out.
    package func doubt(_ error: MongoError) { state.heldLease?.doubt(error) }

    /// Calls `write` until its fence certainly held.
    ///
    /// A write that reached the server after its fence had ended changed nothing. It is repeated under an extended
    /// lease, so `write` must be repeatable.
    package func fenced<R>(_ write: (borrowing Kernel) throws -> R) throws -> R {
        while true {
            try keepLease()
            let result = try retrying { () throws -> R in
                state.heldLease?.refence()
                do { return try write(self) } catch let error as MongoError {
                    state.heldLease?.doubt(error)
                    throw error
                }
            }
            if isFenceCertain { return result }
            try extendLease()
        }
    }

    /// Releases the lease, unless the server may still execute a write under it.
    /// - Returns: a note for the operator if the lease is kept until it ends; `nil` if it was released.
    package func leave() -> String? { state.heldLease.flatMap { store.ranges.leave($0) } }

    // MARK: Waiting

    /// Waits until no throttle reason is left, and keeps the lease in the meantime.
    /// - Parameter whileWaiting: called repeatedly during the wait.
    /// - Returns: why the run has to stop; `nil` if it can continue.
    package mutating func waitForThrottle(whileWaiting: () -> Void = {}) throws -> RunStop? {
        guard let throttler else {
            if stop.isRaised { return .signal }
            return deadline.map { .now >= $0 } == true ? .timeBudget : nil
        }
        var recorded: [ThrottleReason] = []
        let (stop, deadline, events) = (stop, deadline, events)
        return try throttler.wait(stop: stop, deadline: deadline, events: events) { waitReasons in
            whileWaiting()
            guard recorded != waitReasons.map(\.reason) || state.heldLease?.isHalfOver == true else { return }
            try renew(setting: RangeChange.waiting(for: waitReasons))
            recorded = waitReasons.map(\.reason)
        }
    }

    /// Sleeps for a time and keeps the lease; returns early at a stop signal and at the deadline.
    package mutating func sleep(_ time: Duration) throws {
        let end = min(ContinuousClock.now + time, deadline ?? .now + time)
        while .now < end, !stop.isRaised {
            PosixThread.sleep(min(ContinuousClock.now.duration(to: end), .milliseconds(200)))
            try keepLease()
        }
    }

    /// Runs a read as a background task with another client, and keeps the lease until the read ends.
    /// - Throws: ``StopAsked`` at a signal; what `body` throws.
    package mutating func reading<R: Sendable>(
        _ namespace: Namespace, _ body: @Sendable @escaping (MongoCollection) throws -> R
    ) throws -> R {
        let retry = retry
        let read = BackgroundTask(on: pool) { client in
            let collection = client.collection(namespace)
            return try retry.run { try body(collection) }
        }
        return try read.wait(stop: stop) { try keepLease() }
    }

    // MARK: Time

    /// Starts the measurement of ``worked``, for example for the next chunk.
    package mutating func restart() { (started, state.waited, lostBefore) = (.now, .zero, retry.lost.total) }

    /// The time since ``restart()``, without waits for a majority and without failed attempts that were retried.
    package var worked: Duration {
        max(.zero, started.duration(to: .now) - state.waited - (retry.lost.total - lostBefore))
    }

    /// Runs an operation that waits for a majority, without counting its time in ``worked``.
    package mutating func waiting<R>(_ body: (borrowing Kernel) throws -> R) rethrows -> R {
        let before = ContinuousClock.now
        defer { state.waited += before.duration(to: .now) }
        return try body(self)
    }
}

extension Error {
    /// Whether the server may still execute a write of the run that this error ended.
    ///
    /// Not so if the user lacked a privilege, because the server then refused the write.
    package var leavesDoubt: Bool {
        if let error = self as? MongoError { return !error.isAuthorization }
        return (self as? RunError)?.kind == .stopped
    }
}
