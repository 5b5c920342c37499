import BSON
import LocatedYAML

/// What a step does where its target holds another value already.
package enum WhenPresent: String, Sendable, CaseIterable {
    /// The target keeps it.
    case keep
    /// The step's value replaces it.
    case replace
    /// It keeps it, and the document is reported.
    case report
    /// The step's value replaces it where the job itself wrote it; else it stays, and the document is reported.
    case refresh
}

/// A step that fills a second field, by a rule of its own.
protocol TargetRuled: StepKind {
    /// In which targets it writes.
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

/// In which targets a step that fills a second field writes.
struct TargetRule: Hashable, Sendable {
    var whenPresent = WhenPresent.report
    /// Whether a null counts as no value.
    var nullsToo = false

    /// The rule under which a refresh writes: the targets that it is for were looked up.
    var replacing: TargetRule { TargetRule(whenPresent: .replace, nullsToo: nullsToo) }

    /// Whether nothing stands in the target that the value would take the place of.
    func isFree(_ target: Expression, for value: Expression) -> Expression {
        guard nullsToo else { return target.isMissing }
        // A null in the place of a null would never end the need for it.
        return .any([target.isMissing, .all([target.isMissingOrNull, !value.isMissingOrNull])])
    }

    /// Whether the step writes `value`.
    func isWanted(_ value: Expression, in target: Expression) -> Expression {
        whenPresent == .replace ? !.same(target, value) : isFree(target, for: value)
    }

    /// Why a document is left alone whose target holds another value; `nil` where none is.
    /// - Parameter isReady: whether the step has a value for it.
    func conflict(
        _ value: Expression, in target: Expression, where isReady: Expression
    ) -> (reason: CompiledStep.Reason, when: Expression)? {
        guard whenPresent != .replace else { return nil }
        return (
            whenPresent == .keep ? .targetKept : .targetDiffers,
            .all([isReady, !isFree(target, for: value), !.same(target, value)])
        )
    }

    /// What is added to a step's description.
    var words: String {
        let words: String =
            switch whenPresent {
            case .report: ""
            case .keep, .replace: ", \(whenPresent.rawValue) what is there"
            case .refresh: ", refreshed while it is what the job wrote"
            }
        return (nullsToo ? ", over nulls too" : "") + words
    }

    /// What is lost of the target by it; `nil` where nothing is.
    func loss(_ target: FieldPath) -> String? {
        if whenPresent == .replace { return "the values that \"\(target)\" held before" }
        return nullsToo ? "which documents had a null in \"\(target)\", and which none" : nil
    }
}

extension YAMLMembers {
    /// The keys of a ``TargetRule``.
    static let targetRule = ["whenPresent", "when"]

    /// What a step says under `when` and `whenPresent`.
    func targetRule(among allowed: [WhenPresent] = WhenPresent.allCases) throws(JobError) -> TargetRule {
        var rule = TargetRule()
        if let node = self["whenPresent"] {
            rule.whenPresent = try node.choice("whenPresent")
            guard allowed.contains(rule.whenPresent) else {
                throw node.error("\"whenPresent\" is here \(allowed.map(\.rawValue).joined(separator: " or "))")
            }
        }
        rule.nullsToo = try fillsNulls()
        return rule
    }
}
