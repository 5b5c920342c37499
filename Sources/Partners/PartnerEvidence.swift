import BSON
import Concurrency
import JobState
import Jobs
import SchemaChange

/// The result of the last comparison of an original collection with its partner collection.
struct PartnerEvidence {
    /// The number of differences found; `nil` if there was no comparison since the job file last changed.
    var differences: Int?
    /// The time of the comparison; `nil` if ``differences`` is `nil`.
    var time: ServerTime?

    /// The maximum age of the last comparison, unless the user sets another one.
    ///
    /// If the comparison is older, it no longer shows that the original and the partner collection are equal.
    static var standardAge: Duration { .seconds(24 * 3_600) }

    /// Returns the reason, as a clause, why the comparison does not show that the two collections are equal now.
    ///
    /// The result is `nil` if the comparison shows it.
    /// - Parameter recent: the maximum age of the comparison. An older comparison no longer shows that the collections
    ///   are equal.
    func objection(at now: ServerTime, recent: Duration) -> String? {
        switch (differences, time) {
        case (0?, let time?):
            now.milliseconds - time.milliseconds > recent.milliseconds
                ? "the last comparison is older than \(recent.text): run partner verify" : nil
        case (let count?, _?): "the last comparison found \(count == 1 ? "1 difference" : "\(count) differences")"
        default: "it was never compared: run partner verify"
        }
    }
}

extension PartnerState {
    /// The result of the last comparison; empty if there was none, or if the job file has changed since.
    var evidence: PartnerEvidence {
        guard let verified, verified["text"]?.text == record["text"]?.text else { return PartnerEvidence() }
        return PartnerEvidence(differences: verified["differences"]?.integer, time: ServerTime(verified["at"]))
    }

    /// The partner that the record describes, in the form in which a comparison of schemas uses it.
    ///
    /// `nil` if the record does not describe a partner with both of its collections, or if it was read without the
    /// server's time in the field `now`.
    var partner: PartnerCollection? {
        guard let source = record["source"]?.text.flatMap({ Namespace($0) }), let now = ServerTime(record["now"]),
            let target = record["target"]?.text.flatMap({ Namespace($0) }),
            let job = record["_id"]?.document?["job"]?.text, job.hasPrefix(Partner.stateName(""))
        else { return nil }
        let places = record["carries"]?.document?.values.compactMap(\.text) ?? []
        return PartnerCollection(
            name: String(job.dropFirst(Partner.stateName("").count)), source: source, target: target,
            places: Set(places), state: state(at: now))
    }

    private func state(at now: ServerTime) -> PartnerCollection.State {
        switch phase {
        case nil, .copying: return .unverified("not all originals are copied: run partner init")
        case .cutOver:
            return ServerTime(record["cutOver"]).map { .cutOver($0) }
                ?? .unverified("the time of its cutover is not recorded")
        case .copied:
            let objection = evidence.objection(at: now, recent: PartnerEvidence.standardAge) ?? mirrorObjection(at: now)
            if let objection { return .unverified(objection) }
            return evidence.time.map { .verified($0) } ?? .unverified("it was never compared: run partner verify")
        }
    }
}

/// The state of the mirror.
extension PartnerState {
    /// The largest lag with which a mirror still counts as keeping the original and the partner collection equal.
    private static let maximumLag = Duration.seconds(60)

    /// Returns the mirror's lag in seconds; `nil` before a mirror has run.
    func lagSeconds(at now: ServerTime) -> Int? {
        guard record["mirror"]?.document != nil else { return nil }
        let times = record["times"]?.document?.values.compactMap { value -> Int? in
            if case .timestamp(let stamp) = value { ClusterTime(rawValue: stamp).seconds } else { nil }
        }
        return times?.min().map { max(0, Int(now.milliseconds / 1_000) - $0) }
    }

    /// Returns the reason, as a clause, why no mirror keeps the two collections equal now; `nil` if a mirror does.
    private func mirrorObjection(at now: ServerTime) -> String? {
        guard isHeld, let lag = lagSeconds(at: now) else { return "no mirror is running: run partner mirror" }
        return lag > Int(Self.maximumLag.milliseconds / 1_000)
            ? "its mirror is \(lag) s behind: wait until it has caught up" : nil
    }
}

extension PartnerJob {
    /// The paths of the fields that the forward steps read, write or remove, and of the fields that only the original
    /// has.
    ///
    /// If the `_id`s are converted, `_id` is one of the paths.
    var places: Set<String> {
        let kinds = forward.map(\.step.kind)
        let paths = kinds.flatMap { $0.targets + $0.sources + $0.removed }
        return Set(paths.map { "\($0)" } + own.source + (id == nil ? [] : ["_id"]))
    }
}
