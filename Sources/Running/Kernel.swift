package import BSON
package import Concurrency
package import JobState
package import Mongo

/// What every writer of documents stands on: the lease with the fence in it, the throttle, retries, rest, the deadline.
///
/// A run and an undo have one each; without a lease, as in a dry run, nothing is kept and nothing may be written.
package struct Kernel: ~Copyable {
    package let retry: RetryPolicy
    package let events: @Sendable (RunEvent) -> Void
    /// Gives the long reads a client each.
    package let pool: ClientPool
    package let client: Client
    package let store: StateStore
    /// `nil` where nothing is to be waited for.
    package let throttler: Throttler?
    package let deadline: ContinuousClock.Instant?
    /// The state that waits within retries change, too.
    private let state: State
    private var lostBefore = Duration.zero
    private var started = ContinuousClock.now

    private final class State {
        /// `nil` in a dry run.
        var holding: HeldLease?
        /// The time spent waiting for a majority since the last ``restart()``, which is not time of the work.
        var waited = Duration.zero
        /// Whether the job's range says that it waits for a server that sheds load.
        var isWaitRecorded = false
        /// When the lease was last renewed in such a wait, or could not be.
        var triedAt: ContinuousClock.Instant?

        init(_ holding: HeldLease?) { self.holding = holding }
    }

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

    /// Asks the work to stop.
    package var stop: StopSignal { retry.stop }

    /// Tries an operation that may be repeated until it succeeds, fails for good, or the time for that is over.
    ///
    /// While the server sheds load it keeps the lease, and records that it waits.
    /// - Parameter those: failures that are not bridged here.
    package func retrying<R>(
        refusing those: (@Sendable (any Error) -> Bool)? = nil, _ operation: () throws -> R
    ) throws -> R {
        let retry = those.map { self.retry.refusing($0) } ?? self.retry
        let result = try retry.run(operation) { try wait($0) }
        // Where the server refuses this one, the next operation that succeeds tries it again.
        if state.isWaitRecorded, (try? renewOnce(setting: RangeChange.goingOn)) != nil { state.isWaitRecorded = false }
        return result
    }

    /// How long a wait lasts before the job's range says so.
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
        } catch let error as MongoError where error.isTransient || error.isTimeLimit {}  // the next time
    }

    /// Extends the lease by a single command, which the server may refuse, too.
    private func renewOnce(setting changes: BSONDocument) throws {
        guard let lease = state.holding?.lease else { return }
        let askedAt = ContinuousClock.now
        let renewed = try Overload.within(.atOnce) { try store.ranges.renew(lease, setting: changes) }
        state.holding?.extend(renewed, askedAt: askedAt)
    }

    // MARK: The lease

    /// Whether nothing may be written, for want of a lease.
    package var isDry: Bool { state.holding == nil }

    /// The lease; `nil` in a dry run.
    package var leaseIfAny: Lease? { state.holding?.lease }

    /// The lease of a run that writes.
    package var lease: Lease {
        guard let holding = state.holding else { preconditionFailure("nothing is written without a lease") }
        return holding.lease
    }

    /// Whether a fence of the lease held at any time up to now: a write that came after it changed nothing, and reads like
    /// one that had nothing to change.
    package var isFenceCertain: Bool { state.holding?.isCertain ?? true }

    /// The lease for the fence of an attempt at a write: the newest one, which a wait before the attempt may have
    /// renewed.
    package func leaseForAttempt() -> Lease {
        state.holding?.refence()
        return lease
    }

    /// Extends the lease, and records what `changes` says in the job's range.
    /// - Throws: ``RunError`` of kind `leaseLost`; ``MongoError``.
    package mutating func renew(setting changes: BSONDocument = [:]) throws { try extendLease(setting: changes) }

    private func extendLease(setting changes: BSONDocument = [:]) throws {
        guard let lease = state.holding?.lease else { return }
        let (renewed, askedAt) = try retrying {
            let askedAt = ContinuousClock.now
            return (try store.ranges.renew(lease, setting: changes), askedAt)
        }
        state.holding?.renew(renewed, askedAt: askedAt)
        // It waits for a majority.
        state.waited += askedAt.duration(to: .now)
    }

    /// Extends the lease when it is half over; no write is under way then.
    package func keepLease() throws {
        state.holding?.refence()
        if state.holding?.isHalfOver ?? false { try extendLease() }
    }

    /// Keeps in mind that a copy of a write may be under way still.
    package func doubt(_ error: MongoError) { state.holding?.doubt(error) }

    /// Writes under the fence, and again where the lease may have ended meanwhile: the write then changed nothing.
    ///
    /// Only what may be repeated belongs here.
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

    /// Gives the lease back, unless a write may still be under way under it.
    /// - Returns: what the operator has to know of it.
    package func leave() -> String? { state.holding.flatMap { store.ranges.leave($0) } }

    // MARK: Waiting

    /// Waits until nothing throttles, and keeps the lease.
    /// - Parameter meanwhile: called again and again while it waits.
    /// - Returns: the reason to stop when there is one.
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

    /// Sleeps so long, in naps that keep the lease and hear a signal.
    package mutating func sleep(_ time: Duration) throws {
        let end = min(ContinuousClock.now + time, deadline ?? .now + time)
        while .now < end, !stop.isRaised {
            PosixThread.sleep(min(ContinuousClock.now.duration(to: end), .milliseconds(200)))
            try keepLease()
        }
    }

    /// Reads as long as it takes, on a thread and a client of its own, and keeps the lease meanwhile.
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

    /// Begins to measure a piece of work.
    package mutating func restart() { (started, state.waited, lostBefore) = (.now, .zero, retry.lost.total) }

    /// The time of the work since then, without what was waited for a majority, or lost to failures that passed.
    package var worked: Duration {
        max(.zero, started.duration(to: .now) - state.waited - (retry.lost.total - lostBefore))
    }

    /// Runs what waits for a majority: its time is not the work's.
    package mutating func waiting<R>(_ body: (borrowing Kernel) throws -> R) rethrows -> R {
        let before = ContinuousClock.now
        defer { state.waited += before.duration(to: .now) }
        return try body(self)
    }
}

extension Error {
    /// Whether the server may still be at a write after this ended the run.
    ///
    /// Who was refused for want of a privilege has the server's word that it did nothing.
    package var leavesDoubt: Bool {
        if let error = self as? MongoError { return !error.isAuthorization }
        return (self as? RunError)?.kind == .stopped
    }
}
