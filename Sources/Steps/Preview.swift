package import BSON
package import Jobs
import Mongo

/// Evaluates a phase of a job without writing, and returns each document before and after the phase.
///
/// The server evaluates server-side steps, and ``Evaluation`` a client-side step.
package struct Preview: ~Copyable {
    /// A document before and after the phase.
    package struct Outcome {
        /// The document before the phase; `nil` if the document does not need the phase.
        package var before: BSONDocument?
        package var change: Change

        package var after: BSONDocument { change.after }
    }

    /// The change of a document by the phase.
    package struct Change {
        package var after: BSONDocument
        /// Whether the document would need the phase again after the phase has changed it.
        package var isOpen: Bool
        /// The number of ``Phase/parts`` that change the document.
        package var parts: Int
        /// The documents that have to exist in other collections before this document is written.
        package var created: [ClientCreation] = []
    }

    private let phase: Phase
    private let onlyNeeding: Bool
    // Exactly one of the following two is set.
    private var asked: ServerPreview?
    private var evaluation: Evaluation?

    /// Starts to read the documents of a scope, and to evaluate the phase on them.
    /// - Parameter onlyNeeding: whether to leave out documents that do not need the phase.
    package init(_ scope: ReadScope, through phase: Phase, in context: ClientContext, onlyNeeding: Bool) {
        (self.phase, self.onlyNeeding) = (phase, onlyNeeding)
        if phase.isServerSide {
            asked = ServerPreview(scope, through: phase, in: context.collection, onlyNeeding: onlyNeeding)
        } else {
            evaluation = Evaluation(
                scope, through: phase.steps, in: context, onlyNeeding: onlyNeeding, where: phase.isThrough)
        }
    }

    /// Returns the outcome for the next document; `nil` after the last document.
    package mutating func next() throws -> Outcome? {
        if let outcome = try asked?.next() { return outcome }
        while let outcome = try evaluation?.next() {
            guard outcome.isChanged || !onlyNeeding else { continue }
            let parts = phase.parts.count {
                !outcome.findings.isEmpty && outcome.findings[$0].contains(.needed)
            }
            let change = Change(
                after: outcome.after, isOpen: outcome.isOpen, parts: parts, created: outcome.created)
            return Outcome(before: outcome.isChanged ? outcome.before : nil, change: change)
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
