import BSON
import Evaluating
import JobState
import Jobs
import Mongo
import Scanning
import Steps

/// Reads whole documents, and finds in the client which of them need a phase and what the journal has to hold of them:
/// at the speed of a check, while the server writes.
///
/// The server is asked about documents that the client cannot evaluate.
struct DueReading: ~Copyable {
    private let finder: DueFinder
    private let collection: MongoCollection
    private let collectionUUID: BSONValue?
    private var cursor: Cursor
    private var isOver = false
    /// Documents that the server is asked about next.
    private var unknown: [BSONValue] = []
    private var asked: TouchedFields?

    /// How many documents the server is asked about at once.
    private static let mostUnknown = 1_000
    /// The number of documents that are tried before the client evaluates all.
    private static let sample = 200

    /// - Returns: `nil` if the server has to find the documents: only some are wanted, a collation compares strings,
    ///   the server is far away, or the client cannot evaluate the phase for most documents.
    init?(
        _ scope: ReadScope, of phase: Phase, _ detail: DueCursor.Detail, in collection: MongoCollection,
        collectionUUID: BSONValue?, evidence: DocumentEvidence
    ) throws(MongoError) {
        guard scope.isWhole, let evaluator = PhaseEvaluator(phase), try collection.isNear, try !collection.hasCollation
        else { return nil }
        let filter = scope.filter(quick: phase.quickNeed)
        let few = scope.options("find", ["limit": .integer(Self.sample)])
        guard try evaluator.evaluatesMost(of: collection.find(filter, options: few)) else { return nil }
        finder = DueFinder(phase: phase, evaluator: evaluator, detail: detail, evidence: evidence)
        (self.collection, self.collectionUUID) = (collection, collectionUUID)
        cursor = collection.find(
            filter, options: scope.options("find", collectionUUID.map { ["collectionUUID": $0] } ?? [:]))
    }

    /// Returns the next document that needs the phase; `nil` at the end.
    mutating func next() throws -> DueDocument? {
        let finder = finder
        while true {
            if let document = try asked?.next() { return document }
            asked = nil
            if isOver || unknown.count >= Self.mostUnknown {
                guard let ids = unknown.commandSlices().first else { return nil }
                unknown.removeFirst(ids.count)
                asked = TouchedFields(
                    .ids(ids), of: finder.phase, in: collection, collectionUUID: collectionUUID,
                    evidence: finder.evidence)
                continue
            }
            guard let view = try cursor.next() else {
                isOver = true
                continue
            }
            do throws(NotEvaluated) {
                if let document = try finder.due(view) { return document }
            } catch {
                guard let element = try view.find("_id") else { continue }
                let id = try view.value(element)
                // The write checks whether the document needs the phase.
                if finder.detail == .id { return DueDocument(id: id) }
                unknown.append(id)
            }
        }
    }
}

/// Evaluates a phase on whole documents.
private struct DueFinder {
    let phase: Phase
    let evaluator: PhaseEvaluator
    let detail: DueCursor.Detail
    let evidence: DocumentEvidence

    /// Returns a document that needs the phase, with its change if the journal has to hold it; `nil` if it does not
    /// need the phase.
    func due(_ view: borrowing BSONView) throws(NotEvaluated) -> DueDocument? {
        let after: BSONDocument?
        if detail == .id {
            guard try evaluator.isNeeded(by: view) else { return nil }
            after = nil
        } else {
            guard let change = try evaluator.change(of: view) else { return nil }
            after = change.after
        }
        do throws(BSONError) {
            guard let element = try view.find("_id") else { return nil }
            var document = DueDocument(id: try view.value(element))
            guard let after else { return document }
            let others = try view.fields(evidence.names)
            document.change = DueDocument.Change(
                before: try view.shown(phase.touched), after: try after.view.shown(phase.touched),
                positions: phase.removesFields ? try BSONDocument(copying: view).positions(of: phase.touched) : nil,
                evidence: try evidence.digest(of: others.bytes.count > DocumentEvidence.largest ? [:] : others))
            return document
        } catch { throw NotEvaluated(.damage) }
    }
}

extension BSONView {
    /// Returns fields of the document, as the server shows them.
    /// - Throws: ``BSONError`` if the server would show them differently from how they are stored.
    fileprivate func shown(_ names: [String]) throws(BSONError) -> BSONDocument {
        for name in names {
            guard let element = try find(name), element.type == .array else { continue }
            if try document(element).hasOddKeys() { throw BSONError(.invalidLength, at: element.nameOffset) }
        }
        return try fields(names)
    }

    /// Returns those of the fields that the document has, in the given order.
    fileprivate func fields(_ names: [String]) throws(BSONError) -> BSONDocument {
        var builder = BSONBuilder()
        for name in names { if let element = try find(name) { builder.append(element, of: self) } }
        return builder.finish()
    }
}
