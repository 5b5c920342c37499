package import BSON
package import Concurrency
import Following
import JobState
import Jobs
package import Mongo
package import Running

/// Keeps an original collection and its partner collection equal while clients write to both.
///
/// The change streams of both collections report which documents changed. The mirror then reads the current state of a
/// pair, which is an original and its partner document, and adapts the document that did not change. If clients changed
/// both documents before one change could be carried over, the mirror reports a conflict, and usually the later change
/// wins. The mirror writes in transactions. It recognizes its own writes by the session, which their change events
/// contain.
package struct Mirror: Sendable {
    let partner: Partner
    let options: RunOptions
    /// Whether the mirror ends once it has carried over all changes from before its start.
    let endsWhenCaughtUp: Bool
    /// Whether the mirror first compares every pair, because the oplog no longer has all changes since the last run.
    ///
    /// If the two documents of a pair differ, the original wins.
    let comparesAll: Bool
    let stop: StopSignal
    let events: @Sendable (MirrorEvent) -> Void

    /// Creates a mirror; `events` is called on any of the mirror's threads.
    package init(
        _ partner: Partner, options: RunOptions, endsWhenCaughtUp: Bool, comparesAll: Bool = false, stop: StopSignal,
        events: @Sendable @escaping (MirrorEvent) -> Void
    ) {
        (self.partner, self.options) = (partner, options)
        (self.endsWhenCaughtUp, self.comparesAll) = (endsWhenCaughtUp, comparesAll)
        (self.stop, self.events) = (stop, events)
    }

    /// Runs the mirror, and blocks the thread until the mirror ends.
    ///
    /// The mirror ends when a stop is requested. If ``endsWhenCaughtUp`` is set, it also ends once it has carried over
    /// all changes from before its start.
    /// - Parameter atTheEnd: called when the mirror ends, while it still holds the lease.
    /// - Throws: ``RunError``, for instance when another runner holds the partner's lease, when a side's changes cannot
    ///   be followed, or when the server is older than MongoDB 5.0; ``MongoError``.
    package func run(
        on pool: ClientPool, atTheEnd: (MirrorOutcome, inout Kernel) throws -> Void = { _, _ in }
    ) throws -> MirrorOutcome {
        let runner = PartnerRunner(partner, options: options, stop: stop) { [events] in events(.run($0)) }
        try runner.check(on: try pool.client())
        guard try pool.client().hello().maxWireVersion >= ServerHello.wireVersionOf50 else {
            // A snapshot session reads both documents of a pair at one point in time; servers before 5.0 have none.
            throw RunError(
                .schemaMismatch,
                "a mirror needs MongoDB 5.0 or later, and this server is older")
        }
        var limits = partner.job.limits
        // A mirror must not wait because of a short oplog window: during the wait, the oplog could lose the mirror's
        // own position.
        limits.throttle.oplog = nil
        let kernel = try runner.kernel(limits: limits, on: pool)
        var run = try MirrorRun(self, kernel: kernel)
        return try run.follow(atTheEnd)
    }
}

/// The events that a running mirror reports.
package enum MirrorEvent: Sendable {
    /// An event that every runner can report.
    case run(RunEvent)
    /// The mirror has begun to follow both change streams, from positions that are at most `lag` seconds old.
    case following(lag: Int)
    /// The mirror has carried over all changes from before its start.
    case caughtUp
    /// Both documents of a pair changed before one of the changes could be carried over.
    ///
    /// `winner` is the side whose document remains, usually the one that changed last. It is `nil` if one of the
    /// documents cannot be carried over; then no document is overwritten.
    case conflict(id: BSONValue, winner: PartnerSide?)
    /// The given document of the given side cannot exist on the other side.
    case refused(PartnerSide, Refusal)
    /// The counts so far; reported about once a second.
    case progress(MirrorCounts)
}

package struct MirrorCounts: Sendable, Hashable {
    /// The number of changes that the change streams reported, including ``echoes``.
    package var changes = 0
    /// The number of documents that the mirror wrote or deleted, grouped by the side whose changes it carried over.
    package var carried: [PartnerSide: Int] = [:]
    /// The number of reported changes that this mirror, or an earlier mirror of the partner, made.
    package var echoes = 0
    /// The number of pairs in which both documents changed before one of the changes could be carried over.
    package var conflicts = 0
    /// The number of documents that the mirror cannot carry over now, because they cannot exist on the other side.
    package var refused = 0
    /// The age of the oldest change that is not carried over yet, in milliseconds; 0 if there is none.
    package var lag = 0
    /// The median and the 99th percentile of the time until a change is carried over, in milliseconds; 0 if no such
    /// time is known.
    package var delays: (median: Int, percentile99: Int) = (0, 0)

    /// Whether two counts are equal; the delays are not compared.
    package static func == (left: MirrorCounts, right: MirrorCounts) -> Bool {
        left.changes == right.changes && left.carried == right.carried && left.lag == right.lag
            && left.conflicts == right.conflicts && left.refused == right.refused && left.echoes == right.echoes
    }

    /// Hashes only ``changes`` and ``carried``.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(changes)
        hasher.combine(carried)
    }

    /// The number of documents that the mirror wrote or deleted, summed over both sides.
    package var written: Int { carried.values.reduce(0, +) }
}

package struct MirrorOutcome: Sendable {
    package var counts: MirrorCounts
    /// Whether the mirror carried over all changes from before its start.
    package var isCaughtUp: Bool
}
