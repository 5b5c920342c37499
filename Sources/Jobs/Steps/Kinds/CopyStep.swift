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
    /// Whether missing parents of the target are created.
    var createsParents = false

    package var target: FieldPath { to }
    package var source: FieldPath? { from }
    var taken: [FieldPath] { [from] }
    package var quick: QuickCondition { .present(from, with: [to]) }
    package var readsInside: [FieldPath] { rule.whenPresent == .replace ? [from, to] : [] }

    package var description: String {
        "copy \(from) to \(to)" + (createsParents ? ", creating its parents" : "") + rule.words
    }

    package var parts: [any StepKind] {
        guard createsParents else { return [self] }
        var copy = self
        copy.createsParents = false
        return CreateParentStep.steps(to: to, for: from, nullsToo: rule.nullsToo) + [copy]
    }

    package func refreshIncludes(_ conversion: any StepKind) -> Bool {
        conversion.inPlaceConversion != nil && conversion.target == to
    }

    package func body() -> StepBody {
        let source = Expression.field(from)
        // If the rule treats a null in the target as missing, a null in the source also counts as missing. Otherwise,
        // the step would copy the null, and the target would still count as missing.
        let present = from.isReachable && !(rule.nullsToo ? source.isMissingOrNull : source.isMissing)
        return StepBody(
            wanted: present && rule.isWanted(source, in: to), value: rule.written(source, to: to), applies: present,
            conflicts: [rule.conflict(source, in: to, where: present)].compactMap(\.self))
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
        self.init(try FieldPair.all(node, of: Self.key)[0])
    }

    private init(_ pair: FieldPair) {
        self.init(from: pair.from, to: pair.to, rule: pair.rule, createsParents: pair.createsParents)
    }

    package static func read(_ node: YAMLNode) throws(JobError) -> [any StepKind] {
        try FieldPair.all(node, of: key).map { Self($0) }
    }
}

/// The settings that `copy` and `rename` have in common.
struct FieldPair {
    let from: FieldPath
    let to: FieldPath
    let rule: TargetRule
    /// Whether missing parents of the target are created.
    let createsParents: Bool

    private enum Parents: String, CaseIterable { case keep, create }

    /// Reads `from` and `to`, or several pairs below `fields`.
    static func all(_ node: YAMLNode, of key: String) throws(JobError) -> [FieldPair] {
        let members = try node.members(
            of: "\"\(key)\"", allowed: ["from", "to", "fields", "parents"] + YAMLMembers.targetRule)
        guard let fields = members["fields"] else {
            return [try FieldPair(from: try members.required("from"), to: try members.required("to"), of: key, members)]
        }
        if let node = members["from"] ?? members["to"] { throw node.error("give either \"fields\" or one pair") }
        var pairs: [FieldPair] = []
        for (name, target) in try fields.entries(of: "\"fields\"") {
            pairs.append(try FieldPair(from: fields.key(name), to: target, of: key, members))
        }
        guard !pairs.isEmpty else { throw fields.error("\"fields\" names no field") }
        return pairs
    }

    private init(
        from source: YAMLNode, to target: YAMLNode, of key: String, _ members: YAMLMembers
    ) throws(JobError) {
        from = key == CopyStep.key ? try source.sourcePath("from") : try source.fieldPath("from")
        to = try target.fieldPathBelowNoList("to")
        try target.checkApart(from, to)
        rule = try members.targetRule()
        createsParents = try members["parents"]?.choice("parents") as Parents? == .create
    }
}
