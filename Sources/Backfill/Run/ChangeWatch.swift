import BSON
import Jobs
import Mongo
import Scanning
import Steps

/// Follows the changes of the collection during a run of a job to which few documents are relevant.
///
/// The reader notes what the steps find in each document, and the watch knows which documents changed after that. The
/// survey at the end of the run therefore reads only the documents that changed, instead of the whole collection.
struct ChangeWatch: Sendable {
    private let job: CompiledJob
    private let tracker: ChangeTracker
    private let place = FindingNotes.Place()
    /// The most documents with findings; if there are more, reading the whole collection is cheaper.
    private let maximum: Int
    /// A filter that every document matches in which a step finds something.
    let relevance: BSONDocument
    /// The documents that the run wrote.
    private var written: Set<DocumentKey> = []

    /// Prepares to follow the changes after the cluster time `start`; ``open()`` begins.
    /// - Parameter documents: the number of documents in the collection.
    /// - Returns: `nil` if the server has no change streams, or if no simple filter finds the relevant documents.
    init?(
        _ job: CompiledJob, since start: ClusterTime, documents: Int, on pool: ClientPool,
        isStopped: @escaping @Sendable () -> Bool
    ) {
        guard start.rawValue > 0, let relevance = job.steps.quickRelevance else { return nil }
        (self.job, self.relevance) = (job, relevance)
        maximum = min(documents / Survey.share, ChangedIDs.maximumCount)
        tracker = ChangeTracker(job.job.namespace, from: start, for: "backfill", on: pool, isStopped: isStopped)
    }

    /// Starts to follow the changes.
    /// - Returns: whether the server returns them.
    func open() -> Bool {
        do throws(ChangesUnknown) { try tracker.open() } catch { return false }
        return true
    }

    /// The cluster time after which the changes are known.
    var start: ClusterTime { tracker.start }

    /// Whether the survey will have to read the whole collection.
    var isGivenUp: Bool { place.isGivenUp || tracker.changed.isIncomplete }

    /// Records that no reader notes the findings.
    func giveUp() { place.giveUp() }

    /// Returns new notes for a reader that reads the whole collection.
    func notes(by evaluator: PhaseEvaluator) -> FindingNotes {
        FindingNotes(for: job, by: evaluator, maximum: maximum, in: place)
    }

    /// Records that the run's only statement for each of these documents has changed it.
    mutating func note(written ids: [BSONValue]) throws(BSONError) {
        for id in ids {
            if let key = try DocumentKey(of: BSONDocument([("_id", id)]).view) { written.insert(key) }
        }
    }

    /// Surveys the documents that changed up to the cluster time `now`, and counts the others by the notes.
    /// - Returns: the counts, and the `_id`s of the surveyed documents that need the job; `nil` if the whole collection
    ///   has to be surveyed, because the findings or the changes are not known.
    func survey(
        with survey: Survey, at now: ClusterTime
    ) throws -> (result: Survey.Result, needing: [BSONValue])? {
        guard let noted = place.findings, !isGivenUp else { return nil }
        do throws(ChangesUnknown) { try tracker.wait(until: now) } catch { return nil }
        let changed = tracker.changed
        guard !changed.isIncomplete else { return nil }
        return try survey.run(noted: noted, changed: changed, written: written, at: now)
    }

    /// Ends the change stream.
    func close() { tracker.close() }
}
