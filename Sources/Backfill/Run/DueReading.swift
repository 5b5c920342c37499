import BSON
import Concurrency
import Evaluating
import JobState
import Jobs
import Mongo
import Scanning
import Steps

/// Reads whole documents, and finds those that need a phase of the job.
///
/// The client evaluates which documents need the phase, and computes their changes.
///
/// The server evaluates only the documents that the client cannot evaluate, so that the server has more time for
/// writes.
struct DueReading: ~Copyable {
    private var finder: DueFinder
    private let context: ClientContext
    private let collectionUUID: BSONValue?
    private var cursor: Cursor
    private var isOver = false
    private var replies = ReplySize()
    /// The findings of the job's steps in all documents, for the survey at the end of the run; `nil` if the survey
    /// reads the documents again.
    private var notes: FindingNotes?
    /// The `_id`s of documents that the client could not evaluate; the server evaluates them next.
    private var unknown: [BSONValue] = []
    private var asked: AskedDocuments?

    /// The number of documents in ``unknown`` that is enough to let the server evaluate them before more documents are
    /// read.
    private static let maximumUnknown = 1_000

    /// Starts to read the documents of a scope.
    /// - Parameters:
    ///   - evidence: the fields of which the journal keeps a digest.
    ///   - watch: follows the changes during the run, and stores what the steps find in each document for the run's
    ///     survey; `nil` if the survey reads the documents again.
    /// - Returns: `nil` if the server has to find the documents: either the scope is only a part of the collection, or
    ///   ``PhaseEvaluator`` does not evaluate the phase.
    init?(
        _ scope: ReadScope, of phase: Phase, _ detail: DueCursor.Detail, in context: ClientContext,
        collectionUUID: BSONValue?, evidence: DocumentEvidence, watch: ChangeWatch?
    ) throws(MongoError) {
        guard scope.isWhole, let evaluator = try PhaseEvaluator(phase, for: scope, in: context.collection) else {
            return nil
        }
        finder = DueFinder(phase: phase, evaluator: evaluator, detail: detail, evidence)
        (self.context, self.collectionUUID) = (context, collectionUUID)
        notes = watch?.notes(by: evaluator)
        cursor = context.collection.find(
            scope.filter(quick: watch.map(\.relevance) ?? phase.steps.quickNeed),
            options: scope.options(
                "find", since: watch?.start, batch: ReplySize.least,
                collectionUUID.map { ["collectionUUID": $0] } ?? [:]))
    }

    mutating func next() throws -> DueDocument? {
        while true {
            if let document = try asked?.next() { return document }
            asked = nil
            if isOver || unknown.count >= Self.maximumUnknown {
                guard let ids = unknown.commandSlices().first else { return nil }
                unknown.removeFirst(ids.count)
                asked = AskedDocuments(
                    .ids(ids), of: finder.phase, finder.detail, in: context, collectionUUID: collectionUUID,
                    evidence: finder.evidence)
                continue
            }
            replies.begin(&cursor)
            guard let view = try cursor.next() else {
                isOver = true
                notes?.finish()
                continue
            }
            replies.end()
            notes?.add(view)
            do throws(NotEvaluated) {
                if let document = try finder.due(view) { return document }
            } catch {
                guard let id = try view.find("_id") else { continue }
                // Where only `_id`s are wanted, the chunk's transaction finds out whether the document needs the phase.
                if finder.detail == .id { return DueDocument(id: try view.value(id)) }
                unknown.append(try view.value(id))
            }
        }
    }
}

/// The number of documents that the server is asked to send in one reply.
///
/// If the server finds documents quickly, large replies cost less. If it searches for them, small replies let the run
/// write the first documents while the server searches for the next ones.
private struct ReplySize {
    static let least = 500
    /// The limit for quick replies: if a reply took less time for each document, the next reply has more documents.
    private static let quick = Duration.microseconds(10)

    private var size = least
    /// The number of documents of the current reply that are still to be read.
    private var left = 0
    private var asked = ContinuousClock.now
    /// How long the current reply took; `nil` before its first document.
    private var took: Duration?

    /// Call before each document is read; asks for larger replies if the last reply took little time.
    mutating func begin(_ cursor: inout Cursor) {
        if left == 0 {
            if let took, took < Self.quick * size, size < ReadScope.wholeBatch {
                size = min(size * 4, ReadScope.wholeBatch)
                cursor.setBatchSize(size)
            }
            (left, took, asked) = (size, nil, .now)
        }
        left -= 1
    }

    /// Call after each document was read.
    mutating func end() { if took == nil { took = asked.duration(to: .now) } }
}

/// Evaluates a phase of the job on whole documents.
struct DueFinder {
    let phase: Phase
    let detail: DueCursor.Detail
    /// The fields of which the journal keeps a digest.
    let evidence: DocumentEvidence
    private let evaluator: PhaseEvaluator
    private var frame: Frame
    /// The indexes of the evidence's fields in ``frame``; `nil` for a field that has to be searched in the document.
    private let places: [Int?]

    init(phase: Phase, evaluator: PhaseEvaluator, detail: DueCursor.Detail, _ evidence: DocumentEvidence?) {
        var evaluator = evaluator
        self.evidence = evidence ?? DocumentEvidence([])
        places = detail == .id ? [] : self.evidence.names.map { evaluator.locate($0) }
        (self.phase, self.evaluator, self.detail) = (phase, evaluator, detail)
        frame = evaluator.frame()
    }

    /// Returns the document if it needs the phase, and `nil` if it does not.
    mutating func due(_ view: borrowing BSONView) throws(NotEvaluated) -> DueDocument? {
        guard try evaluator.isNeeded(by: view, in: &frame) || FaultInjection.isPlanted(.noNeeds) else { return nil }
        do throws(BSONError) {
            guard let id = try view.find("_id") else { return nil }
            var document = DueDocument(id: try view.value(id))
            guard detail != .id else { return document }
            let evidence = try digest(view)
            let positions = phase.removesFields ? try BSONDocument(copying: view).positions(of: phase.touched) : nil
            let change: (before: BSONDocument, after: BSONDocument)
            do throws(NotEvaluated) {
                change =
                    detail == .touched
                    ? try evaluator.touchedChange(of: view, in: &frame)
                    : (BSONDocument(copying: view), try evaluator.change(ofNeeding: view, in: &frame).after)
            } catch { throw BSONError(.invalidLength, at: 0) }
            document.change = DueDocument.Change(
                before: change.before, after: change.after, positions: positions, evidence: evidence)
            return document
        } catch { throw NotEvaluated(.damage) }
    }

    private func digest(_ view: borrowing BSONView) throws(BSONError) -> [UInt8] {
        var digest = DocumentEvidence.Digest(of: places.count)
        for (name, place) in zip(evidence.names, places) {
            let element = if let place { frame.fields[place] } else { try view.find(name) }
            digest.add(element, of: view)
        }
        return digest.finish(largest: DocumentEvidence.largest)
    }
}
