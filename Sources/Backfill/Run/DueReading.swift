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
    private var untold: [BSONValue] = []
    private var asked: TouchedFields?

    /// How many documents the server is asked about at once.
    private static let mostUntold = 1_000

    /// - Returns: `nil` if the server has to find the documents: only some are wanted, a collation compares strings,
    ///   the server is far away, or the client cannot evaluate the phase for most documents.
    init?(
        _ scope: ReadScope, of phase: Phase, in collection: MongoCollection, collectionUUID: BSONValue?,
        evidence: DocumentEvidence
    ) throws(MongoError) {
        guard scope.isWhole, let finder = DueFinder(phase, evidence), try collection.isNear,
            try !collection.hasCollation
        else { return nil }
        let filter = scope.filter(quick: phase.quickNeed)
        guard try finder.tellsMost(of: collection.find(filter, options: scope.options("find", ["limit": 200]))) else {
            return nil
        }
        (self.finder, self.collection, self.collectionUUID) = (finder, collection, collectionUUID)
        cursor = collection.find(
            filter, options: scope.options("find", collectionUUID.map { ["collectionUUID": $0] } ?? [:]))
    }

    /// Returns the next document that needs the phase; `nil` at the end.
    mutating func next() throws -> DueDocument? {
        let finder = finder
        while true {
            if let document = try asked?.next() { return document }
            asked = nil
            if isOver || untold.count >= Self.mostUntold {
                guard let ids = untold.commandSlices().first else { return nil }
                untold.removeFirst(ids.count)
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
                if let id = try view.find("_id") { untold.append(try view.value(id)) }
            }
        }
    }
}

/// Evaluates a phase on whole documents.
private struct DueFinder {
    let phase: Phase
    let evidence: DocumentEvidence
    private let needs: CompiledExpression
    private let update: CompiledUpdate

    /// - Returns: `nil` if the client cannot evaluate the phase.
    init?(_ phase: Phase, _ evidence: DocumentEvidence) {
        guard phase.isServerSide, let update = CompiledUpdate(phase.neededPipeline) else { return nil }
        (self.phase, self.evidence, self.update) = (phase, evidence, update)
        needs = CompiledExpression(phase.needs)
    }

    /// Whether the client can evaluate at least four of five of these documents: to ask the server about each by its
    /// `_id` costs more than to have it find them.
    func tellsMost(of documents: consuming Cursor) throws(MongoError) -> Bool {
        var (told, untold) = (0, 0)
        while let view = try documents.next() {
            do throws(NotEvaluated) {
                _ = try due(view)
                told += 1
            } catch { untold += 1 }
        }
        return untold * 4 <= told
    }

    /// Returns the document with the phase's change; `nil` if it does not need the phase.
    func due(_ view: borrowing BSONView) throws(NotEvaluated) -> DueDocument? {
        guard try needs.holds(for: view) else { return nil }
        let after = try update.applied(to: view)
        do throws(BSONError) {
            guard let id = try view.find("_id") else { return nil }
            let others = try view.fields(evidence.names)
            return DueDocument(
                id: try view.value(id),
                change: DueDocument.Change(
                    before: try view.shown(phase.touched), after: try after.view.shown(phase.touched),
                    positions: phase.removesFields ? try BSONDocument(copying: view).positions(of: phase.touched) : nil,
                    evidence: try evidence.digest(of: others.bytes.count > DocumentEvidence.largest ? [:] : others)))
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
