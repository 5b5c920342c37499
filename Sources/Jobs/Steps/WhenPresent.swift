import BSON
import LocatedYAML

/// The handling of a target that already holds another value.
package enum WhenPresent: String, Sendable, CaseIterable {
    /// The target keeps its value.
    case keep
    /// The step's value replaces the target's value.
    case replace
    /// The target keeps its value, and the document is reported.
    case report
    /// The step's value replaces a value that the job wrote. Any other value stays, and the document is reported.
    case refresh
}

/// A step that fills a second field and has a rule for targets that already hold a value.
protocol TargetRuled: StepKind {
    /// The rule that selects the targets to write.
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

/// The rule that selects the targets that a step writes when it fills a second field.
struct TargetRule: Hashable, Sendable {
    var whenPresent = WhenPresent.report
    /// Whether a null counts as no value.
    var nullsToo = false

    /// The rule under which a refresh writes; its targets have already been looked up.
    var replacing: TargetRule { TargetRule(whenPresent: .replace, nullsToo: nullsToo) }

    /// Whether the target holds nothing that the value would replace.
    func isFree(_ target: Expression, for value: Expression) -> Expression {
        guard nullsToo else { return target.isMissing }
        // Writing a null over a null would never end the need for the step.
        return .any([target.isMissing, .all([target.isMissingOrNull, !value.isMissingOrNull])])
    }

    /// Whether the step writes `value`.
    func isWanted(_ value: Expression, in target: Expression) -> Expression {
        whenPresent == .replace ? !.same(target, value) : isFree(target, for: value)
    }

    /// Returns when and why a document whose target holds another value is skipped; `nil` if none is skipped.
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

    /// The text that is added to a step's description.
    var words: String {
        let words: String =
            switch whenPresent {
            case .report: ""
            case .keep, .replace: ", \(whenPresent.rawValue) what is there"
            case .refresh: ", refreshed while it is what the job wrote"
            }
        return (nullsToo ? ", over nulls too" : "") + words
    }

    /// Returns the values of the target that the rule loses, in words; `nil` if it loses none.
    func loss(_ target: FieldPath) -> String? {
        if whenPresent == .replace { return "the earlier values of \"\(target)\"" }
        return nullsToo ? "whether \"\(target)\" was null or missing" : nil
    }
}

extension YAMLMembers {
    /// The keys of a ``TargetRule``.
    static let targetRule = ["whenPresent", "when"]

    /// Reads the rule that a step states under `when` and `whenPresent`.
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
