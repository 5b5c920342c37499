package import BSON
package import Checking
package import LocatedYAML
package import ServerSchema

/// Copies a field's value to a second field.
package struct CopyStep: TargetRuled {
    package static let key = "copy"

    let from: FieldPath
    let to: FieldPath
    var rule = TargetRule()
    /// The conversion that a later step of the job applies to the target in place; `nil` if there is none.
    ///
    /// A target that holds the converted value of the source is not a conflict, because the later step converted the
    /// target in an earlier run.
    var conversion: Conversion?

    package var target: FieldPath { to }
    package var source: FieldPath? { from }
    package var quick: QuickCondition { .present(from, with: [to]) }
    package var readsInside: [FieldPath] { rule.whenPresent == .replace ? [from, to] : [] }

    package var description: String {
        "copy \(from) to \(to)" + rule.words
    }

    package func followed(by later: [any StepKind]) -> any StepKind {
        var copy = self
        for step in later where step.target == to { copy.conversion = step.inPlaceConversion ?? copy.conversion }
        return copy
    }

    package func refreshIncludes(_ conversion: any StepKind) -> Bool {
        conversion.inPlaceConversion != nil && conversion.target == to
    }

    package func body() -> StepBody {
        let (source, target) = (Expression.field(from), Expression.field(to))
        // If the rule treats a null in the target as missing, a null in the source also counts as missing. Otherwise,
        // the step would copy the null, and the target would still count as missing.
        let present = from.isReachable && !(rule.nullsToo ? source.isMissingOrNull : source.isMissing)
        // With `replace`, the step writes the value that a later conversion of the target would make. If it wrote the
        // unconverted value, each of the two steps would change the other's result in every run.
        let value = rule.whenPresent == .replace ? converted(source) : source
        return StepBody(
            wanted: present && rule.isWanted(value, in: target), value: value, applies: present,
            conflicts: [rule.conflict(source, in: target, where: present && !isConverted(target, from: source))]
                .compactMap(\.self))
    }

    /// Returns whether the target holds the source's value after the ``conversion`` of a later step; false if there is
    /// no conversion.
    private func isConverted(_ target: Expression, from source: Expression) -> Expression {
        conversion == nil ? .constant(false) : .same(target, converted(source))
    }

    /// Returns the source's value after the ``conversion`` of a later step.
    ///
    /// The value is returned unchanged if there is no conversion, or if it cannot or need not be converted.
    private func converted(_ source: Expression) -> Expression {
        guard let conversion else { return source }
        return .let(
            ["result": conversion.result(source)],
            in: .choose(
                if: .any([conversion.isDone(source), Expression.variable("result").isMissingOrNull]), then: source,
                else: .variable("result")))
    }

    package func leavesSyncing(
        under schema: SchemaNode, declaring target: SchemaNode, assuming: CheckOptions
    ) -> Bool {
        guard let source = schema.property(at: from), schema.leadsThroughObjects(to: from) else { return false }
        // A copied value fits the schema if both fields have the same rules in the schema. If the target is required,
        // the source must be required as well, because otherwise the target could become null.
        return source.demandsTheSame(as: target) && (!schema.requires(to) || schema.requires(from))
            && (target.hasScalarsAlone || from.parents.isEmpty == to.parents.isEmpty)
    }
}

extension CopyStep {
    package init(_ node: YAMLNode) throws(JobError) {
        let pair = try FieldPair(node, of: Self.key)
        self.init(from: pair.from, to: pair.to, rule: pair.rule)
    }
}

/// The settings that `copy` and `rename` have in common.
struct FieldPair {
    let from: FieldPath
    let to: FieldPath
    let rule: TargetRule

    init(_ node: YAMLNode, of key: String) throws(JobError) {
        let members = try node.members(of: "\"\(key)\"", allowed: ["from", "to"] + YAMLMembers.targetRule)
        from = try members.required("from").fieldPath("from")
        let target = try members.required("to")
        to = try target.fieldPathBelowNoList("to")
        try target.checkApart(from, to)
        rule = try members.targetRule()
    }
}
