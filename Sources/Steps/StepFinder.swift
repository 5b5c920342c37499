import BSON
import Evaluating
import Jobs

/// Finds, in the client, which steps a document needs and which steps skip it.
///
/// All steps are evaluated on the document before the job, so no step may depend on what another one writes.
struct StepFinder: Sendable {
    /// The compiled conditions of one step.
    private struct Question: Sendable {
        let isNeeded: CompiledExpression
        let reasons: [CompiledExpression]
        /// Whether several reasons for skipping can hold at once, and together with the need: different elements of an
        /// array or dictionary may differ.
        let isAboutElements: Bool
    }

    private let questions: [Question]
    /// Whether any step may need or skip a document; this condition is cheaper to evaluate, and false for most
    /// documents.
    private let isAnything: CompiledExpression

    /// Compiles the conditions of steps.
    /// - Parameter steps: the steps of a job, each of which can be evaluated on the document before the job.
    init(_ steps: [CompiledStep]) {
        questions = steps.map { step in
            Question(
                isNeeded: CompiledExpression(step.needs && SyncLock.isFree),
                reasons: step.reasons.map { CompiledExpression($0.when) },
                isAboutElements: step.step.target.leadsIntoElements)
        }
        isAnything = CompiledExpression(Self.isAnything(steps))
    }

    /// Returns the condition that any of the steps may need or skip a document.
    static func isAnything(_ steps: [CompiledStep]) -> Expression {
        .any(steps.flatMap { [$0.mayNeed] + $0.knowing(AlteredDocument(false)).skipped.map(\.when) })
    }

    /// The number of documents by finding.
    struct Found {
        /// For each step, the number of documents that need it, followed by the number for each reason why it skips a
        /// document.
        var findings: [[Int]]
        /// The number of documents that need any of the steps.
        var needing = 0
        /// The number of documents that were evaluated.
        var documents = 0
    }

    /// The counts before the first document: all 0.
    var nothing: Found { Found(findings: questions.map { Array(repeating: 0, count: $0.reasons.count + 1) }) }

    /// Adds the steps' findings in a document to the counts.
    /// - Throws: ``NotEvaluated`` if the server has to evaluate the document; then `found` is unchanged.
    func add(_ document: borrowing BSONView, to found: inout Found) throws(NotEvaluated) {
        var codes: [(step: Int, code: Int)] = []
        if try isAnything.holds(for: document) {
            for (step, question) in questions.enumerated() {
                let isNeeded = try question.isNeeded.holds(for: document)
                if isNeeded { codes.append((step, 0)) }
                guard !isNeeded || question.isAboutElements else { continue }
                for (index, reason) in question.reasons.enumerated() where try reason.holds(for: document) {
                    codes.append((step, index + 1))
                    if !question.isAboutElements { break }
                }
            }
        }
        found.documents += 1
        if codes.contains(where: { $0.code == 0 }) { found.needing += 1 }
        for (step, code) in codes { found.findings[step][code] += 1 }
    }
}
