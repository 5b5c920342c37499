package import BSON
package import Checking
package import LocatedYAML
package import ServerSchema

/// Copies a field's value to another field, and removes the first field once the second one holds the value.
package struct RenameStep: TargetRuled {
    package static let key = "rename"

    let from: FieldPath
    let to: FieldPath
    var rule = TargetRule()
    /// Whether missing parents of the target are created.
    var createsParents = false

    package var target: FieldPath { to }
    package var source: FieldPath? { from }
    var taken: [FieldPath] { [from] }
    package var sources: [FieldPath] { [] }
    package var removed: [FieldPath] { [from] }
    package var movedFrom: FieldPath? { from }
    package var refresh: (any StepKind)? {
        rule.whenPresent == .refresh ? CopyStep(from: from, to: to, rule: rule.replacing) : nil
    }

    package var description: String {
        "rename \(from) to \(to)" + (createsParents ? ", creating its parents" : "") + rule.words
    }

    package var loss: String? { copy.loss }

    /// The two steps of a rename: the copy, and the removal of the old field.
    ///
    /// Only the removal reports a document in which the two fields differ.
    package var parts: [any StepKind] {
        copy.parts + [
            RemoveCopiedStep(
                from: from, to: to, reports: rule.whenPresent != .keep, nullsToo: rule.nullsToo, later: rule.later)
        ]
    }

    private var copy: CopyStep {
        var rule = rule
        if rule.whenPresent != .replace { rule.whenPresent = .keep }
        return CopyStep(from: from, to: to, rule: rule, createsParents: createsParents)
    }

    package func body() -> StepBody { copy.body() }
}

extension RenameStep {
    package init(_ node: YAMLNode) throws(JobError) {
        self.init(try FieldPair.all(node, of: Self.key)[0])
    }

    private init(_ pair: FieldPair) {
        self.init(from: pair.from, to: pair.to, rule: pair.rule, createsParents: pair.createsParents)
    }

    package static func read(_ node: YAMLNode) throws(JobError) -> [any StepKind] {
        let pairs = try FieldPair.all(node, of: key)
        guard !pairs.contains(where: { $0.from.components.last == FieldPath.each }) else {
            throw node.error("\"from\": an element of a list cannot be renamed: name a field of it")
        }
        return pairs.map { Self($0) }
    }
}

/// Removes a field if a second field holds the same value.
///
/// This step is the second of the two steps of ``RenameStep``; a job file cannot name it.
package struct RemoveCopiedStep: StepKind {
    package static let key = "removeCopied"

    let from: FieldPath
    let to: FieldPath
    /// Whether a document in which the fields `from` and `to` differ is reported.
    let reports: Bool
    /// Whether the step also removes the field `from` if it is null and the field `to` holds any value.
    var nullsToo = false
    /// The later steps of the job that change the field `to`.
    var later = LaterSteps()

    package var target: FieldPath { from }
    package var source: FieldPath? { to }
    package var removed: [FieldPath] { [from] }
    package var quick: QuickCondition { .present(from, with: [to]) }
    package var readsInside: [FieldPath] { [from, to] }

    package var description: String { "remove \(from) where \(to) holds its value" }

    package func body() -> StepBody {
        let (first, second) = (Expression.field(from), Expression.field(to))
        let present = from.isReachable && !first.isMissing
        let paired = present && to.isReachable && !second.isMissing
        let isSame = Expression.same(second, first)
        let isNothing = nullsToo ? first.isMissingOrNull : .constant(false)
        // After a run, the field `to` holds what the later steps made of the value.
        let isMade = [later.makesTheSame(of: second, first, in: to)].compactMap(\.self)
        let isIdentical = Expression.any(
            (nullsToo ? [isNothing] : []) + [.identical(second, first)] + isMade)
        return StepBody(
            wanted: paired && isIdentical, value: .removed,
            // If a parent of a field is missing or not an object, this step does not report the document, because the
            // step that copies the field already does.
            applies: .constant(false),
            conflicts: [
                (
                    reports ? .targetDiffers : .targetKept,
                    .all([paired] + (nullsToo ? [!isNothing] : []) + [!isSame] + isMade.map { !$0 })
                ), (.tooDeep, .all([paired, isSame, !isIdentical])),
            ])
    }
}

extension RemoveCopiedStep {
    package func leavesSyncing(
        under schema: SchemaNode, declaring target: SchemaNode, assuming: CheckOptions
    ) -> Bool { UnsetStep.leavesSyncing(without: from, under: schema) }

    package init(_ node: YAMLNode) throws(JobError) { throw node.error("no step of a job is called \"\(Self.key)\"") }
}
