import BSON
import Jobs

/// The passes of a survey over the steps of a job.
///
/// In each pass, the server evaluates every step on the document as it is after the server-side steps before that step.
struct SurveyPasses {
    let job: CompiledJob
    /// The number of passes: two if a step is client-side, or if the survey also counts the documents that each step
    /// would still change after the job; otherwise one.
    let count: Int

    /// Whether the job has a single step; a document then needs the job exactly if it needs that step.
    var hasOneStep: Bool { job.steps.count == 1 }

    /// The stage that evaluates, once for all steps, whether a write by the server would alter a document in other ways
    /// than the steps do (see ``AlteredDocument``).
    private var alterationStage: BSONDocument {
        ["$set": .object(BSONDocument([(alteredMark, job.steps.alteredAlthoughNeeded.bson)]))]
    }

    private var alteredMark: String { "\(mark(0)).altered" }

    /// The steps of the job, which read the result of ``alterationStage`` from ``alteredMark`` instead of evaluating it
    /// again.
    var steps: [CompiledStep] { job.steps.map { $0.knowing(AlteredDocument(knownAt: alteredMark)) } }

    /// The pipeline stages that evaluate every step, and that store each step's finding in the document.
    ///
    /// A step is evaluated on the document as it is after the server-side steps before that step.
    var stages: [BSONDocument] {
        let need = job.whole.knowing(AlteredDocument(knownAt: alteredMark)).needs
        var pipeline: [BSONDocument] = [alterationStage]
        if !hasOneStep { pipeline.append(["$set": .object(BSONDocument([("\(mark(0)).any", need.bson)]))]) }
        for pass in 0..<count {
            for (index, step) in steps.enumerated() {
                pipeline.append(["$set": ["\(mark(pass)).s\(index)": step.finding.bson]])
                if step.isAboutElements {
                    pipeline.append(["$set": ["\(mark(pass)).e\(index)": step.reasonCodes.bson]])
                }
                // No later step reads what the last step of the last pass writes, so its stage is left out.
                let isLast = pass == count - 1 && index == job.steps.count - 1
                if step.client == nil, !isLast { pipeline.append(step.stage) }
            }
        }
        return pipeline
    }

    /// The sums that count, for each pass and each step, the documents with each finding.
    ///
    /// For example, `r0s1c2` counts the documents with the finding of number 2 for the step with index 1 in pass 0.
    var totals: BSONDocument {
        var builder = BSONBuilder()
        builder.append("_id", nil)
        builder.append("documents", ["$sum": 1])
        builder.append("any", ["$sum": ["$cond": [.string("$\(mark(0)).any"), 1, 0]]])
        for pass in 0..<count {
            for (index, step) in job.steps.enumerated() {
                for code in 1..<step.reasonNames.count + 2 {
                    let isCode: BSONValue =
                        code > 1 && step.isAboutElements
                        ? ["$in": [.integer(code), .string("$\(mark(pass)).e\(index)")]]
                        : ["$eq": [.string("$\(mark(pass)).s\(index)"), .integer(code)]]
                    builder.append("r\(pass)s\(index)c\(code)", ["$sum": ["$cond": [isCode, 1, 0]]])
                }
            }
        }
        return builder.finish()
    }

    /// Returns the stages that run the server-side steps before the step with the index `step`.
    func stages(before step: Int) -> [BSONDocument] {
        [alterationStage] + steps[..<step].filter { $0.client == nil }.map(\.stage)
    }

    private func mark(_ pass: Int) -> String { "__shipshape_\(pass)" }
}
