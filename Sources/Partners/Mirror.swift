package import BSON
package import Concurrency
import Following
import JobState
import Jobs
package import Mongo
package import Running

/// Keeps both sides of a partner equal while clients of both write.
///
/// The change streams of both sides say which documents changed; both of a pair are then read as they are, and the side
/// that did not change is made to fit. Where both changed before one could be carried over, the later change wins, and
/// the pair is reported. The mirror writes in transactions, whose session the change streams name, so that it
/// recognises its own writes.
package struct Mirror: Sendable {
    let partner: Partner
    let options: RunOptions
    /// Whether the mirror ends once all that had happened when it began is carried over.
    let endsWhenCaughtUp: Bool
    /// Whether every pair is looked at, as if both sides had changed: where the oplog no longer tells.
    let looksAtAll: Bool
    let stop: StopSignal
    let events: @Sendable (MirrorEvent) -> Void

    /// Joins a job and the way to run it; `events` is called on any of the mirror's threads.
    package init(
        _ partner: Partner, options: RunOptions, endsWhenCaughtUp: Bool, looksAtAll: Bool = false, stop: StopSignal,
        events: @Sendable @escaping (MirrorEvent) -> Void
    ) {
        (self.partner, self.options) = (partner, options)
        (self.endsWhenCaughtUp, self.looksAtAll) = (endsWhenCaughtUp, looksAtAll)
        (self.stop, self.events) = (stop, events)
    }

    /// Mirrors until it is asked to stop, or has caught up where that is all that is wanted; blocks.
    /// - Parameter atTheEnd: called when the mirror ends, while the lease is held.
    /// - Throws: ``RunError`` when another runner does, or when a side cannot be followed; ``MongoError``.
    package func run(
        on pool: ClientPool, atTheEnd: (MirrorOutcome, inout Kernel) throws -> Void = { _, _ in }
    ) throws -> MirrorOutcome {
        let runner = PartnerRunner(partner, options: options, stop: stop) { [events] in events(.run($0)) }
        try runner.check(on: try pool.client())
        guard try pool.client().hello().maxWireVersion >= ServerHello.wireVersionOf50 else {
            // No delete could be carried over under the lease: it knows no $$NOW there.
            throw RunError(
                .schemaMismatch,
                "a mirror needs MongoDB 5.0 or later, whose deletes know the server's clock, and this one is older")
        }
        var limits = partner.job.limits
        // A mirror that waits while the oplog is short loses its own place in it.
        limits.throttle.oplog = nil
        let kernel = try runner.kernel(limits: limits, on: pool)
        var run = try MirrorRun(self, kernel: kernel)
        return try run.follow(atTheEnd)
    }
}

/// What a mirror says while it works.
package enum MirrorEvent: Sendable {
    /// What every runner may say.
    case run(RunEvent)
    /// The mirror follows both sides, from these many seconds ago.
    case following(behind: Int)
    /// All that had happened when the mirror began is carried over.
    case caughtUp
    /// Both documents of a pair changed before one could be carried over.
    ///
    /// `winner` is `nil` where the change of one cannot be carried over: then neither is overwritten.
    case conflict(id: BSONValue, winner: PartnerSide?)
    /// A document cannot be on the other side.
    case refused(PartnerSide, Refusal)
    /// How far it is, now and then.
    case progress(MirrorCounts)
}

/// What a mirror has done.
package struct MirrorCounts: Sendable, Hashable {
    /// The changes that came, those that the mirror itself made among them.
    package var changes = 0
    /// The documents that were written, by the side that they came from.
    package var carried: [PartnerSide: Int] = [:]
    /// The changes that were the mirror's own.
    package var echoes = 0
    /// The pairs of which both sides had changed.
    package var conflicts = 0
    /// The documents that are not on the other side, because they cannot be.
    package var refused = 0
    /// How many milliseconds ago the oldest change was made that is not carried over; 0 where there is none.
    package var lag = 0
    /// How many milliseconds passed between a change and its being carried over: half of the changes took less, and all but
    /// one of a hundred.
    package var delays: (half: Int, most: Int) = (0, 0)

    /// Whether the two say the same.
    package static func == (left: MirrorCounts, right: MirrorCounts) -> Bool {
        left.changes == right.changes && left.carried == right.carried && left.lag == right.lag
            && left.conflicts == right.conflicts && left.refused == right.refused && left.echoes == right.echoes
    }

    /// Hashes the sums.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(changes)
        hasher.combine(carried)
    }

    /// All documents that were written.
    package var written: Int { carried.values.reduce(0, +) }
}

/// How a mirror ended.
package struct MirrorOutcome: Sendable {
    /// What it did.
    package var counts: MirrorCounts
    /// Whether all that had happened when it began was carried over.
    package var isCaughtUp: Bool
}
