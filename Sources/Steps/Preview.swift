package import BSON
import Evaluating
import Jobs
import Mongo

/// Evaluates a phase of a job without writing, and returns each document before and after the phase.
///
/// The client reads whole documents and evaluates server-side steps on their bytes. The server evaluates the documents
/// that the client cannot evaluate. Without a ``PhaseEvaluator``, the server runs all server-side steps.
package struct Preview: ~Copyable {
    /// A document before and after the phase.
    package struct Outcome {
        /// The document before the phase; `nil` if the document does not need the phase.
        package var before: BSONDocument?
        package var change: Change

        /// The document after the phase.
        package var after: BSONDocument { change.after }
    }

    /// The change of a document by the phase.
    package struct Change {
        /// The document after the phase.
        package var after: BSONDocument
        /// Whether the document would need the phase again after the phase has changed it.
        package var isOpen: Bool
        /// The number of ``Phase/parts`` that change the document.
        package var parts: Int
    }

    private let phase: Phase
    private let collection: MongoCollection
    private let onlyNeeding: Bool
    private let evaluator: PhaseEvaluator?
    /// The memory in which ``evaluator`` evaluates the documents.
    private var frame: Frame
    /// The whole documents that the client evaluates; `nil` after the last one, and if the client evaluates none.
    private var documents: Cursor?
    /// The `_id`s of documents that the server has to evaluate.
    private var unknown: [BSONValue] = []
    private var asked: ServerPreview?
    /// The evaluation of a phase with a client-side step; `nil` if the server runs all steps.
    ///
    /// If it is set, ``documents`` and ``unknown`` are not used.
    private var evaluation: Evaluation?

    /// The most documents that the server evaluates at once for the client.
    private static let maximumUnknown = 1_000

    /// Starts to read the documents of a scope, and to evaluate the phase on them.
    /// - Parameters:
    ///   - evaluator: the evaluator of the phase for the collection; `nil` if the server has to evaluate all documents.
    ///   - onlyNeeding: whether to leave out documents that do not need the phase; always `true` with an evaluator.
    package init(
        _ scope: ReadScope, through phase: Phase, by evaluator: PhaseEvaluator?, in context: ClientContext,
        onlyNeeding: Bool
    ) {
        precondition(onlyNeeding || evaluator == nil, "the evaluator returns only documents that need the phase")
        (self.phase, collection, self.onlyNeeding) = (phase, context.collection, onlyNeeding)
        self.evaluator = evaluator
        frame = evaluator?.frame() ?? SharedFields().frame()
        guard phase.isServerSide else {
            evaluation = Evaluation(
                scope, through: phase.steps, in: context, onlyNeeding: onlyNeeding, where: phase.isThrough)
            return
        }
        guard evaluator != nil else {
            asked = ServerPreview(scope, through: phase, in: collection, onlyNeeding: onlyNeeding)
            return
        }
        documents = collection.find(
            scope.filter(quick: phase.quickNeed), options: scope.options("preview"))
    }

    /// Returns the outcome for the next document; `nil` after the last document.
    package mutating func next() throws -> Outcome? {
        if evaluation != nil { return try nextEvaluated() }
        while true {
            if let outcome = try asked?.next() { return outcome }
            asked = nil
            if documents == nil || unknown.count >= Self.maximumUnknown {
                guard let ids = unknown.commandSlices().first else { return nil }
                unknown.removeFirst(ids.count)
                asked = ServerPreview(.ids(ids), through: phase, in: collection, onlyNeeding: onlyNeeding)
            } else if let outcome = try nextRead() {
                return outcome
            }
        }
    }

    /// Returns the next outcome that the client computes.
    ///
    /// Returns `nil` after the last document. Also returns `nil` when ``maximumUnknown`` documents wait for the server,
    /// so that the server evaluates them before the client continues.
    private mutating func nextRead() throws -> Outcome? {
        while let view = try documents?.next() {
            guard let evaluator else { return nil }
            do throws(NotEvaluated) {
                if let outcome = try evaluator.outcome(of: view, in: &frame) { return outcome }
            } catch {
                if let id = try view.find("_id") { unknown.append(try view.value(id)) }
                if unknown.count >= Self.maximumUnknown { return nil }
            }
        }
        documents = nil
        return nil
    }

    private mutating func nextEvaluated() throws -> Outcome? {
        while let outcome = try evaluation?.next() {
            guard outcome.isChanged || !onlyNeeding else { continue }
            let parts = phase.parts.count {
                !outcome.findings.isEmpty && outcome.findings[$0].contains(.needed)
            }
            return Outcome(
                before: outcome.isChanged ? outcome.before : nil,
                change: Change(after: outcome.after, isOpen: outcome.isOpen, parts: parts))
        }
        return nil
    }
}

extension BSONDocument {
    /// Returns a copy of the value at a path; `nil` if there is none.
    ///
    /// If the path leads into the elements of an array or dictionary, returns the whole array or dictionary.
    package func value(at path: FieldPath) throws(BSONError) -> BSONValue? {
        guard case .found(let element, let place) = try path.untilElements.lookup(in: view) else { return nil }
        return try place.value(element)
    }
}
