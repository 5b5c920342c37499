import BSON
import LocatedYAML

/// The handling of a target that already holds another value than the step would write.
package enum WhenPresent: String, Sendable, CaseIterable {
    /// The target keeps its value, and the document is not reported.
    case keep
    /// The step's value replaces the target's value.
    case replace
    /// The target keeps its value, and the document is reported.
    case report
    /// The step's value replaces a value that the job wrote. A value that another client wrote stays, and the document
    /// is reported.
    case refresh
}

/// A step that writes its result to another field, with a rule for targets that already hold a value.
protocol TargetRuled: StepKind {
    /// The rule by which the step decides whether to write to a target.
    var rule: TargetRule { get set }
}

extension TargetRuled {
    package var changesInPlace: Bool { rule.whenPresent == .replace }
    package var refresh: (any StepKind)? {
        guard rule.whenPresent == .refresh else { return nil }
        var step = self
        step.rule = rule.replacing
        return step
    }
    package var loss: String? { rule.loss(target) }
}

/// The rule by which a step such as `copy` decides whether to write its result to another field.
struct TargetRule: Hashable, Sendable {
    var whenPresent = WhenPresent.report
    /// Whether a null in the target counts as missing.
    var nullsToo = false

    /// A copy of this rule with `whenPresent: replace`, for the step that ``StepKind/refresh`` returns.
    var replacing: TargetRule { TargetRule(whenPresent: .replace, nullsToo: nullsToo) }

    /// Whether the target counts as missing.
    ///
    /// A null in the target counts as missing only if ``nullsToo`` is `true` and `value` is neither null nor missing.
    func isFree(_ target: Expression, for value: Expression) -> Expression {
        guard nullsToo else { return target.isMissing }
        // A null must not replace a null, because the document would still need the step after every write.
        return .any([target.isMissing, .all([target.isMissingOrNull, !value.isMissingOrNull])])
    }

    func isWanted(_ value: Expression, in target: Expression) -> Expression {
        whenPresent == .replace ? !.same(target, value) : isFree(target, for: value)
    }

    /// Returns the reason to skip a document whose target holds another value, and the condition for skipping it.
    ///
    /// `nil` if no document is skipped.
    /// - Parameter isReady: Whether the step has a value for the target.
    func conflict(
        _ value: Expression, in target: Expression, where isReady: Expression
    ) -> (reason: CompiledStep.Reason, when: Expression)? {
        guard whenPresent != .replace else { return nil }
        return (
            whenPresent == .keep ? .targetKept : .targetDiffers,
            .all([isReady, !isFree(target, for: value), !.same(target, value)])
        )
    }

    /// The words for the rule in a step's description; empty for the default rule.
    var words: String {
        let words: String =
            switch whenPresent {
            case .report: ""
            case .keep, .replace: ", \(whenPresent.rawValue) what is there"
            case .refresh: ", refreshed while it is what the job wrote"
            }
        return (nullsToo ? ", over nulls too" : "") + words
    }

    /// Returns words for the information that is lost when the step writes to the target; `nil` if none is lost.
    func loss(_ target: FieldPath) -> String? {
        if whenPresent == .replace { return "the earlier values of \"\(target)\"" }
        return nullsToo ? "whether \"\(target)\" was null or missing" : nil
    }
}

extension YAMLMembers {
    /// The keys in a job file that state a ``TargetRule``.
    static let targetRule = ["whenPresent", "when"]

    /// Reads the rule that a step states by `when` and `whenPresent`; the value of `whenPresent` must be one of
    /// `allowed`.
    func targetRule(among allowed: [WhenPresent] = WhenPresent.allCases) throws(JobError) -> TargetRule {
        var rule = TargetRule()
        if let node = self["whenPresent"] {
            rule.whenPresent = try node.choice("whenPresent")
            guard allowed.contains(rule.whenPresent) else {
                throw node.error("\"whenPresent\" must be \(allowed.map(\.rawValue).joined(separator: " or ")) here")
            }
        }
        rule.nullsToo = try fillsNulls()
        return rule
    }
}
