import BSON
import Concurrency
package import Jobs
package import Mongo

/// How long a runner owns a range, and how long a write of its may take.
package struct LeaseTerms: Hashable, Sendable {
    /// How long a lease lasts from its last renewal.
    package let duration: Duration
    /// How far two servers' clocks may be apart: a successor waits that much beyond the lease's end.
    package let skew: Duration

    /// How far the clocks may be apart by which the writes of one lease go.
    ///
    /// It is nothing where they all go by the primary's.
    let spread: Duration

    /// Makes terms; `duration` is at least a second, so that a write has time.
    package init(duration: Duration, skew: Duration = .seconds(1)) {
        precondition(duration >= .seconds(1), "checked when parsed")
        self.init(duration, skew: skew, spread: .zero)
    }

    private init(_ duration: Duration, skew: Duration, spread: Duration) {
        (self.duration, self.skew, self.spread) = (duration, skew, spread)
    }

    /// The terms where routers stand between: each has a clock of its own, and `$$NOW` is the time of the one that is asked.
    ///
    /// A quarter of the lease leaves half of it, at which it is renewed.
    package var behindRouters: LeaseTerms {
        let margin = min(duration / 4, .seconds(10))
        return LeaseTerms(duration, skew: max(skew, margin), spread: margin)
    }

    /// What the operator has to know of the clocks; `nil` where one of them is all there is.
    package var note: String? {
        guard spread > .zero else { return nil }
        return
            "behind routers the job's lease goes by the clock of whichever is asked: it holds while all clocks of the cluster are "
            + "within \(spread.text) of each other"
    }

    /// The most time that the server may spend on one write: a quarter of the lease, and never more than ten seconds.
    package var writeLimit: Duration { min(duration / 4, .seconds(10)) }
}

/// A range that this runner owns until a time on the server's clock.
package struct Lease: Hashable, Sendable {
    /// Counts the leases of the range: a checkpoint of an older one is refused.
    package let token: Int
    /// The end as the server last acknowledged it, in milliseconds since 1970.
    let end: Int64
    package let terms: LeaseTerms

    /// Holds while a write that starts now ends within the lease, by the server's own clock.
    ///
    /// It travels in the filter of every write, since a check before the write can come too late: the runner may be
    /// stopped between the two for any time. The constant is folded once per command, so it costs nothing per document.
    package var fence: Expression {
        if FaultInjection.isPlanted(.noFence) { return .constant(true) }
        let latest = end - terms.writeLimit.milliseconds
        return .call("$lt", .variable("NOW"), .constant(.date(milliseconds: latest)))
    }
}

/// A lease, and when it was last asked for: a bound on how long it lasts that needs no clock but our own.
package struct HeldLease {
    package private(set) var lease: Lease
    private var askedAt: ContinuousClock.Instant
    /// When the oldest lease was asked for whose fence a write under way may carry.
    private var fencedAt: ContinuousClock.Instant
    /// Until when a write whose reply was lost may still be done by the server, as its fence allows; `nil` without one.
    private(set) var doubtEnd: ContinuousClock.Instant?

    package init(lease: Lease, askedAt: ContinuousClock.Instant) {
        (self.lease, self.askedAt, fencedAt) = (lease, askedAt, askedAt)
    }

    /// Takes the renewed lease, whose fence the next writes carry.
    package mutating func renew(_ lease: Lease, askedAt: ContinuousClock.Instant) {
        extend(lease, askedAt: askedAt)
        refence()
    }

    /// Takes the lease that was renewed between two attempts at a write, which may carry the fence of the one before.
    package mutating func extend(_ lease: Lease, askedAt: ContinuousClock.Instant) {
        (self.lease, self.askedAt) = (lease, askedAt)
    }

    /// The writes from here on carry the fence of the newest lease.
    package mutating func refence() { fencedAt = askedAt }

    /// Keeps in mind that a copy of a write may be under way: its fence, which no renewal moves, ends it.
    package mutating func doubt(_ error: MongoError) {
        guard error.mayBeUnderWay else { return }
        doubtEnd = .now + lease.terms.duration + lease.terms.skew
    }

    /// Whether a fence of this lease held at any time up to now.
    package var isCertain: Bool {
        let terms = lease.terms
        return fencedAt.duration(to: .now) < terms.duration - terms.writeLimit - terms.spread
    }

    /// Whether it is time to renew it.
    package var isHalfOver: Bool { askedAt.duration(to: .now) > lease.terms.duration / 2 }
}

extension RangeStore {
    /// Gives a lease back, so that the next run can start at once; unless the server may still get to a write whose reply
    /// was lost: then the lease runs out by itself.
    /// - Returns: what the operator has to know of the lease.
    package func leave(_ held: HeldLease) -> String? {
        guard let end = held.doubtEnd, .now < end else {
            // One that cannot be given back ends by itself, too.
            try? release(held.lease)
            return nil
        }
        let seconds = Int(ContinuousClock.now.duration(to: end).seconds.rounded(.up))
        return
            "the job's lease is left to run out, for about \(seconds) s: the reply to a write was lost, and the server may "
            + "still get to it"
    }
}
