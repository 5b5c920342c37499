package import BSON
package import Jobs
import Mongo

/// What steps of any mixture make of documents: the server's steps run on the server, the client's here, in their order,
/// batch by batch; nothing is written.
///
/// The steps run twice, one round after the other: what a document needs in the second tells whether it would need the
/// job again after it.
package struct Evaluation: ~Copyable {
    /// What a step finds in a document when it comes to it.
    package enum Finding: Hashable {
        /// The document is changed.
        case needed
        /// It is left alone, for this reason.
        case leftAlone(CompiledStep.Reason)
        /// The step has nothing to do with it.
        case nothing
    }

    /// One document.
    package struct Outcome {
        /// The document as it is.
        package var before: BSONDocument
        /// The document as it would be.
        package var after: BSONDocument
        /// What each step finds, in the first round and in the second; empty for a document that needs no step, which
        /// none of them changes.
        package var findings: [Finding]
        /// The documents of other collections that have to be there first.
        package var created: [ClientCreation] = []

        /// Whether a step changes it.
        package var isChanged: Bool { findings.prefix(findings.count / 2).contains(.needed) }
        /// Whether a step would change it again.
        package var isOpen: Bool { findings.suffix(findings.count / 2).contains(.needed) }
    }

    private static let batchCount = 500
    private static let batchSize = 4 << 20

    private let program: StepProgram
    private let context: ClientContext
    private var cursor: Cursor
    private var batch: [Outcome] = []
    private var isOver = false

    /// - Parameters:
    ///   - onlyNeeding: whether documents that no step concerns are left out.
    ///   - condition: what else the documents have to be like; `nil` for all.
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

    /// The next document; `nil` at the end.
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
                // What is compared with on writing has to be what the outcome was made from.
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
