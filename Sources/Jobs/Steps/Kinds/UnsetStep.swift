package import BSON
package import Checking
package import LocatedYAML
package import ServerSchema

/// Removes a field; with `when: null`, only if its value is null or undefined.
package struct UnsetStep: StepKind {
    package static let key = "unset"

    /// The values that the step removes.
    enum When: String, CaseIterable {
        /// The step removes all values, including `null`.
        case present
        /// The step removes only the values `null` and `undefined`.
        case null
    }

    package let field: FieldPath
    var when = When.present

    package var target: FieldPath { field }
    package var quick: QuickCondition { .present(field) }
    package var removed: [FieldPath] { [field] }
    package var changesInPlace: Bool { when == .null }

    package var description: String { "unset \(field)" + (when == .null ? " where null" : "") }

    package var loss: String? {
        when == .null
            ? "whether \"\(field)\" was null or missing"
            : "the values of \"\(field)\""
    }

    package func body() -> StepBody {
        let value = Expression.field(field)
        return StepBody(
            wanted: when == .null ? value.hasType("null", "undefined") : !value.isMissing, value: .removed,
            // If a parent is missing, the document is not reported, because there is nothing to remove.
            applies: .constant(false))
    }

    package func leavesSyncing(
        under schema: SchemaNode, declaring target: SchemaNode, assuming: CheckOptions
    ) -> Bool { Self.leavesSyncing(without: field, under: schema) }

    /// Whether the schema proves that syncing documents still sync without the field; `false` for fields inside
    /// objects.
    ///
    /// A field inside an object might be part of a geo point, so the schema alone does not prove that its removal is
    /// safe.
    static func leavesSyncing(without field: FieldPath, under schema: SchemaNode) -> Bool {
        !schema.requires(field) && field.components.count == 1
    }
}

extension UnsetStep {
    package init(_ node: YAMLNode) throws(JobError) {
        let members = try node.members(of: "\"unset\"", allowed: ["field", "when"])
        self.init(
            field: try members.required("field").fieldPathBelowNoList("field"),
            when: try members["when"]?.choice("when") ?? .present)
    }
}
