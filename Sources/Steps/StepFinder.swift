import BSON
import Evaluating
import Jobs

/// Finds, in the client, which steps a document needs and which steps skip it.
///
/// The steps are evaluated on the document as it is before the job, so they must not depend on each other.
struct StepFinder: Sendable {
    /// The compiled conditions of one step.
    private struct Question: Sendable {
        let isNeeded: CompiledExpression
        let reasons: [CompiledExpression]
        /// Whether the step applies to the elements of an array or dictionary.
        ///
        /// The step may then change some elements of a document and skip others, for several reasons, so every
        /// condition is evaluated.
        let isAboutElements: Bool
    }

    /// The fields that the conditions of all steps read.
    private let group: SharedFields
    private let questions: [Question]
    /// A cheap condition that holds for every document which a step might change or skip.
    ///
    /// If the condition is false for a document, no other condition is evaluated.
    private let isAnything: CompiledExpression

    /// Compiles the conditions of steps.
    /// - Parameter steps: the steps of a job, which must not depend on each other.
    init(_ steps: [CompiledStep]) {
        var group = SharedFields()
        isAnything = CompiledExpression(Self.isAnything(steps), in: &group)
        questions = steps.map { step in
            Question(
                isNeeded: CompiledExpression(step.needs && SyncLock.isFree, in: &group),
                reasons: step.reasons.map { CompiledExpression($0.when, in: &group) },
                isAboutElements: step.step.target.leadsIntoElements)
        }
        self.group = group
    }

    /// Returns the condition under which at least one of the steps might change or skip a document.
    static func isAnything(_ steps: [CompiledStep]) -> Expression {
        .any(steps.flatMap { [$0.mayNeed] + $0.knowing(AlteredDocument(false)).skipped.map(\.when) })
    }

    /// The number of documents with each finding.
    struct Found {
        /// For each step, the number of documents that need it, followed by the number that it skips for each reason.
        var findings: [[Int]]
        /// The number of documents that need at least one step.
        var needing = 0
        /// The number of documents that were evaluated.
        var documents = 0
    }

    /// The counts before the first document, which are all 0.
    var nothing: Found { Found(findings: questions.map { Array(repeating: 0, count: $0.reasons.count + 1) }) }

    /// Returns the memory in which the finder evaluates one document after another.
    func frame() -> Frame { group.frame() }

    /// Adds the findings of the steps in a document to the counts.
    /// - Throws: ``NotEvaluated`` if the server has to evaluate the document; `found` is then unchanged.
    func add(
        _ document: borrowing BSONView, to found: inout Found, in frame: inout Frame
    ) throws(NotEvaluated) {
        try frame.locate(group, in: document)
        var codes: [(step: Int, code: Int)] = []
        if try isAnything.holds(for: document, in: &frame) {
            for (step, question) in questions.enumerated() {
                let isNeeded = try question.isNeeded.holds(for: document, in: &frame)
                if isNeeded { codes.append((step, 0)) }
                guard !isNeeded || question.isAboutElements else { continue }
                for (index, reason) in question.reasons.enumerated() where try reason.holds(for: document, in: &frame) {
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
