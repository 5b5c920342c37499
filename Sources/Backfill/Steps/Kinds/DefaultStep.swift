package import BSON
package import Checking
package import LocatedYAML
package import ServerSchema

/// Fills a field that is not there.
package struct DefaultStep: StepKind {
    package static let key = "default"

    let field: FieldPath
    package let value: BSONValue
    /// Whether a null is filled too.
    let nullsToo: Bool

    package var target: FieldPath { field }

    package var description: String {
        "default \(field): a value of type \(value.type) where missing\(nullsToo ? " or null" : "")"
    }

    package func fitted(to type: SchemaType, at location: SourceLocation) throws(JobError) -> Self {
        guard let fitted = StepFitting.fit(value, to: type) else {
            throw JobError(
                "the default of \"\(field)\" has type \(value.type), and the next schema declares \(type.rawValue)",
                at: location)
        }
        return DefaultStep(field: field, value: fitted, nullsToo: nullsToo)
    }

    package func body() -> StepBody {
        StepBody(
            wanted: nullsToo ? Expression.field(field).isMissingOrNull : Expression.field(field).isMissing,
            value: .constant(value))
    }

    package func leavesSyncing(
        under schema: SchemaNode, declaring target: SchemaNode, assuming assumptions: CheckOptions
    ) -> Bool {
        // The whole field is that constant then, whatever the document is.
        schema.fits(value, at: field, assuming: assumptions)
    }
}

extension DefaultStep {
    package static func read(_ node: YAMLNode) throws(JobError) -> any StepKind {
        node.hasMember("generate") ? try GenerateStep(node) : try DefaultStep(node)
    }

    package init(_ node: YAMLNode) throws(JobError) {
        let members = try node.members(of: "\"default\"", allowed: ["field", "value", "when"])
        let field = try members.required("field").fieldPath("field")
        let value = try JobLiteral.value(try members.required("value"))
        let nullsToo = try members.fillsNulls()
        guard !nullsToo || (value != .null && value != .undefined) else {
            throw node.error("a default of null never ends the need for one: give another value, or \"when: missing\"")
        }
        self.init(field: field, value: value, nullsToo: nullsToo)
    }
}

extension YAMLMembers {
    /// What a default says under `when`: whether a null is filled too.
    func fillsNulls() throws(JobError) -> Bool {
        guard let when = self["when"] else { return false }
        switch try when.text(of: "\"when\"") {
        case "missing": return false
        case "missingOrNull": return true
        default: throw when.error("\"when\" must be missing or missingOrNull")
        }
    }
}
