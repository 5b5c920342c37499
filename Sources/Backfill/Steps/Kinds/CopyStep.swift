package import BSON
package import Checking
package import LocatedYAML
package import ServerSchema

/// Gives a second field the value of a first.
package struct CopyStep: StepKind {
    package static let key = "copy"

    let from: FieldPath
    let to: FieldPath

    package var target: FieldPath { to }
    package var source: FieldPath? { from }

    package var description: String { "copy \(from) to \(to)" }

    package func body() -> StepBody {
        let (source, target) = (Expression.field(from), Expression.field(to))
        let present = from.isReachable && !source.isMissing
        return StepBody(
            wanted: present && target.isMissing, value: source, isConcerned: present,
            conflicts: [(.targetDiffers, present && !target.isMissing && !Expression.same(target, source))])
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
        let members = try node.members(of: "\"copy\"", allowed: ["from", "to"])
        let from = try members.required("from").fieldPath("from")
        let target = try members.required("to")
        let to = try target.fieldPath("to")
        try target.checkApart(from, to)
        self.init(from: from, to: to)
    }
}
