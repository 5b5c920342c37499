package import BSON
import Evaluating
package import Mongo
package import Scanning
import Synchronization

/// The findings of a job's steps in the documents of a collection, as they were read.
///
/// Only documents in which a step finds something take memory. If they are few, a survey after the job can use these
/// findings for all documents that did not change since, and need not read the collection again.
package struct NotedFindings: Sendable {
    /// The different lists of findings.
    private var lists: [[StepFinder.Finding]] = []
    /// The index in ``lists`` of the findings in each document that has any.
    private var listOf: [DocumentKey: Int] = [:]
    /// A few documents for each reason to skip them.
    private var samples: [StepFinder.Finding: [(key: DocumentKey, id: BSONValue)]] = [:]

    /// The number of documents with findings.
    var count: Int { listOf.count }

    mutating func add(_ findings: [StepFinder.Finding], in document: borrowing BSONView) throws(BSONError) {
        guard !findings.isEmpty, let key = try DocumentKey(of: document), let id = try document.find("_id") else {
            return
        }
        let index = lists.firstIndex(of: findings) ?? lists.count
        if index == lists.count { lists.append(findings) }
        listOf[key] = index
        for finding in findings
        where !finding.isNeed && samples[finding, default: []].count < Survey.samples {
            samples[finding, default: []].append((key, try document.value(id)))
        }
    }

    /// Adds the findings to `found`.
    /// - Parameters:
    ///   - changed: documents that changed after they were read, and that another survey counts; they are left out.
    ///   - written: documents whose only change since is the write of the steps that they needed; they need no step
    ///     any more, and are still skipped by other steps.
    fileprivate func add(
        to found: inout StepFinder.Found, without changed: Set<DocumentKey>, written: Set<DocumentKey>
    ) {
        var counts = Array(repeating: (same: 0, written: 0), count: lists.count)
        for (key, index) in listOf where !changed.contains(key) {
            if written.contains(key) { counts[index].written += 1 } else { counts[index].same += 1 }
        }
        for (findings, count) in zip(lists, counts) {
            found.add(findings, count: count.same)
            found.add(findings.filter { !$0.isNeed }, count: count.written)
        }
        for (finding, samples) in samples {
            found.samples[finding] = samples.filter { !changed.contains($0.key) }.map(\.id)
        }
    }
}

/// Notes the findings of a job's steps while a reader reads the documents.
package struct FindingNotes {
    /// The place in which a reader leaves the findings when it has read all documents.
    package final class Place: Sendable {
        private let noted = Mutex<NotedFindings?>(nil)

        package init() {}

        /// The findings; `nil` until a reader has read all documents, and if it could not note the findings of each.
        package fileprivate(set) var findings: NotedFindings? {
            get { noted.withLock(\.self) }
            set { noted.withLock { $0 = newValue } }
        }
    }

    private let finder: StepFinder
    private var frame: Frame
    /// `nil` after a document that the client could not evaluate, and if too many documents have findings.
    private var noted: NotedFindings? = NotedFindings()
    private let maximum: Int
    private let place: Place

    /// - Parameter maximum: the most documents with findings; if there are more, none are noted.
    package init(for job: CompiledJob, maximum: Int, in place: Place) {
        finder = StepFinder(job.steps)
        frame = finder.frame()
        (self.maximum, self.place) = (maximum, place)
    }

    /// Notes the findings of the steps in a document.
    package mutating func add(_ document: borrowing BSONView) {
        guard noted != nil else { return }
        do {
            try noted?.add(finder.findings(in: document, &frame), in: document)
            if let count = noted?.count, count > maximum { noted = nil }
        } catch { noted = nil }
    }

    /// Leaves the findings in the place, after the last document.
    package func finish() { place.findings = noted }
}

extension Survey {
    /// Whether few documents are relevant to the job, so that ``FindingNotes`` can replace a later survey of the whole
    /// collection.
    ///
    /// The function counts the relevant documents among the first ones of the collection.
    /// - Parameter documents: the number of documents in the collection.
    package func isSparse(among documents: Int) throws(MongoError) -> Bool {
        guard case .collection = scope, evaluatesAtOnce, let quick, try collection.suitsEvaluationByClient else {
            return false
        }
        let first: [BSONDocument] = [
            ["$limit": .integer(Self.first)], ["$match": .object(quick)], ["$count": "n"],
        ]
        var cursor = collection.aggregate(first, options: Self.options)
        return (try cursor.nextDocument()?["n"]?.integer ?? 0) <= min(documents, Self.first) / Self.share
    }

    /// Documents are few if at most one of this many documents is relevant.
    package static let share = 40
    private static let first = 5_000

    /// Counts the documents of the collection by the findings that were noted in them, and surveys only those that
    /// changed since they were read.
    /// - Parameters:
    ///   - changed: the documents that changed after the notes began.
    ///   - written: documents that the job wrote once.
    ///   - time: the cluster time up to which `changed` has all changes.
    /// - Returns: the counts, and the `_id`s of the documents that were surveyed.
    package func run(
        noted: NotedFindings, changed: ChangedIDs, written: Set<DocumentKey>, at time: ClusterTime
    ) throws -> (result: Result, surveyed: [BSONValue]) {
        let written = written.filter { changed.hasChangedOnce($0) }
        var others: (keys: Set<DocumentKey>, ids: [BSONValue]) = ([], [])
        for (key, id) in changed.pairs where !written.contains(key) {
            others.keys.insert(key)
            others.ids.append(id)
        }
        var found = StepFinder(job.steps).nothing
        noted.add(to: &found, without: others.keys, written: written)
        var survey = self
        survey.start = time
        let now = try others.ids.isEmpty ? [] : [survey.run(over: others.ids.commandSlices(count: 1_000))]
        return (try counted(Result.sum([try result(found)] + now)), others.ids)
    }
}
