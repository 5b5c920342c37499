/// A lease, and when it was last asked for: a bound on how long it lasts that needs no clock but our own.
struct Holding {
    var lease: Lease
    var askedAt: ContinuousClock.Instant

    /// Whether a fence of this lease held at any time up to now.
    var isCertain: Bool { askedAt.duration(to: .now) < lease.terms.duration - lease.terms.writeLimit }

    /// Whether it is time to renew it.
    var isHalfOver: Bool { askedAt.duration(to: .now) > lease.terms.duration / 2 }
}
