import Concurrency
import Mongo

/// A lease, and when it was last asked for: a bound on how long it lasts that needs no clock but our own.
struct Holding {
    let lease: Lease
    let askedAt: ContinuousClock.Instant
    /// Until when a write whose reply was lost may still be done by the server, as its fence allows; `nil` without one.
    private(set) var doubtEnd: ContinuousClock.Instant?

    init(lease: Lease, askedAt: ContinuousClock.Instant) { (self.lease, self.askedAt) = (lease, askedAt) }

    /// Takes the renewed lease.
    mutating func renew(_ lease: Lease, askedAt: ContinuousClock.Instant) {
        let doubtEnd = doubtEnd
        self = Holding(lease: lease, askedAt: askedAt)
        self.doubtEnd = doubtEnd
    }

    /// Keeps in mind that a copy of a write may be under way: its fence, which no renewal moves, ends it.
    mutating func doubt(_ error: MongoError) {
        guard error.mayBeUnderWay else { return }
        doubtEnd = .now + lease.terms.duration + lease.terms.skew
    }

    /// Whether a fence of this lease held at any time up to now.
    var isCertain: Bool { askedAt.duration(to: .now) < lease.terms.duration - lease.terms.writeLimit }

    /// Whether it is time to renew it.
    var isHalfOver: Bool { askedAt.duration(to: .now) > lease.terms.duration / 2 }
}

extension StateStore {
    /// Gives a lease back, so that the next run can start at once; unless the server may still get to a write whose reply
    /// was lost: then the lease runs out by itself.
    /// - Returns: what the operator has to know of the lease.
    func leave(_ holding: Holding) -> String? {
        guard let end = holding.doubtEnd, .now < end else {
            // One that cannot be given back ends by itself, too.
            try? release(holding.lease)
            return nil
        }
        let seconds = Int(ContinuousClock.now.duration(to: end).seconds.rounded(.up))
        return
            "the job's lease is left to run out, for about \(seconds) s: the reply to a write was lost, and the server may "
            + "still get to it"
    }
}

extension Error {
    /// Whether the server may still be at a write after this ended the run.
    ///
    /// Who was refused for want of a privilege has the server's word that it did nothing.
    var leavesDoubt: Bool {
        if let error = self as? MongoError { return !error.isAuthorization }
        return (self as? BackfillError)?.kind == .stopped
    }
}
