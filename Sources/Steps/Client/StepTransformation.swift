package import BSON
package import Jobs
package import Mongo

/// What a job's steps make of documents that are at hand, once and in their order; nothing is written.
///
/// The server computes it, so that a value becomes the same here as in a backfill.
package struct StepTransformation: Sendable {
    /// What became of a document.
    package struct Outcome: Sendable {
        /// The document behind the last step.
        package var document: BSONDocument
        /// Why a step that is about the document left it alone; `nil` where all could do what they say.
        package var trouble: CompiledStep.Reason?
    }

    private let program: StepProgram?
    private let job: CompiledJob

    /// Takes the steps of a job.
    package init(_ job: CompiledJob) {
        program = job.steps.isEmpty ? nil : StepProgram(job.steps, rounds: 1)
        stages = job.isServerSide ? job.steps.map(\.stage) : nil
        markedStages = job.isServerSide ? job.steps.flatMap { [$0.troubleMark, $0.stage] } : nil
        self.job = job
    }

    /// Refuses steps that cannot run, such as one whose lookup is not there.
    /// - Throws: ``RunError``; ``MongoError``.
    package func check(by collection: MongoCollection) throws { _ = try job.prepared(on: collection) }

    /// The stages that do the same to a collection's documents; `nil` where the client computes a step.
    package let stages: [BSONDocument]?

    /// The same stages, which note in the field ``mark`` whether a step that is about a document leaves it alone.
    package let markedStages: [BSONDocument]?

    /// The field of ``markedStages``: true, false, or not there.
    package static let mark = "__shipshape"

    /// Whether there is no step, so that nothing is asked of the server.
    package var isEmpty: Bool { program == nil }

    /// The outcome of each of these documents, in their order.
    /// - Parameter collection: through which the server is asked.
    /// - Throws: ``MongoError``; what is damaged in a document.
    package func outcomes(of documents: [BSONDocument], by collection: MongoCollection) throws -> [Outcome] {
        guard let program else { return documents.map { Outcome(document: $0) } }
        let context = ClientContext(job: job.job.name, collection: collection, links: [:])
        return try program.finish(documents.map(program.unread), in: context).map { document in
            let troubles = document.findings.compactMap { finding -> CompiledStep.Reason? in
                if case .leftAlone(let reason) = finding, reason.isTrouble { reason } else { nil }
            }
            return Outcome(document: document.after, trouble: troubles.first)
        }
    }
}

extension CompiledStep {
    /// The stage that notes whether the step leaves a document alone that it is about.
    fileprivate var troubleMark: BSONDocument {
        let codes = reasons.indices.filter { reasons[$0].reason.isTrouble }.map { BSONValue.integer($0 + 2) }
        let isTrouble: BSONValue = ["$in": [finding.bson, ["$literal": .array(of: codes)]]]
        let mark = StepTransformation.mark
        let wasOrIs: BSONValue = ["$or": [["$ifNull": [.string("$\(mark)"), false]], isTrouble]]
        return ["$set": .object(BSONDocument([(mark, wasOrIs)]))]
    }
}
