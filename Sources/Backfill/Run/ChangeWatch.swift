import BSON
import Jobs
import Mongo
import Scanning
import Steps

/// Follows the changes of a collection, so that a run need not read the whole collection again at its end.
///
/// The watch is for jobs whose steps find something in few documents. The run notes these findings while it reads the
/// collection, and the watch knows which documents changed after that. At its end, the run therefore reads only the
/// changed documents to count those that still need the job.
struct ChangeWatch: Sendable {
    private let job: CompiledJob
    private let tracker: ChangeTracker
    private let place = FindingNotes.Place()
    /// The largest number of documents with findings that the run notes; above it, reading the whole collection is
    /// cheaper.
    private let maximum: Int
    /// A filter that matches every document in which a step finds something.
    let relevance: BSONDocument
    private var written: Set<DocumentKey> = []

    /// Prepares to follow the changes after the cluster time `start`; ``open()`` opens the change stream.
    /// - Parameter documents: the number of documents in the collection.
    /// - Returns: `nil` if the server has no change streams, or if no simple filter finds the documents in which steps
    ///   find something.
    init?(
        _ job: CompiledJob, since start: ClusterTime, documents: Int, on pool: ClientPool,
        isStopped: @escaping @Sendable () -> Bool
    ) {
        guard start.rawValue > 0, let relevance = job.steps.quickRelevance else { return nil }
        (self.job, self.relevance) = (job, relevance)
        maximum = min(documents / Survey.share, ChangedIDs.maximumCount)
        tracker = ChangeTracker(job.job.namespace, from: start, for: "backfill", on: pool, isStopped: isStopped)
    }

    /// Opens the change stream.
    /// - Returns: whether the server returns the changes.
    func open() -> Bool {
        do throws(ChangesUnknown) { try tracker.open() } catch { return false }
        return true
    }

    /// The cluster time after which the watch knows all changes.
    var start: ClusterTime { tracker.start }

    /// Whether the survey will have to read the whole collection.
    var isGivenUp: Bool { place.isGivenUp || tracker.changed.isIncomplete }

    /// Records that the run does not note findings, so that its end has to read the whole collection.
    func giveUp() { place.giveUp() }

    /// Returns an object in which a thread that reads the whole collection notes the findings of the steps; `nil` if
    /// the client cannot evaluate the steps.
    func notes(by evaluator: PhaseEvaluator) -> FindingNotes? {
        FindingNotes(for: job, by: evaluator, maximum: maximum, in: place)
    }

    /// Records that the run's only write to each of these documents has changed it.
    mutating func note(written ids: [BSONValue]) throws(BSONError) {
        for id in ids {
            if let key = try DocumentKey(of: BSONDocument([("_id", id)]).view) { written.insert(key) }
        }
    }

    /// Reads the documents that changed up to the cluster time `now`, and counts all other documents by their noted
    /// findings.
    /// - Returns: the counts, and the `_id`s of the read documents that need the job; `nil` if the whole collection has
    ///   to be read, because the findings or the changes are not known.
    func survey(
        with survey: Survey, at now: ClusterTime
    ) throws -> (result: Survey.Result, needing: [BSONValue])? {
        guard let noted = place.findings, !isGivenUp else { return nil }
        do throws(ChangesUnknown) { try tracker.wait(until: now) } catch { return nil }
        let changed = tracker.changed
        guard !changed.isIncomplete else { return nil }
        return try survey.run(noted: noted, changed: changed, written: written, at: now)
    }

    func close() { tracker.close() }
}
