package import BSON
package import Evaluating
import Jobs
package import Mongo

/// Evaluates a server-side phase on whole documents in the client, with the same result as the server's update.
package struct PhaseEvaluator: Sendable {
    /// The compiled steps that one update runs together.
    private struct Part: Sendable {
        let needs: CompiledExpression
        let update: CompiledUpdate
    }

    private let needs: CompiledExpression
    private let parts: [Part]
    /// The names of the top-level fields that the phase may write or remove.
    private let touched: [String]

    /// The largest size in bytes of a document that the server stores.
    private static let largest = 16 << 20
    /// The most documents with which the evaluator tests whether the client can evaluate the phase.
    private static let sample = 200

    /// Compiles a phase for the documents of a scope; returns `nil` if the server has to evaluate the documents.
    ///
    /// The server has to evaluate them if a step is client-side, if the collection has a collation, or if the server
    /// answers so slowly that reading whole documents takes too long. It also has to evaluate them if the client cannot
    /// evaluate a step's update, or if more than 20 % of the first documents cannot be evaluated by the client.
    /// - Throws: ``MongoError``.
    package init?(_ phase: Phase, for scope: ReadScope, in collection: MongoCollection) throws(MongoError) {
        guard let evaluator = PhaseEvaluator(phase), try collection.suitsEvaluationByClient else { return nil }
        let few = collection.find(
            scope.filter(quick: phase.quickNeed), options: scope.options("find", ["limit": .integer(Self.sample)]))
        guard try evaluator.evaluatesMost(of: few) else { return nil }
        self = evaluator
    }

    /// Compiles a phase; `nil` if a step is client-side, or if the client cannot evaluate the stages of an update.
    init?(_ phase: Phase) {
        guard phase.isServerSide else { return nil }
        var parts: [Part] = []
        for range in phase.parts {
            let steps = Array(phase.steps[range])
            guard let update = CompiledUpdate(steps.updateOfNeeding) else { return nil }
            parts.append(Part(needs: CompiledExpression(steps.need), update: update))
        }
        self.parts = parts
        touched = phase.touched
        needs = CompiledExpression(phase.needs)
    }

    /// Whether a document needs the phase.
    /// - Throws: ``NotEvaluated`` if the server has to evaluate the document.
    package func isNeeded(by document: borrowing BSONView) throws(NotEvaluated) -> Bool {
        try needs.holds(for: document)
    }

    /// Returns a document after the phase, and the number of ``Phase/parts`` that change it.
    ///
    /// Returns `nil` if the document does not need the phase.
    /// - Throws: ``NotEvaluated`` if the server has to evaluate the document.
    package func change(of document: borrowing BSONView) throws(NotEvaluated) -> (after: BSONDocument, parts: Int)? {
        guard try isNeeded(by: document) else { return nil }
        try checkArrays(of: document)
        var after = BSONDocument(copying: document)
        var count = 0
        for part in parts {
            // If the phase has only one part, the document needs that part, because it needs the phase.
            if parts.count > 1 { guard try part.needs.holds(for: after.view) else { continue } }
            after = try part.update.applied(to: after.view)
            guard after.bytes.count <= Self.largest else { throw NotEvaluated(.failure) }
            count += 1
        }
        try checkArrays(of: after.view)
        return (after, count)
    }

    /// Throws if the keys of an array are not 0, 1, 2 and so on, because the server may renumber such keys.
    ///
    /// The function checks arrays in the fields that the phase may write or remove, and the arrays directly inside
    /// these.
    private func checkArrays(of document: borrowing BSONView) throws(NotEvaluated) {
        do throws(BSONError) {
            for name in touched {
                guard let element = try document.find(name), element.type == .array else { continue }
                if try document.document(element).hasOddKeys() {
                    throw BSONError(.invalidLength, at: element.nameOffset)
                }
            }
        } catch { throw NotEvaluated(.damage) }
    }

    /// Whether the client can evaluate at least 80 % of the sample documents.
    ///
    /// A document that the client cannot evaluate is read again by its `_id`, and the server evaluates it. If there are
    /// many such documents, it is cheaper to let the server evaluate all documents.
    /// - Throws: ``MongoError``.
    private func evaluatesMost(of documents: consuming Cursor) throws(MongoError) -> Bool {
        var (known, unknown) = (0, 0)
        while let view = try documents.next() {
            do throws(NotEvaluated) {
                _ = try outcome(of: view)
                known += 1
            } catch { unknown += 1 }
        }
        return unknown * 4 <= known
    }

    /// Returns a document before and after the phase.
    /// - Throws: ``NotEvaluated`` if the server has to evaluate the document.
    func outcome(of document: borrowing BSONView) throws(NotEvaluated) -> Preview.Outcome {
        guard let (after, parts) = try change(of: document) else {
            return Preview.Outcome(before: nil, after: BSONDocument(copying: document), isOpen: false, changes: 0)
        }
        return Preview.Outcome(
            before: BSONDocument(copying: document), after: after, isOpen: try isNeeded(by: after.view), changes: parts)
    }
}
