package import BSON
package import Checking
package import LocatedYAML
package import ServerSchema

/// Fills missing fields, and on request null ones, with a different ID in each document: `default` with `generate`.
package struct GenerateStep: StepKind {
    package static let key = "default"

    /// The field that the step fills with a new ID.
    package let field: FieldPath
    /// The type of the IDs, `objectId` or `uuid`.
    package let type: SchemaType
    /// Whether the step fills a null field as well as a missing one.
    package let nullsToo: Bool

    package var target: FieldPath { field }

    package var description: String {
        "default \(field): a generated \(type.rawValue) where missing\(nullsToo ? " or null" : "")"
    }

    package var loss: String? {
        nullsToo ? "whether \"\(field)\" was null or missing" : nil
    }

    package func fitted(to declared: SchemaType, at location: SourceLocation) throws(JobError) -> Self {
        guard type == declared || declared == .mixed else {
            throw JobError(
                "\"\(field)\" is filled with a generated \(type.rawValue), and the next schema declares "
                    + declared.rawValue, at: location)
        }
        return self
    }

    package func body() -> StepBody {
        let value = Expression.field(field)
        return StepBody(wanted: nullsToo ? value.isMissingOrNull : value.isMissing, value: .null)
    }

    package var clientComputation: ClientComputation? { .generate(self) }

    package func leavesSyncing(
        under schema: SchemaNode, declaring target: SchemaNode, assuming: CheckOptions
    ) -> Bool {
        target.types.contains { $0 == type || $0 == .mixed }
    }
}

extension GenerateStep {
    package init(_ node: YAMLNode) throws(JobError) {
        let members = try node.members(of: "\"default\"", allowed: DefaultStep.members)
        if let value = members["value"] { throw value.error("a default has either a value or \"generate\"") }
        let field = try members.required("field").fieldPathBelowNoList("field")
        let type = try members.required("generate").generatedType(or: DefaultStep.idTime)
        self.init(field: field, type: type, nullsToo: try members.fillsNulls())
    }
}
