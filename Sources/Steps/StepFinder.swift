import BSON
import Evaluating
import Jobs

/// What steps find in a document as it is, evaluated by the client: no step waits for what another one writes.
struct StepFinder: Sendable {
    /// A step, and what is asked of a document for it.
    private struct Question: Sendable {
        let isNeeded: CompiledExpression
        let reasons: [CompiledExpression]
        /// Whether several of the reasons can hold, beside the need.
        let isAboutElements: Bool
    }

    private let questions: [Question]
    /// Whether any step finds anything, which is less to ask, and false for most documents.
    private let isAnything: CompiledExpression

    /// - Parameter steps: the steps of a job that look at a document all at once.
    init(_ steps: [CompiledStep]) {
        questions = steps.map { step in
            Question(
                isNeeded: CompiledExpression(step.needs && SyncLock.isFree),
                reasons: step.reasons.map { CompiledExpression($0.when) },
                isAboutElements: step.step.target.leadsIntoElements)
        }
        isAnything = CompiledExpression(Self.isAnything(steps))
    }

    /// Whether a step may find anything in a document.
    static func isAnything(_ steps: [CompiledStep]) -> Expression {
        .any(steps.flatMap { [$0.mayNeed] + $0.knowing(AlteredDocument(false)).leftAlone.map(\.when) })
    }

    /// How many documents each step found something in: by step, and by 0 for the need and from 1 on for each reason.
    struct Found {
        var findings: [[Int]]
        /// Documents that need a step.
        var needing = 0
        /// Documents that were looked at.
        var documents = 0
    }

    /// Nothing found yet.
    var nothing: Found { Found(findings: questions.map { Array(repeating: 0, count: $0.reasons.count + 1) }) }

    /// Adds what the steps find in a document.
    /// - Throws: ``NotEvaluated`` where the server has to be asked; then nothing of the document is counted.
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
