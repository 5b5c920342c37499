package import BSON
package import Checking
package import LocatedYAML
package import ServerSchema

/// Gives a second field the value of a first.
package struct CopyStep: StepKind {
    package static let key = "copy"

    let from: FieldPath
    let to: FieldPath
    var whenPresent = WhenPresent.report

    package var target: FieldPath { to }
    package var source: FieldPath? { from }
    package var quick: QuickCondition { .present(from, besides: [to]) }
    package var changesInPlace: Bool { whenPresent == .replace }
    package var looksInto: [FieldPath] { whenPresent == .replace ? [from, to] : [] }

    package var description: String {
        "copy \(from) to \(to)" + (whenPresent == .report ? "" : ", \(whenPresent.rawValue) what is there")
    }

    package var loss: String? {
        whenPresent == .replace ? "the values that \"\(to)\" held before" : nil
    }

    package func body() -> StepBody {
        let (source, target) = (Expression.field(from), Expression.field(to))
        let present = from.isReachable && !source.isMissing
        let differs = present && !target.isMissing && !Expression.same(target, source)
        return StepBody(
            wanted: whenPresent == .replace ? present && !Expression.same(target, source) : present && target.isMissing,
            value: source, isConcerned: present,
            conflicts: whenPresent == .replace
                ? [] : [(whenPresent == .keep ? .targetKept : .targetDiffers, differs)])
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
        self.init(from: pair.from, to: pair.to, whenPresent: pair.whenPresent)
    }
}

/// What stands under `copy` and under `rename`.
struct FieldPair {
    let from: FieldPath
    let to: FieldPath
    let whenPresent: WhenPresent

    init(_ node: YAMLNode, of key: String) throws(JobError) {
        let members = try node.members(of: "\"\(key)\"", allowed: ["from", "to", "whenPresent"])
        from = try members.required("from").fieldPath("from")
        let target = try members.required("to")
        to = try target.fieldPathBelowNoList("to")
        try target.checkApart(from, to)
        whenPresent = try members["whenPresent"]?.choice("whenPresent") ?? .report
    }
}
