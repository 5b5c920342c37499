package import BSON
import Concurrency
import Following
import JobState
package import Mongo
import Running
import Steps

/// How a partner is, as the state database tells it.
package struct PartnerStatus: Sendable {
    /// The job's name.
    package var name: String
    /// The two collections.
    package var source: Namespace
    /// The partner.
    package var target: Namespace
    /// How far it is: `copying`, `copied`, `cut-over`; `nil` when it was never begun.
    package var phase: String?
    /// How many documents were copied.
    package var copied = 0
    /// Whether somebody holds it now: a mirror, or a copy.
    package var isHeld = false
    /// How many seconds the mirror is behind; `nil` before it has run.
    package var behind: Int?
    /// What the mirror has done since it began last.
    package var mirror: BSONDocument?
    /// When clients wrote a side last, as far as the mirror has seen, in milliseconds since 1970.
    package var lastWrites: [PartnerSide: Int64] = [:]
    /// When the copying began, in milliseconds since 1970.
    package var begun: Int64?
    /// The documents that are not on the other side, because they cannot be.
    package var unmirrored = 0
    /// A few of them, with the reason.
    package var samples: [(side: String, id: BSONValue, reason: String)] = []
    /// The differences that the last comparison found; `nil` before the first, or when it was of another job file.
    package var differences: Int?
    /// When it was made, in milliseconds since 1970.
    package var verified: Int64?
    /// The server's time, in milliseconds since 1970.
    package var now: Int64 = 0
}

extension PartnerRegistry {
    /// How a partner is.
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
        status.behind = state.secondsBehind(at: ServerTime(milliseconds: status.now))
        for side in PartnerSide.allCases {
            status.lastWrites[side] = time(record["clients"]?.document?[side.rawValue])
        }
        status.unmirrored = try client.count(HeldPairs.collection, ["_id.job": .string(partner.stateName)])
        var cursor = client.all(HeldPairs.collection, ["_id.job": .string(partner.stateName)])
        while status.samples.count < 10, let refused = try cursor.nextDocument() {
            guard let id = refused["_id"]?.document, let value = id["id"] else { continue }
            status.samples.append((id["side"]?.text ?? "", value, refused["reason"]?.text ?? ""))
        }
        if record["text"]?.text == PartnerState.digest(of: partner.job) {
            (status.differences, status.verified) = (state.evidence.differences, state.evidence.time?.milliseconds)
        }
        return status
    }
}

// MARK: the end of the old side

extension PartnerStatus {
    /// How old the last comparison may be, where nobody says otherwise.
    package static var standardAge: Duration { PartnerEvidence.standardAge }

    /// What stands against the end of the original's clients, a clause each.
    /// - Parameters:
    ///   - quiet: how long no client may have written the original.
    ///   - recent: how old the last comparison may be.
    package func obstacles(quiet: Duration, recent: Duration) -> [String] {
        guard phase == "copied" else {
            return [
                phase == nil
                    ? "it was never made" : phase == "copying" ? "it is not copied yet" : "it is cut over already"
            ]
        }
        var obstacles: [String] = []
        if isHeld { obstacles.append("a mirror is at work: stop it first (SIGTERM)") }
        if behind == nil { obstacles.append("no mirror has run: run partner mirror --once") }
        if unmirrored > 0 {
            obstacles.append("\(unmirrored) documents are not on the other side: partner status lists them")
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
                    ? "the original is watched for \(ago.text) only, and nobody was to write to it for \(quiet.text)"
                    : "clients wrote the original \(ago.text) ago, and were to write nothing for \(quiet.text)")
        }
        return obstacles
    }
}

extension PartnerRunner {
    /// Records that the original's clients are gone: nothing is carried over from then on, and nothing is deleted.
    ///
    /// Before it says yes it carries over, under its own lease, all that clients have written up to now.
    /// - Throws: ``RunError`` of kind `refusedByData` with all that stands against it; of kind `leaseHeld` when a
    ///   mirror is at work.
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
            // The lease is this runner's own.
            now.isHeld = false
            try refuse(now.obstacles(quiet: quiet, recent: recent), "cannot be cut over")
            try kernel.renew(setting: ["phase": .string(PartnerState.Phase.cutOver.rawValue), "cutOver": "$$NOW"])
        }
    }

    /// Drops the original for good.
    /// - Throws: ``RunError`` of kind `refusedByData` when it was not cut over, or was written since.
    package func dropOriginal(on pool: ClientPool) throws {
        let kernel = try kernel(on: pool)
        defer { _ = kernel.leave() }
        let state = PartnerState(try kernel.retrying { try kernel.store.ranges.document() })
        try state.check(job)
        guard state.phase == .cutOver, let place = state.places[.source] else {
            return try refuse(["it is not cut over: run partner cutover first"], "cannot lose its original")
        }
        try refuse(try changes(since: place, ignoring: state.sessions, kernel), "cannot lose its original")
        _ = try kernel.retrying {
            try kernel.client.runWriteCommand(
                ["drop": .string(job.source.collection), "writeConcern": ["w": "majority"]], on: job.source.database)
        }
    }

    /// What clients wrote to the original since the mirror was there last.
    private func changes(
        since place: FeedPlace, ignoring sessions: OwnSessions, _ kernel: borrowing Kernel
    ) throws -> [String] {
        let end = ClusterTime(rawValue: try kernel.retrying { try kernel.client.operationTime() })
        let news = Semaphore()
        let feed = ChangeFeed(
            job.source, from: place, on: kernel.pool, news: news, patience: options.retryLimit,
            ignoring: sessions.ids)
        defer { feed.close() }
        var time = ClusterTime(rawValue: 0)
        while time < end {
            guard !stop.isRaised else { throw StopAsked() }
            do throws(ChangeFeed.End) {
                if let batch = try feed.take() {
                    if !batch.ids.isEmpty { return ["clients wrote the original after the mirror had ended"] }
                    time = batch.time
                } else {
                    _ = news.wait(milliseconds: 100)
                }
            } catch {
                if case .failed(let error) = error { throw error }
                return ["whether the original was written since is not known any more"]
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
