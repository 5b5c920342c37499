package import BSON
package import Concurrency
package import JobState
package import Mongo

/// The base of everything that writes documents: the lease with its fence, throttle, retries, rests, and the deadline.
///
/// Each run and each undo has one. Without a lease, as in a dry run, nothing is recorded and nothing may be written.
package struct Kernel: ~Copyable {
    /// The policy by which passing failures are retried.
    package let retry: RetryPolicy
    /// Takes what the work reports.
    package let events: @Sendable (RunEvent) -> Void
    /// Provides a client for each long read.
    package let pool: ClientPool
    /// The client of the work's own commands.
    package let client: Client
    /// The job's documents in the state database.
    package let store: StateStore
    /// `nil` if the work never waits.
    package let throttler: Throttler?
    /// When the work has to stop; `nil` without a time limit.
    package let deadline: ContinuousClock.Instant?
    /// The state that waits inside a retry change, too.
    private let state: State
    private var lostBefore = Duration.zero
    private var started = ContinuousClock.now

    private final class State {
        /// `nil` in a dry run.
        var holding: HeldLease?
        /// The time spent waiting for a majority since the last ``restart()``; it does not count as time of the work.
        var waited = Duration.zero
        /// Whether the job's range records that the work waits for a server that sheds load.
        var isWaitRecorded = false
        /// When the last renewal of the lease was tried during such a wait.
        var triedAt: ContinuousClock.Instant?

        init(_ holding: HeldLease?) { self.holding = holding }
    }

    /// Joins the parts; `holding` is `nil` in a dry run.
    package init(
        retry: RetryPolicy, events: @Sendable @escaping (RunEvent) -> Void, pool: ClientPool,
        client: consuming Client, store: consuming StateStore, throttler: Throttler?,
        deadline: ContinuousClock.Instant?,
        holding: HeldLease?
    ) {
        (self.retry, self.events) = (retry, events)
        (self.pool, self.throttler) = (pool, throttler)
        (self.deadline, state) = (deadline, State(holding))
        self.client = client
        self.store = store
    }

    /// The signal that asks the work to stop.
    package var stop: StopSignal { retry.stop }

    /// Runs a repeatable operation until it succeeds, fails for good, or the time for retries is over.
    ///
    /// While the server sheds load, it keeps the lease and records the wait in the job's range.
    /// - Parameter those: failures that are not retried here.
    package func retrying<R>(
        refusing those: (@Sendable (any Error) -> Bool)? = nil, _ operation: () throws -> R
    ) throws -> R {
        let retry = those.map { self.retry.refusing($0) } ?? self.retry
        let result = try retry.run(operation) { try wait($0) }
        // If the server refuses this update too, the next operation that succeeds tries it again.
        if state.isWaitRecorded, (try? renewOnce(setting: RangeChange.goingOn)) != nil { state.isWaitRecorded = false }
        return result
    }

    /// How long a wait lasts before the job's range records it.
    private static var silence: Duration { .seconds(1) }

    private func wait(_ wait: RetryPolicy.Wait) throws {
        let hold = Hold(overload: wait.error)
        throttler?.count([hold], wait.added)
        if let deadline, .now >= deadline {
            throw RunError(.stopped, "stopped at --max-runtime: \(hold); run it again")
        }
        let isToRecord = wait.waited >= Self.silence && !state.isWaitRecorded
        guard isToRecord || state.holding?.isHalfOver == true else { return }
        if let triedAt = state.triedAt, triedAt.duration(to: .now) < Self.silence { return }
        state.triedAt = .now
        do {
            try renewOnce(setting: RangeChange.waiting(for: [hold]))
            state.isWaitRecorded = true
        } catch let error as MongoError where error.isTransient || error.isTimeLimit {}  // tried again the next time
    }

    /// Extends the lease with a single command, which the server may refuse, too.
    private func renewOnce(setting changes: BSONDocument) throws {
        guard let lease = state.holding?.lease else { return }
        let askedAt = ContinuousClock.now
        let renewed = try Overload.within(.atOnce) { try store.ranges.renew(lease, setting: changes) }
        state.holding?.extend(renewed, askedAt: askedAt)
    }

    // MARK: The lease

    /// Whether nothing may be written because there is no lease.
    package var isDry: Bool { state.holding == nil }

    /// The lease; `nil` in a dry run.
    package var leaseIfAny: Lease? { state.holding?.lease }

    /// The lease of a run that writes.
    package var lease: Lease {
        guard let holding = state.holding else { preconditionFailure("nothing is written without a lease") }
        return holding.lease
    }

    /// Whether the fences of all writes up to now certainly still held: a write that arrived after its fence changed
    /// nothing, and its reply reads like that of a write that had nothing to change.
    package var isFenceCertain: Bool { state.holding?.isCertain ?? true }

    /// Returns the lease for the fence of an attempt at a write: the newest one, which a wait before the attempt may
    /// have renewed.
    package func leaseForAttempt() -> Lease {
        state.holding?.refence()
        return lease
    }

    /// Extends the lease, and records `changes` in the job's range.
    /// - Throws: ``RunError`` of kind `leaseLost`; ``MongoError``.
    package mutating func renew(setting changes: BSONDocument = [:]) throws { try extendLease(setting: changes) }

    private func extendLease(setting changes: BSONDocument = [:]) throws {
        guard let lease = state.holding?.lease else { return }
        let (renewed, askedAt) = try retrying {
            let askedAt = ContinuousClock.now
            return (try store.ranges.renew(lease, setting: changes), askedAt)
        }
        state.holding?.renew(renewed, askedAt: askedAt)
        // The renewal waits for a majority.
        state.waited += askedAt.duration(to: .now)
    }

    /// Extends the lease when it is half over; no write must be under way.
    package func keepLease() throws {
        state.holding?.refence()
        if state.holding?.isHalfOver ?? false { try extendLease() }
    }

    /// Records that the server may still be running a copy of a write.
    package func doubt(_ error: MongoError) { state.holding?.doubt(error) }

    /// Writes under the fence, and repeats the write if the lease may have ended, because it then changed nothing.
    ///
    /// The write must be repeatable.
    package func fenced<R>(_ write: (borrowing Kernel) throws -> R) throws -> R {
        while true {
            try keepLease()
            let result = try retrying { () throws -> R in
                state.holding?.refence()
                do { return try write(self) } catch let error as MongoError {
                    state.holding?.doubt(error)
                    throw error
                }
            }
            if isFenceCertain { return result }
            try extendLease()
        }
    }

    /// Gives the lease back, unless the server may still be running a write under it.
    /// - Returns: what the operator has to know about the lease; `nil` if there is nothing.
    package func leave() -> String? { state.holding.flatMap { store.ranges.leave($0) } }

    // MARK: Waiting

    /// Waits until nothing throttles, and keeps the lease.
    /// - Parameter meanwhile: called repeatedly during the wait.
    /// - Returns: the reason to stop, if there is one.
    package mutating func waitForThrottle(meanwhile: () -> Void = {}) throws -> RunStop? {
        guard let throttler else {
            if stop.isRaised { return .signal }
            return deadline.map { .now >= $0 } == true ? .timeBudget : nil
        }
        var recorded: [ThrottleReason] = []
        let (stop, deadline, events) = (stop, deadline, events)
        return try throttler.wait(stop: stop, deadline: deadline, events: events) { holds in
            meanwhile()
            guard recorded != holds.map(\.reason) || state.holding?.isHalfOver == true else { return }
            try renew(setting: RangeChange.waiting(for: holds))
            recorded = holds.map(\.reason)
        }
    }

    /// Sleeps for a time, in short naps that keep the lease and obey a stop signal and the deadline.
    package mutating func sleep(_ time: Duration) throws {
        let end = min(ContinuousClock.now + time, deadline ?? .now + time)
        while .now < end, !stop.isRaised {
            PosixThread.sleep(min(ContinuousClock.now.duration(to: end), .milliseconds(200)))
            try keepLease()
        }
    }

    /// Runs a read of any length on a thread and a client of its own, and keeps the lease during it.
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

    /// Starts measuring a piece of work.
    package mutating func restart() { (started, state.waited, lostBefore) = (.now, .zero, retry.lost.total) }

    /// The time of the work since ``restart()``, without waits for a majority and time lost to failures that passed.
    package var worked: Duration {
        max(.zero, started.duration(to: .now) - state.waited - (retry.lost.total - lostBefore))
    }

    /// Runs an operation that waits for a majority, and does not count its time as time of the work.
    package mutating func waiting<R>(_ body: (borrowing Kernel) throws -> R) rethrows -> R {
        let before = ContinuousClock.now
        defer { state.waited += before.duration(to: .now) }
        return try body(self)
    }
}

extension Error {
    /// Whether the server may still be running a write after this error ended the run.
    ///
    /// A refusal for lack of a privilege does not, because it proves that the server did nothing.
    package var leavesDoubt: Bool {
        if let error = self as? MongoError { return !error.isAuthorization }
        return (self as? RunError)?.kind == .stopped
    }
}
