package import BSON
import Evaluating
package import Mongo
package import Scanning
import Synchronization

/// The findings of a job's steps in the documents of a collection, noted when the documents were read.
///
/// Only documents in which a step finds something take memory. If few documents have findings, a survey after the job
/// can use these findings for all documents that did not change after they were read. The survey then need not read the
/// collection again.
package struct NotedFindings: Sendable {
    struct Findings: Hashable {
        /// The findings in the document as it was read.
        let now: [StepFinder.Finding]
        /// The findings in the document as the job's steps would change it.
        let written: [StepFinder.Finding]
    }

    /// The different combinations of findings that occurred in a document.
    private var kinds: [Findings] = []
    /// The index in ``kinds`` of the findings in each document that has any.
    private var kindOf: [DocumentKey: Int] = [:]
    /// A few of the documents in which a step has the finding; only for findings that make a step skip a document.
    private var samples: [StepFinder.Finding: [(key: DocumentKey, id: BSONValue)]] = [:]
    private let nothing: StepFinder.Found

    fileprivate init(found nothing: StepFinder.Found) { self.nothing = nothing }

    var count: Int { kindOf.count }

    mutating func add(_ findings: Findings, in document: borrowing BSONView) throws(BSONError) {
        guard !findings.now.isEmpty, let key = try DocumentKey(of: document), let id = try document.find("_id") else {
            return
        }
        let index = kinds.firstIndex(of: findings) ?? kinds.count
        if index == kinds.count { kinds.append(findings) }
        kindOf[key] = index
        for finding in findings.now
        where !finding.isNeed && samples[finding, default: []].count < Survey.samples {
            samples[finding, default: []].append((key, try document.value(id)))
        }
    }

    /// Returns the counts of the noted findings.
    /// - Parameters:
    ///   - changed: the documents to leave out: they changed after they were read, and another survey counts them.
    ///   - written: the documents that only the job changed after they were read; they count with their findings after
    ///     the job's change.
    fileprivate func found(
        without changed: Set<DocumentKey>, written: Set<DocumentKey>
    ) -> StepFinder.Found {
        var found = nothing
        var counts = Array(repeating: (now: 0, written: 0), count: kinds.count)
        for (key, index) in kindOf where !changed.contains(key) {
            if written.contains(key) { counts[index].written += 1 } else { counts[index].now += 1 }
        }
        for (findings, count) in zip(kinds, counts) {
            found.add(findings.now, count: count.now)
            found.add(findings.written, count: count.written)
        }
        for (finding, samples) in samples {
            found.samples[finding] = samples.filter { !changed.contains($0.key) && !written.contains($0.key) }.map(
                \.id)
        }
        return found
    }
}

/// Notes the findings of a job's steps while a reader reads the documents.
package struct FindingNotes {
    /// The place in which a reader leaves the findings when it has read all documents.
    package final class Place: Sendable {
        private let state = Mutex<(findings: NotedFindings?, isGivenUp: Bool)>((nil, false))

        package init() {}

        /// The findings; `nil` until a reader has read all documents, or if it could not note the findings of every
        /// document.
        package var findings: NotedFindings? { state.withLock(\.findings) }

        /// Whether a reader could not note the findings, so that there will be none.
        package var isGivenUp: Bool { state.withLock(\.isGivenUp) }

        /// Records that there will be no findings.
        package func giveUp() { state.withLock { $0 = (nil, true) } }

        fileprivate func leave(_ findings: NotedFindings) {
            state.withLock { if !$0.isGivenUp { $0.findings = findings } }
        }
    }

    private let finder: StepFinder
    private var frame: Frame
    private let evaluator: PhaseEvaluator
    private var evaluating: Frame
    /// The findings that were noted so far; `nil` once the notes are given up.
    ///
    /// They are given up after a document that the client could not evaluate, and if too many documents have findings.
    private var noted: NotedFindings?
    private let maximum: Int
    private let place: Place

    /// - Parameters:
    ///   - evaluator: the evaluator of the job's only phase.
    ///   - maximum: the number of documents with findings above which the findings of all documents are given up.
    /// - Returns: `nil` if the client cannot evaluate the steps; then `place` gets no findings.
    package init?(for job: CompiledJob, by evaluator: PhaseEvaluator, maximum: Int, in place: Place) {
        guard let finder = job.finder else {
            place.giveUp()
            return nil
        }
        (self.finder, self.evaluator) = (finder, evaluator)
        (frame, evaluating) = (finder.frame(), evaluator.frame())
        noted = NotedFindings(found: finder.nothing)
        (self.maximum, self.place) = (maximum, place)
    }

    package mutating func add(_ document: borrowing BSONView) {
        guard let count = noted?.count else { return }
        if count >= maximum || !isNoted(document) {
            noted = nil
            place.giveUp()
        }
    }

    /// Notes the findings in a document; returns `false` if the client could not evaluate it.
    private mutating func isNoted(_ document: borrowing BSONView) -> Bool {
        guard let now = try? finder.findings(in: document, &frame) else { return false }
        guard !now.isEmpty else { return true }
        guard let written = now.contains(where: \.isNeed) ? written(document) : now else { return false }
        return (try? noted?.add(NotedFindings.Findings(now: now, written: written), in: document)) != nil
    }

    /// Returns the findings in a document as the job's steps would change it; `nil` if the client cannot evaluate it.
    private mutating func written(_ document: borrowing BSONView) -> [StepFinder.Finding]? {
        guard let after = try? evaluator.outcome(of: document, in: &evaluating)?.after else { return nil }
        return try? finder.findings(in: after.view, &frame)
    }

    /// Leaves the findings in the place, after the last document.
    package func finish() { if let noted { place.leave(noted) } }
}

extension Survey {
    /// Whether few documents meet the survey's cheap condition, which holds for all that a step changes or skips.
    ///
    /// If so, ``FindingNotes`` can replace a later survey of the whole collection. The function counts the documents
    /// that meet the condition among the first documents of the collection.
    /// - Parameters:
    ///   - documents: the number of documents in the collection.
    ///   - size: the average size of a document in bytes.
    package func isSparse(among documents: Int, size: Int?) throws(MongoError) -> Bool {
        guard case .collection = scope, finder != nil, let quick, try collection.suitsEvaluationByClient else {
            return false
        }
        let count = max(1, min(documents, Self.first.documents, Self.first.bytes / max(1, size ?? 1_000)))
        let first: [BSONDocument] = [
            ["$limit": .integer(count)], ["$match": .object(quick)], ["$count": "n"],
        ]
        var cursor = collection.aggregate(first, options: Self.options)
        let isInMemory = documents * (size ?? 1_000) < Self.inMemory
        return (try cursor.nextDocument()?["n"]?.integer ?? 0) <= count / (isInMemory ? Self.shareInMemory : Self.share)
    }

    /// The number of documents of which at most one on average may meet the survey's cheap condition, to count as few.
    package static let share = 40
    /// The same number for a collection that the server probably has in memory.
    ///
    /// The server scans such a collection about as fast as the change stream returns the changes of one document in 50,
    /// so the stream pays only if the job changes far fewer documents.
    private static let shareInMemory = 200
    /// The size in bytes below which a collection is probably in the server's memory.
    private static let inMemory = 1 << 30
    /// The most documents and bytes, at the start of the collection, among which ``isSparse(among:size:)`` counts.
    private static let first = (documents: 5_000, bytes: 32 << 20)

    /// Counts the documents by their noted findings, and surveys only the documents that changed after they were read.
    ///
    /// - Parameters:
    ///   - changed: the documents that changed after the first findings were noted.
    ///   - written: documents that the job wrote once.
    ///   - time: the cluster time up to which `changed` has all changes.
    /// - Returns: the counts, and the `_id`s of the surveyed documents that need the job.
    package func run(
        noted: NotedFindings, changed: ChangedIDs, written: Set<DocumentKey>, at time: ClusterTime
    ) throws -> (result: Result, needing: [BSONValue]) {
        let written = written.filter { changed.hasChangedOnce($0) }
        var others: (keys: Set<DocumentKey>, ids: [BSONValue]) = ([], [])
        for (key, id) in changed.pairs where !written.contains(key) {
            others.keys.insert(key)
            others.ids.append(id)
        }
        let found = noted.found(without: others.keys, written: written)
        var survey = self
        survey.start = time
        let slices = others.ids.commandSlices(count: 1_000)
        let now = try slices.isEmpty ? [] : [survey.run(over: slices)]
        let needing = now.allSatisfy { $0.needing == 0 } ? [] : try slices.flatMap { try survey.inNeed(among: $0) }
        return (try counted(Result.sum([try result(found)] + now)), needing)
    }

    private func inNeed(among ids: [BSONValue]) throws -> [BSONValue] {
        let scope = ReadScope.ids(ids)
        var cursor = collection.aggregate(
            scope.stages(where: job.whole.needs) + [["$project": ["_id": 1]]],
            options: scope.options("survey", since: start))
        var found: [BSONValue] = []
        while let document = try cursor.nextDocument() { found += document["_id"].map { [$0] } ?? [] }
        return found
    }
}
