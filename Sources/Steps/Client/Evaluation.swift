package import BSON
package import Jobs
import Mongo

/// Evaluates server-side and client-side steps on documents, without writing.
///
/// The documents are evaluated in batches. For each batch, the steps run in the order of the job. The server runs the
/// server-side steps, and the client computes the client-side steps.
///
/// All steps run in two passes. A document that needs a step in the second pass would need a second run of the job.
package struct Evaluation: ~Copyable {
    /// The effect that a step would have on a document as it is after the earlier steps.
    package enum Finding: Hashable {
        /// The step would change the document.
        case needed
        /// The step would skip the document, for this reason.
        case skipped(CompiledStep.Reason)
        /// The step does not apply to the document, or has nothing left to do.
        case nothing
    }

    /// A document before and after the steps.
    package struct Outcome {
        /// The document before the steps.
        package var before: BSONDocument
        /// The document after the steps.
        package var after: BSONDocument
        /// The findings of all steps in the first pass, followed by their findings in the second pass.
        ///
        /// The list is empty if the document needs no step.
        package var findings: [Finding]
        /// The further reasons why steps of the first pass skip elements of the document, with the steps' indexes.
        ///
        /// A step can change some elements of a list or dictionary, and skip others for several reasons.
        package var skippedElements: [(step: Int, reason: CompiledStep.Reason)] = []
        /// The documents that have to exist in other collections before this document is written.
        package var created: [ClientCreation] = []

        /// Whether a step changes the document in the first pass.
        package var isChanged: Bool { findings.prefix(findings.count / 2).contains(.needed) }
        /// Whether a step would change the document again in the second pass.
        package var isOpen: Bool { findings.suffix(findings.count / 2).contains(.needed) }
    }

    private static let batchCount = 500
    private static let batchSize = 4 << 20

    private let program: StepProgram
    private let context: ClientContext
    private var cursor: Cursor
    private var batch: [Outcome] = []
    private var isOver = false

    /// Starts to read the documents of a scope, and to evaluate the steps on them.
    /// - Parameters:
    ///   - onlyNeeding: whether to leave out documents that need no step.
    ///   - condition: a further condition that the documents must meet; `nil` for none.
    package init(
        _ scope: ReadScope, through steps: [CompiledStep], in context: ClientContext, onlyNeeding: Bool,
        where condition: Expression? = nil
    ) {
        program = StepProgram(steps)
        self.context = context
        let needs = steps.need
        let conditions = (onlyNeeding ? [needs] : []) + (condition.map { [$0] } ?? [])
        let found = scope.stages(
            where: conditions.isEmpty ? nil : .all(conditions), quick: onlyNeeding ? steps.quickNeed : nil)
        cursor = context.collection.aggregate(
            found + [program.start(needs: needs)] + (program.runs.first?.stages ?? []),
            options: scope.options("evaluation", ["allowDiskUse": true]))
    }

    /// Returns the outcome for the next document; `nil` after the last document.
    package mutating func next() throws -> Outcome? {
        if batch.isEmpty { try fill() }
        return batch.popLast()
    }

    private static func read(_ id: BSONValue, of context: ClientContext) throws(MongoError) -> BSONDocument? {
        var cursor = context.collection.find(
            ["_id": ["$eq": id]], options: ["limit": 1, "readConcern": ["level": "majority"]])
        return try cursor.nextDocument()
    }

    private mutating func fill() throws {
        let (program, context) = (program, context)
        var documents: [StepProgram.Document] = []
        var size = 0
        while !isOver, documents.count < Self.batchCount, size < Self.batchSize {
            guard let view = try cursor.next() else {
                isOver = true
                break
            }
            size += view.end - view.start
            var document = try program.read(view)
            if document.isLarge {
                // The server does not return the original of a large document together with the result. The document is
                // therefore read again. Its outcome is computed from this copy, because the write will compare the
                // stored document with the copy.
                guard let id = document.after["_id"], let found = try Self.read(id, of: context) else { continue }
                (document.before, document.after) = (found, found)
            }
            documents.append(document)
        }
        let needing = documents.indices.filter { documents[$0].isNeeding }
        let evaluated = try program.finish(needing.map { documents[$0] }, in: context)
        for (index, document) in zip(needing, evaluated) { documents[index] = document }
        batch = documents.reversed().map(\.outcome)
    }
}
