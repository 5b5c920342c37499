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
    var rule: TargetRule { get set }
    /// The fields whose values the step takes over.
    var taken: [FieldPath] { get }
    /// The fields that take over the values; ``StepKind/target`` comes first.
    var written: [FieldPath] { get }
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
    var written: [FieldPath] { [target] }
    package var targets: [FieldPath] { written + removed }
    package var sources: [FieldPath] { rule.removes ? [] : taken }
    package var removed: [FieldPath] { rule.removes ? taken : [] }
    /// The step, and the removal of each field that it took over; a removal leaves documents that the step skipped.
    package var parts: [any StepKind] {
        guard rule.removes else { return [self] }
        var step = self
        step.rule.removes = false
        return [step] + taken.map { UnsetStep(field: $0, leavesNulls: true) }
    }
    package func followed(by later: [Step]) -> any StepKind {
        var step = self
        step.rule.later = LaterSteps(changing: written, among: later)
        return step
    }
    package func resolved(at now: Int64) -> Self {
        var step = self
        step.rule.later = rule.later.resolved(at: now)
        return step
    }
}

/// The rule by which a step such as `copy` decides whether to write its result to another field.
struct TargetRule: Hashable, Sendable {
    var whenPresent = WhenPresent.report
    /// Whether a null in the target counts as missing.
    var nullsToo = false
    /// Whether the fields whose values the step took over are removed.
    var removes = false
    /// The later steps of the job that change the target.
    var later = LaterSteps()

    /// A copy of this rule with `whenPresent: replace`, for the step that ``StepKind/refresh`` returns.
    var replacing: TargetRule {
        var rule = self
        (rule.whenPresent, rule.removes) = (.replace, false)
        return rule
    }

    /// Whether the target counts as missing.
    ///
    /// A null in the target counts as missing only if ``nullsToo`` is `true` and `value` is neither null nor missing.
    func isFree(_ target: Expression, for value: Expression) -> Expression {
        guard nullsToo else { return target.isMissing }
        // A null must not replace a null, because the document would still need the step after every write.
        return .any([target.isMissing, .all([target.isMissingOrNull, !value.isMissingOrNull])])
    }

    func isWanted(_ value: Expression, in target: FieldPath) -> Expression {
        whenPresent == .replace
            ? !.same(.field(target), written(value, to: target)) : isFree(.field(target), for: value)
    }

    /// Returns the value that the step writes, if its own value is `value`.
    ///
    /// With `replace`, this is the value after the later steps. Otherwise, this step and the later ones would change
    /// each other's result in every run.
    func written(_ value: Expression, to target: FieldPath) -> Expression {
        whenPresent == .replace ? later.value(of: target, holding: value) : value
    }

    /// Returns the reason to skip a document whose target holds another value, and the condition for skipping it.
    ///
    /// `nil` if no document is skipped.
    /// - Parameter isReady: Whether the step has a value for the target.
    func conflict(
        _ value: Expression, in target: FieldPath, where isReady: Expression
    ) -> (reason: CompiledStep.Reason, when: Expression)? {
        guard whenPresent != .replace else { return nil }
        let present = Expression.field(target)
        return (
            whenPresent == .keep ? .targetKept : .targetDiffers,
            .all(
                [isReady, !isFree(present, for: value), !.same(present, value)]
                    + [later.makesTheSame(of: present, value, in: target)].compactMap(\.self).map { !$0 })
        )
    }

    /// The words for the rule in a step's description; empty for the default rule.
    var words: String {
        let words: String =
            switch whenPresent {
            case .report: ""
            case .keep, .replace: ", \(whenPresent.rawValue) what is there"
            case .refresh: "; a later run copies again, unless a client changed it"
            }
        return (nullsToo ? ", over nulls too" : "") + words + (removes ? ", removing what was taken over" : "")
    }

    /// Returns words for the information that is lost when the step writes to the target; `nil` if none is lost.
    func loss(_ target: FieldPath) -> String? {
        if whenPresent == .replace { return "the earlier values of \"\(target)\"" }
        if removes { return "what \"\(target)\" does not show of the fields that are removed" }
        return nullsToo ? "whether \"\(target)\" was null or missing" : nil
    }
}

extension YAMLMembers {
    /// The keys in a job file that state a ``TargetRule``.
    static let targetRule = ["whenPresent", "when"]
    /// The same keys for a step that can also remove the fields that it takes over.
    static let movingRule = targetRule + ["remove"]

    /// Reads the rule that a step states by `when`, `whenPresent` and `remove`; the value of `whenPresent` must be one
    /// of `allowed`.
    func targetRule(among allowed: [WhenPresent] = WhenPresent.allCases) throws(JobError) -> TargetRule {
        var rule = TargetRule()
        if let node = self["whenPresent"] {
            rule.whenPresent = try node.choice("whenPresent")
            guard allowed.contains(rule.whenPresent) else {
                throw node.error("\"whenPresent\" must be \(allowed.map(\.rawValue).joined(separator: " or ")) here")
            }
        }
        rule.nullsToo = try fillsNulls()
        if let node = self["remove"] {
            rule.removes = try node.flag("remove")
            guard !rule.removes || rule.whenPresent != .refresh else {
                throw node.error("\"refresh\" follows fields that stay: leave out \"remove\", and unset them later")
            }
        }
        return rule
    }
}
