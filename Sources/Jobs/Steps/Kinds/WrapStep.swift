package import BSON
package import LocatedYAML
package import ServerSchema

/// Turns a value into a list that contains only the value, or into an object whose only field holds the value.
package struct WrapStep: StepKind {
    package static let key = "wrap"

    let field: FieldPath
    /// The name of the new object's only field, which gets the value; `nil` to make a list.
    let under: String?

    package var target: FieldPath { field }
    package var quick: QuickCondition { .present(field) }
    package var readsInside: [FieldPath] { [field] }
    package var changesInPlace: Bool { true }

    package var description: String { "wrap \(field) in \(under.map { "an object under \($0)" } ?? "a list")" }

    package var loss: String? {
        "which values of \"\(field)\" were in \(under == nil ? "a list" : "an object") already"
    }

    package func fitted(to type: SchemaType, at location: SourceLocation) throws(JobError) -> Self {
        let made: SchemaType = under == nil ? .array : .object
        guard type == made || type == .mixed else {
            throw JobError(
                "\"\(field)\" becomes a value of type \(made.rawValue), and the next schema declares \(type.rawValue)",
                at: location)
        }
        return self
    }

    package func body() -> StepBody {
        let value = Expression.field(field)
        let present = !value.isMissingOrNull
        guard let under else {
            return StepBody(wanted: present && !value.hasType("array"), value: Expression([value.bson]))
        }
        let isObject = value.hasType("object")
        let inner = Expression.field(FieldPath(trusted: field.components + [under]))
        return StepBody(
            wanted: present && !isObject, value: Expression([under: value.bson]),
            conflicts: [(.wrongType, isObject && inner.isMissing)])
    }
}

extension WrapStep {
    package init(_ node: YAMLNode) throws(JobError) {
        let members = try node.members(of: "\"wrap\"", allowed: ["field", "under"])
        self.init(
            field: try members.required("field").fieldPath("field"), under: try members["under"]?.fieldName("under"))
    }
}
