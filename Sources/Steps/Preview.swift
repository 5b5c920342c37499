package import BSON
import Jobs
import Mongo

/// Evaluates a phase without writing: returns each document as it is and as it would be.
///
/// A phase that the server alone runs is one aggregation.
package struct Preview: ~Copyable {
    /// One document.
    package struct Outcome {
        /// The document as it is; `nil` when it does not need the phase.
        package var before: BSONDocument?
        /// The document as it would be.
        package var after: BSONDocument
        /// Whether the document would still need the phase after it.
        package var isOpen: Bool
        /// The number of parts that change the document.
        package var changes: Int
    }

    private static let beforeMark = "__shipshape_before"
    private static let changesMark = "__shipshape_changes"
    private static let openMark = "__shipshape_open"
    private static let alteredMark = "__shipshape_altered"

    /// The size from which on a document is not sent together with its outcome, because both must fit into 16 MiB.
    private static let large = 8_000_000

    private let collection: MongoCollection
    private let onlyNeeding: Bool
    private let parts: [Range<Int>]
    private var cursor: Cursor?
    /// Replaces the cursor if a step is client-side.
    private var evaluation: Evaluation?

    /// Starts to read the documents of a scope.
    /// - Parameter onlyNeeding: whether to leave out documents that do not need the phase.
    package init(_ scope: ReadScope, through phase: Phase, in context: ClientContext, onlyNeeding: Bool) {
        collection = context.collection
        self.onlyNeeding = onlyNeeding
        parts = phase.parts
        guard phase.isServerSide else {
            evaluation = Evaluation(
                scope, through: phase.steps, in: context, onlyNeeding: onlyNeeding, where: phase.isThrough)
            return
        }
        let needs = phase.needs
        var pipeline = scope.stages(where: onlyNeeding ? needs : nil, quick: onlyNeeding ? phase.quickNeed : nil)
        let isLarge: BSONValue = ["$gt": [["$bsonSize": "$$ROOT"], .integer(Self.large)]]
        let before: BSONValue = ["$cond": [isLarge, true, "$$ROOT"]]
        // This is a stage of its own, because a check of the whole document has to come before the first access to a
        // field.
        pipeline.append(["$set": [Self.alteredMark: phase.steps.alteredAlthoughNeeded.bson]])
        let known = phase.knowing(AlteredDocument(knownAt: Self.alteredMark))
        pipeline.append(["$set": [Self.beforeMark: ["$cond": [known.needs.bson, before, "$$REMOVE"]]]])
        pipeline += Self.stages(of: known)
        pipeline.append(["$set": [Self.openMark: ["$cond": [known.needs.bson, true, "$$REMOVE"]]]])
        cursor = context.collection.aggregate(pipeline, options: scope.options("preview", ["allowDiskUse": true]))
    }

    /// Returns the update of each part, and before it a stage that counts whether the part changes the document.
    private static func stages(of phase: Phase) -> [BSONDocument] {
        guard phase.parts.count > 1 else { return phase.pipeline }
        return phase.parts.flatMap { part in
            let steps = phase.steps[part]
            let change: BSONValue = ["$cond": [Array(steps).need.bson, 1, 0]]
            let sum: BSONValue = ["$add": [["$ifNull": [.string("$\(changesMark)"), 0]], change]]
            return [["$set": [changesMark: sum]]] + steps.map(\.stage)
        }
    }

    /// Returns the next document; `nil` at the end.
    package mutating func next() throws -> Outcome? {
        if evaluation != nil { return try nextEvaluated() }
        guard let (found, isLarge) = try nextOutcome() else { return nil }
        var outcome = found
        if isLarge, let id = outcome.after["_id"] { outcome.before = try read(id) }
        return outcome
    }

    /// Reads a single document as it is.
    private func read(_ id: BSONValue) throws(MongoError) -> BSONDocument? {
        var cursor = collection.find(["_id": ["$eq": id]], options: ["limit": 1])
        return try cursor.nextDocument()
    }

    private mutating func nextEvaluated() throws -> Outcome? {
        while let outcome = try evaluation?.next() {
            guard outcome.isChanged || !onlyNeeding else { continue }
            return Outcome(
                before: outcome.isChanged ? outcome.before : nil, after: outcome.after, isOpen: outcome.isOpen,
                changes: parts.count { !outcome.findings.isEmpty && outcome.findings[$0].contains(.needed) })
        }
        return nil
    }

    private mutating func nextOutcome() throws -> (Outcome, isLarge: Bool)? {
        guard let view = try cursor?.next() else { return nil }
        var builder = BSONBuilder()
        var before: BSONDocument?
        var (isOpen, isLarge) = (false, false)
        var changes: Int?
        var position = view.firstPosition
        while let element = try view.next(&position) {
            let name = view.nameBytes(element)
            if name.isEqual(to: Self.beforeMark) {
                if element.type == .object {
                    before = try BSONDocument(copying: try view.document(element)).removing(Self.alteredMark)
                } else {
                    isLarge = true
                }
            } else if name.isEqual(to: Self.openMark) {
                isOpen = true
            } else if name.isEqual(to: Self.alteredMark) {
                continue
            } else if name.isEqual(to: Self.changesMark) {
                changes = try view.value(element).integer
            } else {
                builder.append(element, of: view)
            }
        }
        let outcome = Outcome(
            before: before, after: builder.finish(), isOpen: isOpen,
            changes: changes ?? (before == nil && !isLarge ? 0 : 1))
        return (outcome, isLarge)
    }
}

extension BSONDocument {
    /// Returns a copy of the value at a path; `nil` when there is none.
    ///
    /// For a path into elements, returns the whole list or dictionary.
    package func value(at path: FieldPath) throws(BSONError) -> BSONValue? {
        guard case .found(let element, let place) = try path.untilElements.lookup(in: view) else { return nil }
        return try place.value(element)
    }
}
