package import BSON
package import Concurrency
package import JobState
import Mongo

/// Takes a job's lease for a runner or for an undo.
package struct LeaseSeeker {
    private let options: RunOptions
    private let identity: RunnerIdentity
    private let retry: RetryPolicy
    private let events: @Sendable (RunEvent) -> Void

    /// Joins the parts.
    package init(
        options: RunOptions, identity: RunnerIdentity, retry: RetryPolicy,
        events: @Sendable @escaping (RunEvent) -> Void
    ) {
        (self.options, self.identity, self.retry, self.events) = (options, identity, retry, events)
    }

    /// Takes the lease; waits for the end of a dead runner's lease, and for that of any other as long as `--lease-wait`
    /// says.
    /// - Parameter freeing: called before each attempt.
    package func take(
        _ store: borrowing StateStore, for use: RangeStore.Use, freeing: () throws -> Void = {}
    ) throws -> (HeldLease, BSONDocument) {
        let started = ContinuousClock.now
        var announced = false
        let longest = max(options.leaseWait, .zero)
        // A dead runner never renews, so its lease ends at this time. Another runner may take it then, and die too.
        var dead: (runner: RunnerIdentity, end: ContinuousClock.Instant)?
        while true {
            try freeing()
            let askedAt = ContinuousClock.now
            switch try retry.run({ try store.ranges.acquire(for: use) }) {
            case .taken(let lease, let range):
                return (HeldLease(lease: lease, askedAt: askedAt), range)
            case .held(let holder, let remaining):
                let needed = max(remaining, .zero) + store.ranges.terms.skew
                let isDead = holder.map { identity.knowsDead($0) } ?? false
                if isDead, let holder, dead?.runner != holder { dead = (holder, .now + needed + .seconds(2)) }
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

    /// Refuses a job that another living runner holds, unless it is waited for, before anything else is read for it.
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
                + "\(max(0, Int(remaining.seconds.rounded(.up)))) s unless it is renewed; wait for it with "
                + "--lease-wait")
    }

    private static func name(of holder: RunnerIdentity?) -> String {
        holder.map { "process \($0.process) on host \($0.host)" } ?? "another runner"
    }
}
