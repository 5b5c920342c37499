import BSON
import Mongo

/// Evaluates a phase: gives each document as it is and as it would be, and writes nothing.
///
/// One of the server's steps alone runs as one aggregation.
struct Preview: ~Copyable {
    /// One document.
    struct Outcome {
        /// The document as it is; `nil` when the phase does not concern it.
        var before: BSONDocument?
        /// The document as it would be.
        var after: BSONDocument
        /// Whether the phase would still be needed after it.
        var isOpen: Bool
    }

    private static let beforeMark = "__shipshape_before"
    private static let openMark = "__shipshape_open"

    private let namespace: Namespace
    private let onlyNeeding: Bool
    private var cursor: Cursor?
    /// Takes the place of the cursor where a step is the client's.
    private var evaluation: Evaluation?

    /// Previews a chunk.
    /// - Parameter onlyNeeding: whether documents that the phase does not concern are left out.
    init(_ chunk: Chunk, through phase: Phase, in context: ClientContext, onlyNeeding: Bool) {
        namespace = context.collection.namespace
        self.onlyNeeding = onlyNeeding
        guard phase.isServerSide else {
            evaluation = Evaluation(chunk, through: phase.steps, in: context, onlyNeeding: onlyNeeding)
            return
        }
        let needs = phase.needs
        var pipeline: [BSONDocument] = [["$match": .object(chunk.membership.filter)], ["$sort": ["_id": 1]]]
        if onlyNeeding { pipeline.append(["$match": .object(needs.filter)]) }
        pipeline.append(["$set": [Self.beforeMark: ["$cond": [needs.bson, "$$ROOT", "$$REMOVE"]]]])
        pipeline += phase.pipeline
        pipeline.append(["$set": [Self.openMark: ["$cond": [needs.bson, true, "$$REMOVE"]]]])
        cursor = context.collection.aggregate(
            pipeline,
            options: [
                "hint": ["_id": 1], "comment": "shipshape preview", "readConcern": ["level": "majority"],
                "allowDiskUse": true,
            ])
    }

    /// The next document in the order of `_id`; `nil` at the end of the chunk.
    mutating func next() throws -> Outcome? {
        if evaluation != nil { return try nextEvaluated() }
        do {
            guard let view = try cursor?.next() else { return nil }
            return try Self.outcome(view)
        } catch {
            guard (error as? MongoError)?.code == .documentTooLarge else { throw error }
            throw BackfillError.tooLarge(namespace)
        }
    }

    private mutating func nextEvaluated() throws -> Outcome? {
        while let outcome = try evaluation?.next() {
            guard outcome.isChanged || !onlyNeeding else { continue }
            return Outcome(
                before: outcome.isChanged ? outcome.before : nil, after: outcome.after, isOpen: outcome.isOpen)
        }
        return nil
    }

    private static func outcome(_ view: borrowing BSONView) throws -> Outcome {
        var builder = BSONBuilder()
        var before: BSONDocument?
        var isOpen = false
        var position = view.firstPosition
        while let element = try view.next(&position) {
            let name = view.nameBytes(element)
            if name.isEqual(to: beforeMark) {
                before = BSONDocument(copying: try view.document(element))
            } else if name.isEqual(to: openMark) {
                isOpen = true
            } else {
                builder.append(element, of: view)
            }
        }
        return Outcome(before: before, after: builder.finish(), isOpen: isOpen)
    }
}

extension BSONDocument {
    /// A copy of the value at a path; `nil` when there is none.
    ///
    /// Of a path into elements, the whole list or dictionary.
    func value(at path: FieldPath) throws(BSONError) -> BSONValue? {
        guard case .found(let element, let place) = try path.untilElements.lookup(in: view) else { return nil }
        return try place.value(element)
    }
}

extension BackfillError {
    /// Before and after travel in one document, which the server limits to 16 MiB.
    static func tooLarge(_ namespace: Namespace) -> BackfillError {
        BackfillError(
            .schemaMismatch,
            "a document of \(namespace) of more than about 8 MB stands in the way: this version can neither preview it "
                + "nor judge its harm; find it by { $expr: { $gt: [{ $bsonSize: \"$$ROOT\" }, 8000000] } }, and change "
                + "it by hand first")
    }
}
