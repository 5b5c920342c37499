package import BSON
package import LocatedYAML

/// Creates the parent of a field that is missing or null, where another field has a value for it.
///
/// This step is a part of ``CopyStep`` and ``RenameStep``; a job file cannot name it.
package struct CreateParentStep: StepKind {
    package static let key = "createParent"

    let parent: FieldPath
    /// The field whose value is going to be written inside the parent.
    let value: FieldPath
    /// Whether a null counts as no value.
    let nullsToo: Bool

    /// Returns the steps that create the parents of `target` inside its element, the outermost first.
    static func steps(to target: FieldPath, for value: FieldPath, nullsToo: Bool) -> [any StepKind] {
        let start = target.elementPath.count
        let inner = target.components.count
        guard inner - start > 1 else { return [] }
        return (start + 1..<inner).map { count in
            let parent = FieldPath(trusted: Array(target.components[..<count]))
            return CreateParentStep(parent: parent, value: value, nullsToo: nullsToo)
        }
    }

    package var target: FieldPath { parent }
    package var quick: QuickCondition { .present(value) }
    package var description: String { "create \(parent) where \(value) has a value" }

    package func body() -> StepBody {
        let new = Expression.field(value)
        let isGiven = value.isReachable && !(nullsToo ? new.isMissingOrNull : new.isMissing)
        return StepBody(
            wanted: isGiven && Expression.field(parent).isMissingOrNull, value: .constant([:]),
            // The copy reports a parent that is not an object.
            applies: .constant(false))
    }
}

extension CreateParentStep {
    package init(_ node: YAMLNode) throws(JobError) { throw node.error("no step of a job is called \"\(Self.key)\"") }
}
