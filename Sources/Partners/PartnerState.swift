import BSON
import Following
import JobState
import Jobs
import Mongo
import Steps

/// The state of a partner collection, read from its record in the state database.
struct PartnerState {
    enum Phase: String {
        /// The documents of the original collection are being copied into the partner.
        case copying
        /// All originals are copied.
        case copied
        /// Clients use only the partner, so the mirror no longer carries changes over.
        case cutOver = "cut-over"
    }

    /// The partner's phase; `nil` before the copy of the originals has begun.
    var phase: Phase?
    /// The `_id` of the last original that was copied; `nil` before the first one and after the copy.
    var last: BSONValue?
    /// The number of documents copied so far.
    var copied = 0
    /// The position in each side's change stream from which the mirror continues.
    var places: [PartnerSide: FeedPlace] = [:]
    /// The sessions that the partner's mirrors use for their write transactions.
    var sessions: OwnSessions
    /// The result of the last comparison of the original collection with the partner; `nil` if there was none.
    var verified: BSONDocument?
    /// The partner's whole record in the state database; empty if there is none.
    let record: BSONDocument

    /// Whether a runner holds the lease.
    ///
    /// The result is `false` if the query that read the record did not add the server's time as the field `now`.
    var isHeld: Bool {
        guard let end = ServerTime(record["lease"]?.document?["end"]), let now = ServerTime(record["now"]) else {
            return false
        }
        return end > now
    }

    init(_ record: BSONDocument?) {
        self.record = record ?? [:]
        phase = self.record["phase"]?.text.flatMap(Phase.init)
        last = self.record["last"]?.document?["v"]
        copied = self.record["copied"]?.integer ?? 0
        sessions = OwnSessions(self.record["sessions"])
        verified = self.record["verified"]?.document
        for side in PartnerSide.allCases {
            places[side] = self.record["places"]?.document?[side.rawValue]?.document.flatMap { FeedPlace($0) }
        }
    }

    /// Returns the digest of a job's content; comments in the job file do not change it.
    static func digest(of job: PartnerJob) -> String { SHA256.text(of: Array(JobFile.content(of: job.text).utf8)) }

    /// Returns the digests that a record of this job may have: the current one, and the one that earlier versions of
    /// the program recorded.
    ///
    /// The digest of earlier versions also covers the comments in the job file.
    static func digests(of job: PartnerJob) -> [String] { [digest(of: job), SHA256.text(of: Array(job.text.utf8))] }

    /// Throws if the content of the job file has changed since the copy began.
    func check(_ job: PartnerJob) throws(RunError) {
        guard phase != nil, !Self.digests(of: job).contains(record["text"]?.text ?? "") else { return }
        throw RunError(
            .bindingChanged,
            "partner \"\(job.name)\" cannot continue: the job file's text changed since it was begun; give the changed "
                + "job a new name and a new target")
    }
}

/// The updates of a partner's record in the state database.
enum PartnerChange {
    /// Returns the update of the partner's record for the start of the copy.
    static func beginning(_ job: PartnerJob, places: [PartnerSide: FeedPlace]) -> BSONDocument {
        [
            "phase": .string(PartnerState.Phase.copying.rawValue), "text": .string(PartnerState.digest(of: job)),
            "source": .string("\(job.source)"), "target": .string("\(job.target)"), "begun": "$$NOW",
            "places": Self.places(places), "copied": 0, "carries": carried(job),
        ]
    }

    /// Returns the paths of ``PartnerJob/places``, in the form that the partner's record stores.
    ///
    /// A check of changes of the original collection's schema reads these paths, to find out which of the changes the
    /// partner's job carries over.
    static func carried(_ job: PartnerJob) -> BSONValue {
        ["$literal": .array(of: job.places.sorted().map { .string($0) })]
    }

    /// Returns the update of the partner's record after a chunk is copied; `last` is the `_id` of the chunk's last
    /// original.
    static func copied(_ count: Int, to last: BSONValue) -> BSONDocument {
        ["last": ["$literal": ["v": last]], "copied": .integer(count)]
    }

    /// Returns the update of the partner's record after all originals are copied.
    ///
    /// The mirror follows the changes of the original collection from the beginning of the copy on, but the changes of
    /// the partner only from `time` on, which is the end of the copy. Earlier changes of the partner are the inserts of
    /// the copy itself. The mirror must not carry these inserts over, because the originals may have changed since.
    static func allCopied(at time: ClusterTime) -> BSONDocument {
        let changes: BSONDocument = ["phase": .string(PartnerState.Phase.copied.rawValue), "last": "$$REMOVE"]
        guard time.rawValue > 0 else { return changes }
        let place = FeedPlace.at(time).document
        return changes.appending("places.\(PartnerSide.target.rawValue)", ["$literal": .object(place)])
    }

    /// Returns the update that records the mirrors' sessions.
    ///
    /// A mirror makes this update before its first write in a new session.
    static func writing(in sessions: OwnSessions) -> BSONDocument { ["sessions": ["$literal": sessions.value]] }

    /// Returns the update that saves the mirror's counts and its positions in the change streams.
    static func mirrored(
        to places: [PartnerSide: FeedPlace], times: [PartnerSide: ClusterTime], clients: [PartnerSide: ClusterTime],
        sessions: OwnSessions, counts: BSONDocument
    ) -> BSONDocument {
        let stamps = BSONDocument(times.map { ($0.key.rawValue, .timestamp($0.value.rawValue)) })
        let changes: BSONDocument = [
            "places": Self.places(places),
            "mirror": ["$mergeObjects": [["$literal": .object(counts)], ["at": "$$NOW"]]],
            "times": ["$literal": .object(stamps)], "sessions": ["$literal": sessions.value],
        ]
        return clients.reduce(changes) { changes, seen in
            changes.appending(
                "clients.\(seen.key.rawValue)",
                ["$literal": .date(milliseconds: Int64(seen.value.seconds) * 1_000)])
        }
    }

    private static func places(_ places: [PartnerSide: FeedPlace]) -> BSONValue {
        ["$literal": .object(BSONDocument(places.map { ($0.key.rawValue, .object($0.value.document)) }))]
    }
}
