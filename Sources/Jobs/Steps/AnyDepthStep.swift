package import BSON

/// A step that a job file may state for fields at any depth: `**.name` is each field `name`, and `**` each field.
///
/// Before a run, the program looks for these fields in the documents, and runs the step for each path that it finds.
package protocol AnyDepthStep: StepKind {
    var field: FieldPath { get set }
    /// Whether the field may be an element of a list or dictionary itself.
    var reachesElements: Bool { get }
    /// Whether the step may change a value of this kind; the step itself decides about each value.
    func concerns(_ element: BSONElement, in view: borrowing BSONView) throws(BSONError) -> Bool
}

extension FieldPath {
    /// The first component of a path that stands for fields at any depth.
    static let anyDepth = "**"

    package var isOfAnyDepth: Bool { components[0] == Self.anyDepth }
}

extension Step {
    /// The step's kind, if it is stated for fields at any depth; otherwise `nil`.
    package var anyDepth: (any AnyDepthStep)? {
        guard let kind = kind as? any AnyDepthStep, kind.field.isOfAnyDepth else { return nil }
        return kind
    }

    /// Returns the step for one of the fields that ``anyDepth`` stands for.
    package func found(at path: FieldPath) -> Step {
        guard var kind = anyDepth else { return self }
        kind.field = path
        var step = with(kind)
        step.isFound = true
        return step
    }
}
