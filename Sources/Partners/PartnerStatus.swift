package import BSON
import Concurrency
import Following
import JobState
package import Mongo
import Running
import Steps

package struct PartnerStatus: Sendable {
    package var name: String
    /// The original collection.
    package var source: Namespace
    package var target: Namespace
    /// The phase: `copying`, `copied` or `cut-over`; `nil` if the copy has not begun.
    package var phase: String?
    package var copied = 0
    /// Whether a runner, such as a mirror or a copy, holds the partner's lease now.
    package var isHeld = false
    /// The mirror's lag in seconds; `nil` before a mirror has run.
    package var lag: Int?
    /// The counts of the mirror since its last start; `nil` before a mirror has run.
    package var mirror: BSONDocument?
    /// The time of the last client write that the mirror has received from each side, in milliseconds since 1970.
    package var lastWrites: [PartnerSide: Int64] = [:]
    /// The time at which the copy began, in milliseconds since 1970; `nil` if it has not begun.
    package var begun: Int64?
    /// The number of documents that the mirror cannot carry over now, because they cannot exist on the other side.
    package var unmirrored = 0
    /// At most 10 documents that the mirror cannot carry over now, each with its side and the reason.
    package var samples: [(side: String, id: BSONValue, reason: String)] = []
    /// The number of differences between the original and the partner that the last comparison found.
    ///
    /// `nil` before the first comparison, and if the job file has changed since the last comparison.
    package var differences: Int?
    /// The time of the last comparison, in milliseconds since 1970; `nil` if ``differences`` is `nil`.
    package var verified: Int64?
    /// The server's time when the status was read, in milliseconds since 1970.
    package var now: Int64 = 0
}

extension PartnerRegistry {
    /// Returns the state of a partner; its ``PartnerStatus/phase`` is `nil` if the state database has no record of it.
    package func status(of partner: Partner) throws -> PartnerStatus {
        let client = try client()
        var status = PartnerStatus(
            name: partner.job.name, source: partner.job.source, target: partner.job.target)
        guard
            let record = try client.first(
                StateStore.streams, id(of: partner), adding: ["now": "$$NOW"])
        else { return status }
        let state = PartnerState(record)
        func time(_ value: BSONValue?) -> Int64? { if case .date(let time)? = value { time } else { nil } }
        status.now = time(record["now"]) ?? 0
        (status.phase, status.copied) = (state.phase?.rawValue, state.copied)
        status.isHeld = state.isHeld
        status.mirror = record["mirror"]?.document
        status.begun = time(record["begun"])
        status.lag = state.lagSeconds(at: ServerTime(milliseconds: status.now))
        for side in PartnerSide.allCases {
            status.lastWrites[side] = time(record["clients"]?.document?[side.rawValue])
        }
        status.unmirrored = try client.count(HeldPairs.collection, ["_id.job": .string(partner.stateName)])
        var cursor = client.all(HeldPairs.collection, ["_id.job": .string(partner.stateName)])
        while status.samples.count < 10, let refused = try cursor.nextDocument() {
            guard let id = refused["_id"]?.document, let value = id["id"] else { continue }
            status.samples.append((id["side"]?.text ?? "", value, refused["reason"]?.text ?? ""))
        }
        if PartnerState.digests(of: partner.job).contains(record["text"]?.text ?? "") {
            (status.differences, status.verified) = (state.evidence.differences, state.evidence.time?.milliseconds)
        }
        return status
    }
}

// MARK: cutover

extension PartnerStatus {
    /// The maximum age of the last comparison, unless the user sets another one.
    ///
    /// If the comparison is older, it no longer shows that the sides are equal.
    package static var standardAge: Duration { PartnerEvidence.standardAge }

    /// Returns the obstacles to the cutover, each as a clause; empty if there are none.
    /// - Parameters:
    ///   - quiet: the minimum time since the last write by a client to the original.
    ///   - recent: the maximum age of the last comparison; an older one is an obstacle.
    package func obstacles(quiet: Duration, recent: Duration) -> [String] {
        guard phase == "copied" else {
            return [
                phase == nil
                    ? "it was never created: run partner init"
                    : phase == "copying" ? "it is not copied yet: run partner init" : "it is cut over already"
            ]
        }
        var obstacles: [String] = []
        if isHeld { obstacles.append("a mirror is running: stop it first (SIGTERM)") }
        if lag == nil { obstacles.append("no mirror has run: run partner mirror --once") }
        if unmirrored > 0 {
            obstacles.append(
                (unmirrored == 1 ? "1 document is" : "\(unmirrored) documents are")
                    + " not on the other side: see status PARTNER.yml")
        }
        let evidence = PartnerEvidence(
            differences: differences, time: verified.map { ServerTime(milliseconds: $0) })
        if let objection = evidence.objection(at: ServerTime(milliseconds: now), recent: recent) {
            obstacles.append(objection)
        }
        let last = lastWrites[.source] ?? begun ?? now
        if now - last < quiet.milliseconds {
            let ago = Duration.milliseconds((now - last) / 1_000 * 1_000)
            obstacles.append(
                lastWrites[.source] == nil
                    ? "the original has been watched for only \(ago.text), not for \(quiet.text)"
                    : "clients wrote to the original \(ago.text) ago: wait until it had no writes for \(quiet.text)")
        }
        return obstacles
    }
}

extension PartnerRunner {
    /// Records that clients no longer use the original, so that no more changes are carried over; nothing is deleted.
    ///
    /// The function checks for obstacles, takes the lease, carries over all changes that clients have made so far, and
    /// checks for obstacles again.
    /// - Throws: ``RunError`` of kind `refusedByData` with all obstacles; the errors of the mirror's run; ``StopAsked``
    ///   when that run is stopped.
    package func cutOver(quiet: Duration, recent: Duration, on pool: ClientPool) throws {
        let registry = PartnerRegistry(options.stateDatabase, on: pool)
        let known = try registry.status(of: partner)
        try refuse(known.obstacles(quiet: quiet, recent: recent), "cannot be cut over")
        let mirror = Mirror(partner, options: options, endsWhenCaughtUp: true, stop: stop) { [events] event in
            if case .run(let event) = event { events(event) }
        }
        _ = try mirror.run(on: pool) { outcome, kernel in
            guard outcome.isCaughtUp else { throw StopAsked() }
            var now = try registry.status(of: partner)
            // This command holds the lease itself, so the lease is no obstacle.
            now.isHeld = false
            try refuse(now.obstacles(quiet: quiet, recent: recent), "cannot be cut over")
            try kernel.renew(setting: ["phase": .string(PartnerState.Phase.cutOver.rawValue), "cutOver": "$$NOW"])
        }
    }

    /// Drops the original's collection for good.
    /// - Throws: ``RunError``, of kind `refusedByData` when the partner was not cut over, when clients have written to
    ///   the original since the mirror's last position, or when it is unknown whether they have; ``MongoError``;
    ///   ``StopAsked``.
    package func dropOriginal(on pool: ClientPool) throws {
        let kernel = try kernel(on: pool)
        defer { _ = kernel.leave() }
        let state = PartnerState(try kernel.retrying { try kernel.store.ranges.document() })
        try state.check(job)
        guard state.phase == .cutOver, let place = state.places[.source] else {
            return try refuse(["it is not cut over: run partner cutover first"], "cannot drop its original")
        }
        try refuse(try changes(since: place, ignoring: state.sessions, kernel), "cannot drop its original")
        _ = try kernel.retrying {
            try kernel.client.runWriteCommand(
                ["drop": .string(job.source.collection), "writeConcern": ["w": "majority"]], on: job.source.database)
        }
    }

    /// Returns a clause if clients have written to the original after the mirror's last position, or if it is unknown
    /// whether they have.
    ///
    /// The result is empty if clients have not written.
    private func changes(
        since place: FeedPlace, ignoring sessions: OwnSessions, _ kernel: borrowing Kernel
    ) throws -> [String] {
        let end = ClusterTime(rawValue: try kernel.retrying { try kernel.client.operationTime() })
        let changesArrived = Semaphore()
        let feed = ChangeFeed(
            job.source, from: place, on: kernel.pool, changesArrived: changesArrived, retryLimit: options.retryLimit,
            ignoring: sessions.ids)
        defer { feed.close() }
        var time = ClusterTime(rawValue: 0)
        while time < end {
            guard !stop.isRaised else { throw StopAsked() }
            do throws(ChangeFeed.End) {
                if let batch = try feed.take() {
                    if !batch.ids.isEmpty { return ["clients wrote to the original after the mirror ended"] }
                    time = batch.time
                } else {
                    _ = changesArrived.wait(milliseconds: 100)
                }
            } catch {
                switch error {
                case .failed(let error): throw error
                case .lost: return ["the oplog no longer shows whether clients wrote to the original since then"]
                case .dropped, .renamed: return ["the original was dropped or renamed, or is another collection now"]
                }
            }
        }
        return []
    }

    private func refuse(_ obstacles: [String], _ what: String) throws(RunError) {
        guard !obstacles.isEmpty else { return }
        throw RunError(
            .refusedByData, "partner \"\(job.name)\" \(what): \(obstacles.joined(separator: "; ")); nothing was changed"
        )
    }
}
