import BSON
import Concurrency
package import Jobs
package import Mongo

/// How long a runner's lease of a job lasts, and how long one of the runner's writes may take.
package struct LeaseTerms: Hashable, Sendable {
    /// How long a lease lasts from its last renewal.
    package let duration: Duration
    /// How far two servers' clocks may differ; the next runner waits for this time after the lease's end.
    package let skew: Duration

    /// How much the clocks of the servers that evaluate the ``Lease/fence`` of one lease may differ.
    ///
    /// The value is zero if only the primary evaluates the fence.
    let spread: Duration

    /// Creates the terms of a lease; `duration` is at least a second, so that a write has enough time.
    package init(duration: Duration, skew: Duration = .seconds(1), spread: Duration = .zero) {
        precondition(duration >= .seconds(1), "checked when parsed")
        (self.duration, self.skew, self.spread) = (duration, skew, spread)
    }

    /// The terms for a deployment that clients reach through routers (`mongos`).
    ///
    /// Each router has its own clock, and `$$NOW` is the time of the router that receives the command. The margin for
    /// the clocks and ``writeLimit`` are each at most a quarter of the lease. The condition ``Lease/fence`` therefore
    /// certainly holds for at least half of the lease. After that half, the runner renews the lease.
    package var behindRouters: LeaseTerms {
        let margin = min(duration / 4, .seconds(10))
        return LeaseTerms(duration: duration, skew: max(skew, margin), spread: margin)
    }

    /// A note for the operator on how far the clocks of the cluster may differ; `nil` if only one clock checks the
    /// lease.
    package var note: String? {
        guard spread > .zero else { return nil }
        return
            "each router measures the job's lease by its own clock: the lease is safe while all clocks of the cluster "
            + "are within \(spread.text) of each other"
    }

    /// The most time that the server may spend on one write: a quarter of the lease, at most ten seconds.
    package var writeLimit: Duration { min(duration / 4, .seconds(10)) }
}

/// A lease of a job: the right of this runner to work on the job until a time on the server's clock.
package struct Lease: Hashable, Sendable {
    /// The number of the lease, which rises with each lease of the job; a checkpoint under an older lease is refused.
    package let token: Int
    /// The end of the lease that the server last acknowledged, in milliseconds since 1970.
    let end: Int64
    package let terms: LeaseTerms

    /// The fence: a condition that holds only while the lease lasts long enough for one more write, by the server's
    /// clock.
    ///
    /// Writes to documents have the fence in their filters. A check before the write could come too late, because the
    /// runner may be suspended for any time between the check and the write. The fence reads no field, so the server
    /// evaluates it once per command and not for each document.
    package var fence: Expression {
        let latest = end - terms.writeLimit.milliseconds
        return .call("$lt", .variable("NOW"), .constant(.date(milliseconds: latest)))
    }
}

/// A lease and the time at which this runner requested it.
///
/// From this time and its own clock, the runner knows how long the lease lasts at least.
///
/// Each write to documents carries the ``Lease/fence`` of a lease: a condition that holds only until shortly before the
/// end of that lease.
package struct HeldLease {
    /// The lease, as last renewed.
    package private(set) var lease: Lease
    private var askedAt: ContinuousClock.Instant
    /// The time at which this runner requested the lease whose fence is in the writes under way.
    ///
    /// If the writes carry the fences of several leases, it is the time of the request for the oldest of these leases.
    private var fencedAt: ContinuousClock.Instant
    /// The time until which the server may still execute a write whose reply was lost; `nil` if there is no such write.
    ///
    /// After that time, the write changes nothing, because its fence no longer holds.
    private(set) var doubtEnd: ContinuousClock.Instant?

    package init(lease: Lease, askedAt: ContinuousClock.Instant) {
        (self.lease, self.askedAt, fencedAt) = (lease, askedAt, askedAt)
    }

    /// Stores the renewed lease; the next writes carry its fence.
    package mutating func renew(_ lease: Lease, askedAt: ContinuousClock.Instant) {
        extend(lease, askedAt: askedAt)
        refence()
    }

    /// Stores a lease that was renewed between two attempts at a write; the write may still carry the previous fence.
    package mutating func extend(_ lease: Lease, askedAt: ContinuousClock.Instant) {
        (self.lease, self.askedAt) = (lease, askedAt)
    }

    /// Records that all writes from now on carry the fence of the newest lease.
    package mutating func refence() { fencedAt = askedAt }

    /// Records that the server may still execute a write that failed with `error`.
    ///
    /// Nothing is recorded if the error shows that the server has ended the write, or never received it. Only the fence
    /// in the write's own filter can stop a write that is still executed. A renewal of the lease does not change that
    /// fence.
    package mutating func doubt(_ error: MongoError) {
        guard error.mayBeUnderWay else { return }
        doubtEnd = .now + lease.terms.duration + lease.terms.skew
    }

    /// Whether the fence in the current writes certainly still holds, by this runner's own clock.
    package var isCertain: Bool {
        let terms = lease.terms
        return fencedAt.duration(to: .now) < terms.duration - terms.writeLimit - terms.spread
    }

    /// Whether it is time to renew the lease: more than half of its duration has passed since this runner requested it.
    package var isHalfOver: Bool { askedAt.duration(to: .now) > lease.terms.duration / 2 }
}

extension RangeStore {
    /// Releases a lease, so that the next run can start at once.
    ///
    /// If the server may still execute a write whose reply was lost, the lease is not released and ends by itself.
    /// - Returns: a note for the operator if the lease is not released for this reason; otherwise `nil`.
    package func leave(_ held: HeldLease) -> String? {
        guard let end = held.doubtEnd, .now < end else {
            // If the release fails, the lease ends by itself when its time is over.
            try? release(held.lease)
            return nil
        }
        let seconds = Int(ContinuousClock.now.duration(to: end).seconds.rounded(.up))
        return
            "the job's lease is kept until it ends, in about \(seconds) s: the reply to a write was lost, and the "
            + "server may still do that write"
    }
}
