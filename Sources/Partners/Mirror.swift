package import BSON
package import Concurrency
import Following
import JobState
import Jobs
package import Mongo
package import Running

/// Keeps both sides of a partner equal while clients of both write.
///
/// The change streams of both sides report which documents changed. The mirror then reads both documents of a pair in
/// their current state, and fits the side that did not change to the other. If both changed before one could be carried
/// over, the later change wins, and the pair is reported. The mirror writes in transactions, and recognises its own
/// writes because their change events contain its session.
package struct Mirror: Sendable {
    let partner: Partner
    let options: RunOptions
    /// Whether the mirror ends once all changes from before its start are carried over.
    let endsWhenCaughtUp: Bool
    /// Whether the mirror compares every pair first, because the oplog no longer has all changes since the last run.
    ///
    /// Where the two documents of a pair differ, the original wins.
    let comparesAll: Bool
    let stop: StopSignal
    let events: @Sendable (MirrorEvent) -> Void

    /// Makes a mirror; `events` is called on any of the mirror's threads.
    package init(
        _ partner: Partner, options: RunOptions, endsWhenCaughtUp: Bool, comparesAll: Bool = false, stop: StopSignal,
        events: @Sendable @escaping (MirrorEvent) -> Void
    ) {
        (self.partner, self.options) = (partner, options)
        (self.endsWhenCaughtUp, self.comparesAll) = (endsWhenCaughtUp, comparesAll)
        (self.stop, self.events) = (stop, events)
    }

    /// Mirrors until a stop is requested, or until it has caught up if ``endsWhenCaughtUp`` is set; blocks the thread.
    /// - Parameter atTheEnd: called when the mirror ends, while the lease is held.
    /// - Throws: ``RunError`` when another runner holds the partner's lease, or when a side cannot be followed;
    ///   ``MongoError``.
    package func run(
        on pool: ClientPool, atTheEnd: (MirrorOutcome, inout Kernel) throws -> Void = { _, _ in }
    ) throws -> MirrorOutcome {
        let runner = PartnerRunner(partner, options: options, stop: stop) { [events] in events(.run($0)) }
        try runner.check(on: try pool.client())
        guard try pool.client().hello().maxWireVersion >= ServerHello.wireVersionOf50 else {
            // Snapshot sessions, which read both documents of a pair at one point in time, exist from 5.0 on.
            throw RunError(
                .schemaMismatch,
                "a mirror needs MongoDB 5.0 or later, and this server is older")
        }
        var limits = partner.job.limits
        // A mirror that waited because the oplog window is short would lose its own position in the oplog.
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
    /// The mirror has begun to follow both change streams, from positions at most this many seconds in the past.
    case following(lag: Int)
    /// All changes from before the mirror's start are carried over.
    case caughtUp
    /// Both documents of a pair changed before one of the changes could be carried over.
    ///
    /// `winner` is the side that changed last, whose document overwrites the other. It is `nil` if one of the documents
    /// cannot be carried over; then neither is overwritten.
    case conflict(id: BSONValue, winner: PartnerSide?)
    /// A document of the given side cannot exist on the other side.
    case refused(PartnerSide, Refusal)
    /// The counts so far, reported about every second.
    case progress(MirrorCounts)
}

/// The counts of a mirror's work.
package struct MirrorCounts: Sendable, Hashable {
    /// The number of changes received, including those that the mirror itself made.
    package var changes = 0
    /// The number of documents written or deleted, by the side whose change was carried over.
    package var carried: [PartnerSide: Int] = [:]
    /// The number of changes that the mirror itself made.
    package var echoes = 0
    /// The number of pairs in which both documents changed before one of the changes could be carried over.
    package var conflicts = 0
    /// The number of documents that cannot be carried over now, because they cannot exist on the other side.
    package var refused = 0
    /// The age in milliseconds of the oldest change that is not yet carried over; 0 if there is none.
    package var lag = 0
    /// The median and the 99th percentile of the milliseconds between a change and the moment when it is carried over.
    package var delays: (median: Int, percentile99: Int) = (0, 0)

    /// Whether two counts are equal, ignoring the delays.
    package static func == (left: MirrorCounts, right: MirrorCounts) -> Bool {
        left.changes == right.changes && left.carried == right.carried && left.lag == right.lag
            && left.conflicts == right.conflicts && left.refused == right.refused && left.echoes == right.echoes
    }

    /// Hashes only ``changes`` and ``carried``.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(changes)
        hasher.combine(carried)
    }

    /// The number of documents written or deleted on both sides.
    package var written: Int { carried.values.reduce(0, +) }
}

/// The result of a mirror's run.
package struct MirrorOutcome: Sendable {
    /// The counts of the run.
    package var counts: MirrorCounts
    /// Whether all changes from before the mirror's start were carried over.
    package var isCaughtUp: Bool
}
