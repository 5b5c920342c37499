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
    let throttler: Throttler?
    let deadline: ContinuousClock.Instant?
    /// `nil` in a dry run.
    private(set) var holding: HeldLease?
    /// The time spent waiting for a majority since the last ``restart()``, which is not time of the work.
    private var waited = Duration.zero
    private var lostBefore = Duration.zero
    private var started = ContinuousClock.now

    init(
        retry: RetryPolicy, events: @Sendable @escaping (RunEvent) -> Void, pool: ClientPool,
        client: consuming Client, store: consuming StateStore, throttler: Throttler?,
        deadline: ContinuousClock.Instant?,
        holding: HeldLease?
    ) {
        (self.retry, self.events) = (retry, events)
        (self.pool, self.throttler) = (pool, throttler)
        (self.deadline, self.holding) = (deadline, holding)
        self.client = client
        self.store = store
    }

    /// Asks the work to stop.
    package var stop: StopSignal { retry.stop }

    /// Tries an operation that may be repeated until it succeeds, fails for good, or the time for that is over.
    package func retrying<R>(_ operation: () throws -> R) throws -> R { try retry.run(operation) }

    // MARK: The lease

    /// Whether nothing may be written, for want of a lease.
    var isDry: Bool { holding == nil }

    /// The lease; `nil` in a dry run.
    var leaseIfAny: Lease? { holding?.lease }

    /// The lease of a run that writes.
    package var lease: Lease {
        guard let holding else { preconditionFailure("nothing is written without a lease") }
        return holding.lease
    }

    /// Whether a fence of the lease held at any time up to now: a write that came after it changed nothing, and reads like
    /// one that had nothing to change.
    package var isFenceCertain: Bool { holding?.isCertain ?? true }

    /// Extends the lease, and records what `changes` says in the job's range.
    /// - Throws: ``BackfillError`` of kind `leaseLost`; ``MongoError``.
    package mutating func renew(setting changes: BSONDocument = [:]) throws {
        guard let lease = holding?.lease else { return }
        let (renewed, askedAt) = try retrying {
            let askedAt = ContinuousClock.now
            return (try store.ranges.renew(lease, setting: changes), askedAt)
        }
        holding?.renew(renewed, askedAt: askedAt)
        // It waits for a majority.
        waited += askedAt.duration(to: .now)
    }

    /// Extends the lease when it is half over.
    package mutating func keepLease() throws { if holding?.isHalfOver ?? false { try renew() } }

    /// Keeps in mind that a copy of a write may be under way still.
    mutating func doubt(_ error: MongoError) { holding?.doubt(error) }

    /// Writes under the fence, and again where the lease may have ended meanwhile: the write then changed nothing.
    ///
    /// Only what may be repeated belongs here.
    package mutating func fenced<R>(_ write: (borrowing Kernel) throws -> R) throws -> R {
        while true {
            try keepLease()
            let result = try retry.run { () throws -> R in
                do { return try write(self) } catch let error as MongoError {
                    doubt(error)
                    throw error
                }
            }
            if isFenceCertain { return result }
            try renew()
        }
    }

    /// Gives the lease back, unless a write may still be under way under it.
    /// - Returns: what the operator has to know of it.
    package func leave() -> String? { holding.flatMap { store.ranges.leave($0) } }

    // MARK: Waiting

    /// Waits until nothing throttles, and keeps the lease.
    /// - Parameter meanwhile: called again and again while it waits.
    /// - Returns: the reason to stop when there is one.
    package mutating func waitForThrottle(meanwhile: () -> Void = {}) throws -> BackfillReport.Stop? {
        guard let throttler else {
            if stop.isRaised { return .signal }
            return deadline.map { .now >= $0 } == true ? .timeBudget : nil
        }
        var recorded: [ThrottleReason] = []
        let (stop, deadline, events) = (stop, deadline, events)
        return try throttler.wait(stop: stop, deadline: deadline, events: events) { holds in
            meanwhile()
            guard recorded != holds.map(\.reason) || holding?.isHalfOver == true else { return }
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
    mutating func reading<R: Sendable>(
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
    mutating func restart() { (started, waited, lostBefore) = (.now, .zero, retry.lost.total) }

    /// The time of the work since then, without what was waited for a majority, or lost to failures that passed.
    var worked: Duration {
        max(.zero, started.duration(to: .now) - waited - (retry.lost.total - lostBefore))
    }

    /// Runs what waits for a majority: its time is not the work's.
    mutating func waiting<R>(_ body: (borrowing Kernel) throws -> R) rethrows -> R {
        let before = ContinuousClock.now
        defer { waited += before.duration(to: .now) }
        return try body(self)
    }
}

extension Error {
    /// Whether the server may still be at a write after this ended the run.
    ///
    /// Who was refused for want of a privilege has the server's word that it did nothing.
    package var leavesDoubt: Bool {
        if let error = self as? MongoError { return !error.isAuthorization }
        return (self as? BackfillError)?.kind == .stopped
    }
}
