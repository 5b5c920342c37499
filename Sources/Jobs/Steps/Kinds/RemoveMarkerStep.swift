package import BSON
package import LocatedYAML

/// Removes the field that marks a document as done.
///
/// The field is removed only if it holds `true`, the value that a step of the job writes. Only `job cleanup` runs this
/// step; a job file cannot name it.
package struct RemoveMarkerStep: StepKind {
    package static let key = "removeMarker"

    let field: FieldPath

    package init(field: FieldPath) { self.field = field }

    package var target: FieldPath { field }
    package var quick: QuickCondition { .present(field) }
    package var removed: [FieldPath] { [field] }

    package var description: String { "remove the marker \(field)" }

    /// Whether the document has the marker, with the value true.
    package var isMarked: Expression {
        .all([Expression.field(field).hasType("bool"), .field(field) == .constant(true)])
    }

    package func body() -> StepBody { StepBody(wanted: isMarked, value: .removed) }
}

extension RemoveMarkerStep {
    package init(_ node: YAMLNode) throws(JobError) { throw node.error("no step of a job is called \"\(Self.key)\"") }
}
