import Concurrency
package import Mongo

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
