package import BSON
package import Jobs
package import Mongo

/// Runs a job's steps once, in their order, on documents that the caller supplies; nothing is written.
///
/// The server runs the server-side steps, so that the values are the same as in a backfill.
package struct StepTransformation: Sendable {
    package struct Outcome: Sendable {
        /// The document after the last step.
        package var document: BSONDocument
        /// The reason why a step skipped the document, if the operator has to act on it; `nil` otherwise.
        package var trouble: CompiledStep.Reason?
    }

    private let program: StepProgram?
    private let job: CompiledJob

    package init(_ job: CompiledJob) {
        program = job.steps.isEmpty ? nil : StepProgram(job.steps, rounds: 1)
        stages = job.isServerSide ? job.steps.map(\.stage) : nil
        markedStages = job.isServerSide ? job.steps.flatMap { [$0.troubleMark, $0.stage] } : nil
        self.job = job
    }

    /// Throws if a step cannot run, for instance because its lookup collection does not exist.
    /// - Throws: ``RunError``; ``MongoError``.
    package func check(by collection: MongoCollection) throws { _ = try job.prepared(on: collection) }

    /// The aggregation stages that run the steps on the documents of a collection; `nil` if a step is client-side.
    package let stages: [BSONDocument]?

    /// The pipeline ``stages`` with further stages, which set the field ``mark``; `nil` if a step is client-side.
    ///
    /// The field stores whether a step skips the document for a reason on which the operator has to act.
    package let markedStages: [BSONDocument]?

    /// The name of the field that ``markedStages`` set.
    ///
    /// The value is `true` if a step skips the document for a reason on which the operator has to act, otherwise
    /// `false`. The field is missing if the job has no steps.
    package static let mark = "__shipshape"

    /// Returns the outcome for each of the documents, in their order.
    /// - Parameter collection: any collection. The server runs the steps on the connection of this collection.
    /// - Throws: ``MongoError``; an error for a damaged document.
    package func outcomes(of documents: [BSONDocument], by collection: MongoCollection) throws -> [Outcome] {
        guard let program else { return documents.map { Outcome(document: $0) } }
        let context = ClientContext(job: job.job.name, collection: collection, links: [:])
        return try program.finish(documents.map(program.unread), in: context).map { document in
            let troubles = document.findings.compactMap { finding -> CompiledStep.Reason? in
                if case .skipped(let reason) = finding, reason.isTrouble { reason } else { nil }
            }
            return Outcome(document: document.after, trouble: troubles.first)
        }
    }
}

extension CompiledStep {
    /// The stage that stores whether this step, or an earlier one, skips the document for a reason on which the
    /// operator has to act.
    fileprivate var troubleMark: BSONDocument {
        let codes = reasons.indices.filter { reasons[$0].reason.isTrouble }.map { BSONValue.integer($0 + 2) }
        let isTrouble: BSONValue = ["$in": [finding.bson, ["$literal": .array(of: codes)]]]
        let mark = StepTransformation.mark
        let wasOrIs: BSONValue = ["$or": [["$ifNull": [.string("$\(mark)"), false]], isTrouble]]
        return ["$set": .object(BSONDocument([(mark, wasOrIs)]))]
    }
}
