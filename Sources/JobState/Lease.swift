import BSON
import Concurrency
package import Jobs
package import Mongo

/// How long a runner owns a range, and how long one of its writes may take.
package struct LeaseTerms: Hashable, Sendable {
    /// How long a lease lasts from its last renewal.
    package let duration: Duration
    /// How far two servers' clocks may be apart; a successor waits this much longer than the lease's end.
    package let skew: Duration

    /// The largest difference between the clocks that judge the writes of one lease.
    ///
    /// It is zero where the primary's clock judges all of them.
    let spread: Duration

    /// Creates terms; `duration` is at least a second, so that a write has time.
    package init(duration: Duration, skew: Duration = .seconds(1)) {
        precondition(duration >= .seconds(1), "checked when parsed")
        self.init(duration, skew: skew, spread: .zero)
    }

    private init(_ duration: Duration, skew: Duration, spread: Duration) {
        (self.duration, self.skew, self.spread) = (duration, skew, spread)
    }

    /// The terms for a deployment with routers, each with a clock of its own: `$$NOW` is the time of the router that is
    /// asked.
    ///
    /// The margin is at most a quarter of the lease, so that a fence is certain for at least half of it; then it is
    /// renewed.
    package var behindRouters: LeaseTerms {
        let margin = min(duration / 4, .seconds(10))
        return LeaseTerms(duration, skew: max(skew, margin), spread: margin)
    }

    /// A note on the clocks for the operator; `nil` where only one clock counts.
    package var note: String? {
        guard spread > .zero else { return nil }
        return
            "each router measures the job's lease by its own clock: the lease is safe while all clocks of the cluster "
            + "are within \(spread.text) of each other"
    }

    /// The most time that the server may spend on one write: a quarter of the lease, at most ten seconds.
    package var writeLimit: Duration { min(duration / 4, .seconds(10)) }
}

/// A range that this runner owns until a time on the server's clock.
package struct Lease: Hashable, Sendable {
    /// The number of the lease among those of its range; a checkpoint under an older lease is refused.
    package let token: Int
    /// The end that the server last acknowledged, in milliseconds since 1970.
    let end: Int64
    /// The terms of the lease.
    package let terms: LeaseTerms

    /// The condition that a write which starts now ends within the lease, by the server's own clock.
    ///
    /// It travels in the filter of every write, because a check before the write can come too late: the runner may be
    /// suspended between the two for any time. The server folds the constant once per command, so it costs nothing per
    /// document.
    package var fence: Expression {
        if FaultInjection.isPlanted(.noFence) { return .constant(true) }
        let latest = end - terms.writeLimit.milliseconds
        return .call("$lt", .variable("NOW"), .constant(.date(milliseconds: latest)))
    }
}

/// A lease and the time of the request for it, which bounds how long it lasts without any clock but our own.
package struct HeldLease {
    /// The lease, as last renewed.
    package private(set) var lease: Lease
    private var askedAt: ContinuousClock.Instant
    /// The time of the request for the oldest lease whose fence a write under way may carry.
    private var fencedAt: ContinuousClock.Instant
    /// The end of the time in which the server may still execute a write whose reply was lost, as its fence allows;
    /// `nil` if there is no such write.
    private(set) var doubtEnd: ContinuousClock.Instant?

    /// Creates a held lease from a new lease and the time of the request for it.
    package init(lease: Lease, askedAt: ContinuousClock.Instant) {
        (self.lease, self.askedAt, fencedAt) = (lease, askedAt, askedAt)
    }

    /// Stores the renewed lease, whose fence the next writes carry.
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

    /// Records that a copy of a write may still be under way; only its fence ends it, which no renewal moves.
    package mutating func doubt(_ error: MongoError) {
        guard error.mayBeUnderWay else { return }
        doubtEnd = .now + lease.terms.duration + lease.terms.skew
    }

    /// Whether the fence that writes carry has certainly held until now.
    package var isCertain: Bool {
        let terms = lease.terms
        return fencedAt.duration(to: .now) < terms.duration - terms.writeLimit - terms.spread
    }

    /// Whether it is time to renew the lease.
    package var isHalfOver: Bool { askedAt.duration(to: .now) > lease.terms.duration / 2 }
}

extension RangeStore {
    /// Releases a lease, so that the next run can start at once; but if the server may still execute a write whose
    /// reply was lost, lets the lease run out by itself.
    /// - Returns: what the operator has to know of the lease; `nil` for nothing.
    package func leave(_ held: HeldLease) -> String? {
        guard let end = held.doubtEnd, .now < end else {
            // A lease that cannot be released ends by itself, too.
            try? release(held.lease)
            return nil
        }
        let seconds = Int(ContinuousClock.now.duration(to: end).seconds.rounded(.up))
        return
            "the job's lease is kept until it ends, in about \(seconds) s: the reply to a write was lost, and the "
            + "server may still do that write"
    }
}
