package import BSON
package import Evaluating
import Jobs

/// Finds, in the client, which steps a document needs and which steps skip it.
///
/// If the steps do not depend on each other, all of them are evaluated on the document as it is before the job.
/// Otherwise, each step is evaluated on the document as the steps before it leave it.
package struct StepFinder: Sendable {
    private struct Question: Sendable {
        let isNeeded: CompiledExpression
        let reasons: [CompiledExpression]
        /// Whether the step applies to the elements of an array or dictionary.
        ///
        /// The step may then change some elements of a document and skip others, for several reasons, so every
        /// condition is evaluated.
        let isAboutElements: Bool
        /// The change that the step makes; `nil` if no later step reads what it writes.
        let update: CompiledUpdate?

        /// Whether the step changes a document with these findings of the step, or would change it without a lock of
        /// the sync translator.
        func changes(_ findings: ArraySlice<Finding>) -> Bool {
            // The lock is the last reason.
            findings.contains { $0.isNeed || $0.code == reasons.count }
        }
    }

    /// The fields that the conditions of all steps read.
    private let group: SharedFields
    private let questions: [Question]
    /// A cheap condition that holds for every document which a step might change or skip.
    ///
    /// If the condition is false for a document, no other condition is evaluated.
    private let isAnything: CompiledExpression

    /// The names of the top-level fields that the steps write or remove, if the steps depend on each other.
    private let touched: [String]

    /// Compiles the conditions of steps that the server runs.
    /// - Parameters:
    ///   - steps: the steps of a job.
    ///   - isInTurn: whether a step may depend on what the steps before it write.
    ///   - group: the fields of other expressions that are evaluated in the same frame.
    /// - Returns: `nil` if the steps depend on each other, and the client cannot evaluate the change of a step.
    init?(_ steps: [CompiledStep], inTurn isInTurn: Bool, in group: SharedFields) {
        var group = group
        isAnything = CompiledExpression(Self.isAnything(steps), in: &group)
        var questions: [Question] = []
        for (index, step) in steps.enumerated() {
            var update: CompiledUpdate?
            if isInTurn, index < steps.count - 1 {
                update = CompiledUpdate([step].updateOfNeeding, in: &group)
                guard update != nil else { return nil }
            }
            questions.append(
                Question(
                    isNeeded: CompiledExpression(step.needs && SyncLock.isFree, in: &group),
                    reasons: step.reasons.map { CompiledExpression($0.when, in: &group) },
                    isAboutElements: step.isAboutElements, update: update))
        }
        (self.questions, self.group) = (questions, group)
        nothing = Found(of: steps)
        touched = isInTurn ? steps.touchedTopLevel : []
    }

    /// Returns the condition under which at least one of the steps might change or skip a document.
    static func isAnything(_ steps: [CompiledStep]) -> Expression {
        .any(steps.flatMap { [$0.mayNeed] + $0.knowing(AlteredDocument(false)).obstacles.map(\.when) })
    }

    package struct Finding: Hashable, Sendable {
        let step: Int
        /// The index of the reason why the step skips the document, plus 1; 0 if the document needs the step.
        let code: Int

        package var isNeed: Bool { code == 0 }
    }

    package struct Found: Sendable {
        /// For each step, the number of documents that need it, followed by the number that it skips for each reason.
        var findings: [[Int]]
        /// The number of documents that need at least one step.
        var needing = 0
        /// The number of documents that were evaluated.
        package private(set) var documents = 0
        /// The first `_id`s of the documents that a step skips, at most ``Survey/samples`` for each reason.
        var samples: [Finding: [BSONValue]] = [:]

        init(of steps: [CompiledStep], documents: Int = 0) {
            findings = steps.map { Array(repeating: 0, count: $0.reasonNames.count + 1) }
            self.documents = documents
        }

        /// Adds documents that have the same findings to the counts.
        package mutating func add(_ findings: [Finding], count: Int = 1) {
            documents += count
            if findings.contains(where: \.isNeed) { needing += count }
            for finding in findings { self.findings[finding.step][finding.code] += count }
        }

        /// Keeps the `_id` of a document for each reason to skip it that has too few samples.
        package mutating func sample(
            _ findings: [Finding], _ id: () throws(BSONError) -> BSONValue?
        ) throws(BSONError) {
            for finding in findings
            where !finding.isNeed && samples[finding, default: []].count < Survey.samples {
                if let id = try id() { samples[finding, default: []].append(id) }
            }
        }

        /// Returns the sum of these counts and those of other documents.
        package func adding(_ other: Found) -> Found {
            var sum = self
            for step in findings.indices {
                for code in findings[step].indices { sum.findings[step][code] += other.findings[step][code] }
            }
            sum.needing += other.needing
            sum.documents += other.documents
            sum.samples.merge(other.samples) { Array(($0 + $1).prefix(Survey.samples)) }
            return sum
        }
    }

    /// The counts before the first document, which are all 0.
    package let nothing: Found

    package func frame() -> Frame { group.frame() }

    /// Returns the findings of the steps in a document; afterwards, `frame` has the document's fields.
    /// - Throws: ``NotEvaluated`` if the server has to evaluate the document.
    package func findings(
        in document: borrowing BSONView, _ frame: inout Frame
    ) throws(NotEvaluated) -> [Finding] {
        try frame.locate(group, in: document)
        var findings: [Finding] = []
        guard try isAnything.holds(for: document, in: &frame) else { return findings }
        // The document as the steps so far leave it; `nil` while it is unchanged.
        var changed: BSONDocument?
        // A loop over the questions themselves would copy each one.
        for step in questions.indices {
            let first = findings.count
            if let changed {
                try add(step, of: changed.view, &frame, to: &findings)
            } else {
                try add(step, of: document, &frame, to: &findings)
            }
            guard let update = questions[step].update, questions[step].changes(findings[first...]) else { continue }
            changed =
                if let changed { try after(update, changed.view, &frame) } else { try after(update, document, &frame) }
            if let changed { try frame.locate(group, in: changed.view) }
        }
        if changed != nil { try frame.locate(group, in: document) }
        return findings
    }

    /// Adds the findings of one step in a document whose fields are in `frame`.
    private func add(
        _ step: Int, of document: borrowing BSONView, _ frame: inout Frame, to findings: inout [Finding]
    ) throws(NotEvaluated) {
        let isNeeded = try questions[step].isNeeded.holds(for: document, in: &frame)
        if isNeeded { findings.append(Finding(step: step, code: 0)) }
        guard !isNeeded || questions[step].isAboutElements else { return }
        for index in questions[step].reasons.indices
        where try questions[step].reasons[index].holds(for: document, in: &frame) {
            findings.append(Finding(step: step, code: index + 1))
            if !questions[step].isAboutElements { break }
        }
    }

    private func after(
        _ update: CompiledUpdate, _ document: borrowing BSONView, _ frame: inout Frame
    ) throws(NotEvaluated) -> BSONDocument {
        try document.checkArrays(in: touched)
        let after = try update.applied(to: document, in: &frame)
        try after.view.checkArrays(in: touched)
        return after
    }
}

extension CompiledJob {
    /// Whether all steps can be evaluated on the document as it is before the job.
    ///
    /// This is the case if no step depends on the changes of an earlier step.
    var hasIndependentSteps: Bool {
        // If one step of the job file was compiled to several steps, these steps depend on each other.
        endsByConstruction && steps.count == job.steps.count
    }

    /// Evaluates the steps in the client; `nil` if the client cannot evaluate them.
    package var finder: StepFinder? { finder(in: SharedFields()) }

    func finder(in group: SharedFields) -> StepFinder? {
        isServerSide && !phases.contains(where: \.isLeftToServer)
            ? StepFinder(steps, inTurn: !hasIndependentSteps, in: group) : nil
    }
}
