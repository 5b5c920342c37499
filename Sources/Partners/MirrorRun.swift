import BSON
import Concurrency
import Following
import Foundation
import JobState
import Jobs
import Mongo
import Running

/// One run of a ``Mirror``.
///
/// The mirror reads a document and its counterpart in the other collection at one point in time R. It then waits until
/// the change streams of both collections have reported all changes up to R. The mirror recognizes its own writes in
/// the streams by their sessions; every other change was made by a client. The mirror therefore knows for each of the
/// two documents whether a client changed it before R.
struct MirrorRun: ~Copyable, FollowingRun {
    /// The change stream of the original or of the partner collection, and how far it has been read.
    struct Side {
        var feed: ChangeFeed?
        var place: FeedPlace?
        /// The time up to which the stream has reported all changes.
        var time: ClusterTime
        /// The time of the last change by a client that the side's streams have reported; `nil` if there was none.
        var lastChange: ClusterTime?

        /// Follows a side from a position in its change stream.
        ///
        /// An earlier run received all changes from before the time of the position, but perhaps not all changes of
        /// exactly that time. The stream therefore counts as read only up to just before that time.
        init(_ feed: ChangeFeed, from place: FeedPlace) {
            (self.feed, self.place) = (feed, place)
            time = ClusterTime(rawValue: max(place.time?.rawValue ?? 0, 1) - 1)
        }
    }

    let mirror: Mirror
    var kernel: Kernel
    var sides: [PartnerSide: Side] = [:]
    var dirty = DirtyPairs()
    var carried: CarriedChanges
    var held: HeldPairs
    let writer: PairWriter
    var unreported = UnreportedWrites()
    private var sessions: OwnSessions
    var counts = MirrorCounts()
    var lag = MirrorLag()
    private let changesArrived = Semaphore()
    private(set) var streamReads = StreamReads()
    private var savedAt = ContinuousClock.now
    private var throttleReadAt: ContinuousClock.Instant?

    private static let savePeriod = Duration.seconds(1)
    /// How long an ending mirror waits for the streams to report its last writes.
    private static let reportWait = Duration.seconds(10)

    init(_ mirror: Mirror, kernel: consuming Kernel) throws(MongoError) {
        self.mirror = mirror
        carried = CarriedChanges(job: mirror.partner.stateName)
        held = HeldPairs(job: mirror.partner.stateName)
        sessions = OwnSessions(nil)
        writer = try PairWriter.open(on: kernel.pool)
        self.kernel = kernel
    }

    var partner: Partner { mirror.partner }

    func leave() { _ = kernel.leave() }

    func close() { for side in sides.values { side.feed?.close() } }

    mutating func run() throws -> MirrorOutcome {
        try start()
        let goal = try now()
        var isCaughtUp = false
        while !kernel.stop.isRaised {
            if dirty.isEmpty { _ = changesArrived.wait(milliseconds: 100) }
            try take()
            while !dirty.isEmpty, !kernel.stop.isRaised {
                if try isThrottled() { return try finish(isCaughtUp) }
                try carry()
                try keep()
            }
            let end = max(goal, lag.known)
            if !isCaughtUp, dirty.isEmpty, unreported.isEmpty, sides.values.allSatisfy({ $0.time >= end }) {
                isCaughtUp = true
                mirror.events(.caughtUp)
                if mirror.endsWhenCaughtUp { break }
            }
            try keep()
        }
        return try finish(isCaughtUp)
    }

    private mutating func finish(_ isCaughtUp: Bool) throws -> MirrorOutcome {
        // The mirror waits for the streams to report its last writes, for at most ``reportWait``. Only the streams show
        // whether such a write overwrote a client's change, and the next mirror could not restore that change. The
        // mirror restores the change, and also waits for the write that restores it.
        let end = ContinuousClock.now + Self.reportWait
        repeat {
            while !unreported.isEmpty, ContinuousClock.now < end {
                _ = changesArrived.wait(milliseconds: 50)
                try take()
                try kernel.keepLease()
            }
            try restoreOverwritten()
        } while !unreported.isEmpty && ContinuousClock.now < end
        close()
        try save()
        return MirrorOutcome(counts: counts, isCaughtUp: isCaughtUp)
    }

    private func now() throws -> ClusterTime {
        // `start()` records this time as the end of an earlier mirror's session, so the time must not be before the
        // last commit in that session.
        ClusterTime(rawValue: try kernel.retrying { try kernel.client.operationTime(.primary) })
    }

    // MARK: starting

    private mutating func start() throws {
        let state = PartnerState(try kernel.retrying { try kernel.store.ranges.document() })
        try state.check(partner.job)
        switch state.phase {
        case .copied: break
        case nil, .copying:
            throw RunError(
                .notDone, "the originals of partner \"\(partner.job.name)\" are not copied yet: run partner init first")
        case .cutOver:
            throw RunError(
                .notDone, "partner \"\(partner.job.name)\" is cut over: its mirror has ended for good")
        }
        let now = try now()
        sessions = state.sessions
        sessions.begin(writer.sessionID, at: now)
        try kernel.renew(setting: PartnerChange.writing(in: sessions))
        carried = try kernel.retrying {
            var carried = CarriedChanges(job: partner.stateName)
            try carried.load(kernel.store.client)
            return carried
        }
        try held.load(partner, under: kernel)
        for side in PartnerSide.allCases {
            guard let place = mirror.comparesAll ? .at(now) : state.places[side] else {
                throw RunError(
                    .unsupportedCollection,
                    "\(partner.job.namespace(side)) has no change stream: a mirror needs a replica set or a sharded "
                        + "cluster")
            }
            follow(side, from: place)
        }
        let places = sides.values.compactMap(\.place)
        let lag = places.map { now.seconds - ($0.time?.seconds ?? now.seconds) }.max() ?? 0
        mirror.events(.following(lag: max(0, lag)))
        // Every pair that an earlier run could not carry over is tried again. The obstacle may be gone: for example, a
        // validator was changed, or a document that a lookup needs was added.
        streamReads.begin()
        for key in held.keys { dirty.add(key, read: streamReads.latest) }
        if mirror.comparesAll { for side in PartnerSide.allCases { try markAll(of: side, at: nil) } }
    }

    private mutating func follow(_ side: PartnerSide, from place: FeedPlace) {
        let earlier = sides[side]
        earlier?.feed?.close()
        let feed = ChangeFeed(
            partner.job.namespace(side), from: place, on: kernel.pool, changesArrived: changesArrived,
            retryLimit: mirror.options.retryLimit, interval: .milliseconds(50), ignoring: sessions.ids)
        sides[side] = Side(feed, from: place)
        sides[side]?.lastChange = earlier?.lastChange
    }

    /// Records that every document of a side, together with its counterpart, has to be carried over.
    /// - Parameter drop: the time at which the other side's collection was dropped. The counterparts then count as
    ///   deleted at that time. `nil` if it is unknown whether a document or its counterpart changed.
    private mutating func markAll(of side: PartnerSide, at drop: ChangeTime?) throws {
        streamReads.begin()
        let reader = try kernel.pool.client()
        var cursor = reader.collection(partner.job.namespace(side)).find(
            [:], options: ["projection": ["_id": 1], "readConcern": ["level": "majority"]])
        while let document = try cursor.nextDocument() {
            guard let id = document["_id"], let key = partner.key(of: id, on: side) else { continue }
            let time = drop ?? ChangeTime(cluster: ClusterTime(rawValue: 0))
            dirty.add(key, drop == nil ? side : side.other, at: time, read: streamReads.latest, isUnknown: drop == nil)
            try kernel.keepLease()
        }
    }

    // MARK: reading changes

    /// Takes the pending changes of both sides from the change streams, and records which pairs have to be carried
    /// over.
    mutating func take() throws {
        streamReads.begin()
        for side in PartnerSide.allCases {
            guard let feed = sides[side]?.feed else { continue }
            let batch: ChangeFeed.Batch?
            do throws(ChangeFeed.End) { batch = try feed.take() } catch {
                try lost(side, error)
                continue
            }
            guard let batch else { continue }
            counts.changes += batch.changes
            counts.echoes += batch.ignored.count
            for own in batch.ignored { noteOwn(own, side) }
            for (index, id) in batch.ids.enumerated() {
                let time = batch.times[index]
                let earlier = sides[side]?.lastChange
                sides[side]?.lastChange = max(earlier ?? time.cluster, time.cluster)
                guard let key = partner.key(of: id, on: side), partner.twin(of: key.value, on: .source) != nil else {
                    try noteWithoutTwin(id, side)
                    continue
                }
                unreported.noteChange(of: key, on: side, at: time)
                guard !carried.contains(key, changed: time.cluster) else { continue }
                dirty.add(key, side, at: time, since: batch.firstTimes[index], read: streamReads.latest)
                for waiting in held.waiting(for: key) { dirty.add(waiting, read: streamReads.latest) }
            }
            sides[side]?.place = batch.place
            sides[side]?.time = batch.time
            unreported.forget(upTo: batch.time, on: side)
        }
        streamReads.end(with: sides, waitingSince: dirty.oldestRead)
    }

    /// Handles a write by the mirror that the stream of a side reported.
    ///
    /// If the write overwrote a change that a client made after the mirror had read the document, the pair is carried
    /// over again.
    private mutating func noteOwn(_ own: ChangeFeed.IgnoredChange, _ side: PartnerSide) {
        guard let key = partner.key(of: own.id, on: side) else { return }
        if let time = own.earlier { unreported.noteChange(of: key, on: side, at: time) }
        guard let time = unreported.noteWrite(of: key, on: side) else { return }
        dirty.add(key, side, at: time, read: streamReads.latest)
    }

    /// Lists a document as one without a counterpart, because its `_id` cannot be converted for the other side.
    ///
    /// If the document no longer exists, it is removed from the list.
    private mutating func noteWithoutTwin(_ id: BSONValue, _ side: PartnerSide) throws {
        let namespace = partner.job.namespace(side)
        let isThere = try kernel.retrying {
            try !kernel.client.collection(namespace).findBatch([
                "filter": ["_id": ["$eq": id]], "limit": 1, "projection": ["_id": 1],
            ]).isEmpty
        }
        guard isThere else { return try held.release(id, alone: side, under: kernel) }
        let refusal = Refusal(id: id, reason: .id)
        if try held.hold(refusal, alone: side, under: kernel) { mirror.events(.refused(side, refusal)) }
    }

    /// Handles the end of a side's change stream.
    ///
    /// If the side's collection was dropped, and ``PartnerJob/followsDrops`` is set, the other side's documents will be
    /// deleted. In every other case, the function throws.
    private mutating func lost(_ side: PartnerSide, _ end: ChangeFeed.End) throws {
        let namespace = partner.job.namespace(side)
        switch end {
        case .failed(let error): throw error
        case .lost(let reason):
            throw RunError(
                .unsupportedCollection,
                "the oplog no longer holds the changes of \(namespace) since the last run (\(reason)): compare every "
                    + "pair with --rescan, which inserts documents that one side lacks, and lets the original win "
                    + "where both differ")
        case .renamed:
            throw RunError(.unknownCollection, "\(namespace) was renamed or replaced: the mirror carries nothing over")
        case .dropped(let time):
            guard partner.job.followsDrops else {
                throw RunError(
                    .unknownCollection,
                    "\(namespace) was dropped, and \(partner.job.namespace(side.other)) is unchanged; to delete its "
                        + "documents too, write \"drops: follow\" into a new job")
            }
            try markAll(of: side.other, at: ChangeTime(cluster: time))
            follow(side, from: .at(ClusterTime(rawValue: time.rawValue + 1)))
        }
    }

    /// Waits until the streams of both sides have reported all changes up to the given time, or until a stop is
    /// requested.
    mutating func wait(until time: ClusterTime) throws {
        while sides.values.contains(where: { $0.time < time }), !kernel.stop.isRaised {
            _ = changesArrived.wait(milliseconds: 50)
            try take()
            try kernel.keepLease()
        }
    }

    // MARK: saving progress

    private mutating func isThrottled() throws -> Bool {
        guard throttleReadAt.map({ $0.duration(to: .now) > .seconds(1) }) ?? true else { return false }
        throttleReadAt = .now
        // The lag of a mirror grows while it waits, so the mirror also reports the lag during the wait.
        let (since, events) = (dirty.since, mirror.events)
        var (waiting, saidAt) = (counts, ContinuousClock.now)
        return try kernel.waitForThrottle {
            guard let since, saidAt.duration(to: .now) >= Self.savePeriod else { return }
            saidAt = .now
            waiting.lag = max(0, Int(Int64(Date().timeIntervalSince1970 * 1_000) - since))
            events(.progress(waiting))
        } != nil
    }

    private mutating func keep() throws {
        if savedAt.duration(to: .now) >= Self.savePeriod { try save() } else { try kernel.keepLease() }
    }

    /// Returns the age of the oldest change that is not carried over yet, in milliseconds; 0 if there is none.
    ///
    /// A stream is late if it has not reached the cluster time that the deployment had when this function was last
    /// called. A late stream may still report older changes, so the time that it has reached counts as the time of a
    /// change that is not carried over yet.
    private mutating func oldestAge() throws -> Int {
        let reply = try kernel.retrying { try kernel.client.hello().reply }
        let late = sides.values.map(\.time).filter { $0 < lag.known }
        lag.known = try now()
        let oldest = ([dirty.since] + late.map { Int64($0.seconds) * 1_000 }).compactMap(\.self).min()
        guard let oldest, let time = ServerTime(reply["localTime"]) else { return 0 }
        return max(0, Int(time.milliseconds - oldest))
    }

    /// Saves the positions in the streams up to which all changes are carried over, and reports the progress.
    mutating func save() throws {
        savedAt = .now
        counts.lag = try oldestAge()
        counts.delays = lag.percentiles
        counts.refused = held.count
        mirror.events(.progress(counts))
        guard let snapshot = streamReads.done(before: dirty.oldestRead) else { return try kernel.renew() }
        if let received = snapshot.times.values.min() { sessions.forget(before: received) }
        let described: BSONDocument = [
            "changes": .integer(counts.changes), "carried": .integer(counts.written),
            "echoes": .integer(counts.echoes), "conflicts": .integer(counts.conflicts),
            "unmirrored": .integer(counts.refused), "lag": .integer(counts.lag),
            "delay": [.integer(counts.delays.median), .integer(counts.delays.percentile99)],
        ]
        try kernel.renew(
            setting: PartnerChange.mirrored(
                to: snapshot.places, times: snapshot.times, clients: sides.compactMapValues(\.lastChange),
                sessions: sessions, counts: described))
        if let received = snapshot.times.values.min() { try carried.forget(upTo: received, under: kernel) }
    }
}

extension FeedPlace {
    /// The cluster time of this position; `nil` if the position is a resume token that contains no time.
    var time: ClusterTime? {
        switch self {
        case .at(let time): time
        case .after(let token): token.time
        }
    }
}
