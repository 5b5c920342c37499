package import BSON
package import Concurrency
package import JobState
import Mongo

/// Takes the lease of a job, a watch or a mirror; waits for a time if another runner holds the lease.
package struct LeaseSeeker {
    /// The maximum number of dead runners, one after another, whose leases the seeker waits for.
    private static let maximumDead = 3

    private let options: RunOptions
    private let identity: RunnerIdentity
    private let retry: RetryPolicy
    private let events: @Sendable (RunEvent) -> Void

    package init(
        options: RunOptions, identity: RunnerIdentity, retry: RetryPolicy,
        events: @Sendable @escaping (RunEvent) -> Void
    ) {
        (self.options, self.identity, self.retry, self.events) = (options, identity, retry, events)
    }

    /// Takes the lease.
    ///
    /// If another runner holds the lease, the function waits as long as the setting `lease-wait` says. If that runner
    /// is known to be dead, the function waits until the lease ends.
    /// - Parameter freeing: called before each attempt to take the lease.
    /// - Returns: the lease, and the lease's document in the state database.
    /// - Throws: ``RunError`` of kind `leaseHeld` if another runner still holds the lease after the wait, or of kind
    ///   `stopped`; ``MongoError``; the errors of `freeing`.
    package func take(
        _ store: borrowing StateStore, for use: RangeStore.Use, freeing: () throws -> Void = {}
    ) throws -> (HeldLease, BSONDocument) {
        let started = ContinuousClock.now
        var announced = false
        let longest = max(options.leaseWait, .zero)
        // The last runner that was found dead, and the time by which its lease has ended. After that time, another
        // runner may take the lease and die as well.
        var dead: (runner: RunnerIdentity, end: ContinuousClock.Instant)?
        var deadRunners = 0
        while true {
            try freeing()
            if try isBeingFreed(store), !retry.stop.isRaised {
                PosixThread.sleep(.milliseconds(100))
                continue
            }
            let askedAt = ContinuousClock.now
            switch try retry.run({ try store.ranges.acquire(for: use) }) {
            case .taken(let lease, let range):
                return (HeldLease(lease: lease, askedAt: askedAt), range)
            case .held(let holder, let remaining):
                let needed = max(remaining, .zero) + store.ranges.terms.skew
                let isDead = holder.map { identity.knowsDead($0) } ?? false
                // The seeker waits for the leases of at most `maximumDead` dead runners, because the wait could
                // otherwise be endless.
                if isDead, let holder, dead?.runner != holder, deadRunners < Self.maximumDead {
                    dead = (holder, .now + needed + .seconds(2))
                    deadRunners += 1
                }
                let isEnding = isDead && dead.map { .now < $0.end } ?? false
                guard !retry.stop.isRaised else {
                    throw RunError(.stopped, "stopped by a signal before the job's lease was free; run it again")
                }
                guard isEnding || started.duration(to: .now) < longest else {
                    throw Self.held(store.job, by: holder, remaining: remaining)
                }
                if !announced {
                    announced = true
                    events(
                        .waitingForLease(
                            holder: Self.name(of: holder), seconds: isDead ? needed.seconds : longest.seconds))
                }
                PosixThread.sleep(min(max(needed, .milliseconds(50)), .milliseconds(250)))
            }
        }
    }

    /// Ends the sessions of dead runners, whose transactions may still lock the lease's record.
    /// - Returns: whether the lease is free, but its last runner was alive a moment ago; its transaction may still lock
    ///   the record.
    private func isBeingFreed(_ store: borrowing StateStore) throws -> Bool {
        try retry.run {
            guard try store.sessions.endDead(except: identity.owner) else { return false }
            return try store.ranges.otherHolder() == nil
        }
    }

    /// Throws if another runner holds the lease, unless that runner is known to be dead or the setting `lease-wait` is
    /// more than nothing.
    ///
    /// The function is called before a plan reads the collection, so that the user sees the error without a wait.
    package func checkFree(_ store: borrowing StateStore) throws {
        guard options.leaseWait <= .zero, let (holder, remaining) = try store.ranges.otherHolder(),
            holder.map({ !identity.knowsDead($0) }) ?? true
        else { return }
        throw Self.held(store.job, by: holder, remaining: remaining)
    }

    private static func held(_ job: String, by holder: RunnerIdentity?, remaining: Duration) -> RunError {
        RunError(
            .leaseHeld,
            "job \"\(job)\" is held by \(name(of: holder)); its lease ends in "
                + "\(max(0, Int(remaining.seconds.rounded(.up)))) s unless it is renewed; set "
                + "SHIPSHAPE_LEASE_WAIT=10m to wait for it")
    }

    private static func name(of holder: RunnerIdentity?) -> String {
        holder.map { "process \($0.process) on host \($0.host)" } ?? "another runner"
    }
}
