package import BSON
package import Checking
package import LocatedYAML
package import ServerSchema

/// Gives a second field the value of a first.
package struct CopyStep: TargetRuled {
    package static let key = "copy"

    let from: FieldPath
    let to: FieldPath
    var rule = TargetRule()
    /// What a later step of the job makes of the copy, so that its result is no other value.
    var conversion: Conversion?

    package var target: FieldPath { to }
    package var source: FieldPath? { from }
    package var quick: QuickCondition { .present(from, besides: [to]) }
    package var looksInto: [FieldPath] { rule.whenPresent == .replace ? [from, to] : [] }

    package var description: String {
        "copy \(from) to \(to)" + rule.words
    }

    package func body() -> StepBody {
        let (source, target) = (Expression.field(from), Expression.field(to))
        // Where a null is no value, it is none in the source either.
        let present = from.isReachable && !(rule.nullsToo ? source.isMissingOrNull : source.isMissing)
        // Over what is there at once what the later conversion would make of it, or the two would never end.
        let value = rule.whenPresent == .replace ? converted(source) : source
        return StepBody(
            wanted: present && rule.isWanted(value, in: target), value: value, isConcerned: present,
            conflicts: [rule.conflict(source, in: target, where: present && !isConverted(target, from: source))]
                .compactMap(\.self))
    }

    /// Whether the target is what the later conversion makes of the source.
    private func isConverted(_ target: Expression, from source: Expression) -> Expression {
        conversion == nil ? .constant(false) : .same(target, converted(source))
    }

    /// What becomes of the source's value in the target.
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
        // The same value under the same rules; null fits only where the field is not required.
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

/// What stands under `copy` and under `rename`.
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
