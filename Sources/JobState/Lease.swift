import BSON
import Concurrency
package import Jobs

/// How long a runner owns a range, and how long a write of its may take.
package struct LeaseTerms: Hashable, Sendable {
    /// How long a lease lasts from its last renewal.
    package let duration: Duration
    /// How far two servers' clocks may be apart: a successor waits that much beyond the lease's end.
    package let skew: Duration

    /// Makes terms; `duration` is at least a second, so that a write has time.
    package init(duration: Duration, skew: Duration = .seconds(1)) {
        precondition(duration >= .seconds(1), "checked when parsed")
        self.duration = duration
        self.skew = skew
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
