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

    /// A finding of a step in a document.
    struct Finding: Hashable, Sendable {
        let step: Int
        /// The index of the reason why the step skips the document, plus 1; 0 if the document needs the step.
        let code: Int

        var isNeed: Bool { code == 0 }
    }

    /// The number of documents with each finding.
    struct Found {
        /// For each step, the number of documents that need it, followed by the number that it skips for each reason.
        var findings: [[Int]]
        /// The number of documents that need at least one step.
        var needing = 0
        /// The number of documents that were evaluated.
        var documents = 0
        /// The first `_id`s of the documents that a step skips, at most ``Survey/samples`` for each reason.
        var samples: [Finding: [BSONValue]] = [:]

        /// Adds documents that have the same findings to the counts.
        mutating func add(_ findings: [Finding], count: Int = 1) {
            documents += count
            if findings.contains(where: \.isNeed) { needing += count }
            for finding in findings { self.findings[finding.step][finding.code] += count }
        }

        /// Keeps the `_id` of a document for each reason to skip it that has too few samples.
        mutating func sample(_ findings: [Finding], _ id: () throws(BSONError) -> BSONValue?) throws(BSONError) {
            for finding in findings
            where !finding.isNeed && samples[finding, default: []].count < Survey.samples {
                if let id = try id() { samples[finding, default: []].append(id) }
            }
        }
    }

    /// The counts before the first document, which are all 0.
    var nothing: Found { Found(findings: questions.map { Array(repeating: 0, count: $0.reasons.count + 1) }) }

    /// Returns the memory in which the finder evaluates one document after another.
    func frame() -> Frame { group.frame() }

    /// Returns the findings of the steps in a document.
    /// - Throws: ``NotEvaluated`` if the server has to evaluate the document.
    func findings(in document: borrowing BSONView, _ frame: inout Frame) throws(NotEvaluated) -> [Finding] {
        try frame.locate(group, in: document)
        var findings: [Finding] = []
        if try isAnything.holds(for: document, in: &frame) {
            for (step, question) in questions.enumerated() {
                let isNeeded = try question.isNeeded.holds(for: document, in: &frame)
                if isNeeded { findings.append(Finding(step: step, code: 0)) }
                guard !isNeeded || question.isAboutElements else { continue }
                for (index, reason) in question.reasons.enumerated() where try reason.holds(for: document, in: &frame) {
                    findings.append(Finding(step: step, code: index + 1))
                    if !question.isAboutElements { break }
                }
            }
        }
        return findings
    }
}
