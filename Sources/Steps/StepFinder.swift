import BSON
import Evaluating
import Jobs

/// The findings of steps in a document as it is, evaluated by the client; no step depends on what another one writes.
struct StepFinder: Sendable {
    /// A step, and the conditions that a document is checked for.
    private struct Question: Sendable {
        let isNeeded: CompiledExpression
        let reasons: [CompiledExpression]
        /// Whether several reasons can hold at once, and together with the need.
        let isAboutElements: Bool
    }

    private let questions: [Question]
    /// Whether any step finds anything: cheaper to evaluate, and false for most documents.
    private let isAnything: CompiledExpression

    /// - Parameter steps: the steps of a job, each of which can be evaluated on the document as it is.
    init(_ steps: [CompiledStep]) {
        questions = steps.map { step in
            Question(
                isNeeded: CompiledExpression(step.needs && SyncLock.isFree),
                reasons: step.reasons.map { CompiledExpression($0.when) },
                isAboutElements: step.step.target.leadsIntoElements)
        }
        isAnything = CompiledExpression(Self.isAnything(steps))
    }

    /// Returns the condition that a step may find anything in a document.
    static func isAnything(_ steps: [CompiledStep]) -> Expression {
        .any(steps.flatMap { [$0.mayNeed] + $0.knowing(AlteredDocument(false)).leftAlone.map(\.when) })
    }

    /// The number of documents with each finding, by step: at 0 those that need the step, from 1 on those of each
    /// reason.
    struct Found {
        var findings: [[Int]]
        /// The number of documents that need a step.
        var needing = 0
        /// The number of documents that were evaluated.
        var documents = 0
    }

    /// The findings before the first document.
    var nothing: Found { Found(findings: questions.map { Array(repeating: 0, count: $0.reasons.count + 1) }) }

    /// Adds the steps' findings in a document.
    /// - Throws: ``NotEvaluated`` if the server has to evaluate the document; then nothing of it is counted.
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
