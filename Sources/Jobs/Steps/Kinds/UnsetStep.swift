package import BSON
package import Checking
package import LocatedYAML
package import ServerSchema

/// Removes a field; with `when`, only if its value is null or undefined, or an empty object or list.
package struct UnsetStep: AnyDepthStep {
    package static let key = "unset"

    enum When: String, CaseIterable {
        /// The step removes all values, including `null`.
        case present
        case null
        /// The step removes only the deprecated value `undefined`.
        case undefined
        case empty
    }

    package var field: FieldPath
    var when = When.present
    /// Whether the step leaves nulls, because it only removes a value that an earlier step took over.
    var leavesNulls = false

    package var target: FieldPath { field }
    package var quick: QuickCondition { .present(field) }
    package var removed: [FieldPath] { [field] }
    package var changesInPlace: Bool { when != .present }

    package var description: String { "unset \(field)" + (when == .present ? "" : " where \(when.rawValue)") }

    package var loss: String? {
        switch when {
        case .present: "the values of \"\(field)\""
        case .null, .undefined: "whether \"\(field)\" was \(when.rawValue) or missing"
        case .empty: "whether \"\(field)\" was empty or missing"
        }
    }

    package func body() -> StepBody {
        let value = Expression.field(field)
        return StepBody(
            wanted: isDue(value), value: .removed,
            // A missing parent, or one of another type, is not reported, because there is nothing to remove. But a list
            // is, if the path names an element of it by its number.
            applies: namesElement ?? .constant(false))
    }

    /// The condition that the path names an element of a list by its number; `nil` for a path without a number.
    private var namesElement: Expression? {
        let names = field.local.components
        let lists = names.indices.dropFirst().filter { names[$0].allSatisfy(\.isNumber) }.map { index in
            let parents = FieldPath(trusted: Array(names[..<index]))
            return parents.isReachable && Expression.field(parents).hasType("array")
        }
        return lists.isEmpty ? nil : .any(lists)
    }

    private func isDue(_ value: Expression) -> Expression {
        switch when {
        case .present: leavesNulls ? !value.isMissingOrNull : !value.isMissing
        case .null: value.hasType("null", "undefined")
        case .undefined: value.hasType("undefined")
        case .empty: .any([value == .constant([:]), value == .constant(.array(of: []))])
        }
    }

    package var reachesElements: Bool { false }

    package func concerns(_ element: BSONElement, in view: borrowing BSONView) throws(BSONError) -> Bool {
        switch when {
        case .present: return true
        case .null: return element.type == .null || element.type == .undefined
        case .undefined: return element.type == .undefined
        case .empty: return try Self.isHollow(element, in: view)
        }
    }

    /// Whether the value is an empty list, or an object that is empty or holds only such values.
    private static func isHollow(_ element: BSONElement, in view: borrowing BSONView) throws(BSONError) -> Bool {
        guard element.type == .object || element.type == .array else { return false }
        let inside = try view.document(element)
        var position = inside.firstPosition
        while let entry = try inside.next(&position) {
            guard element.type == .object, try isHollow(entry, in: inside) else { return false }
        }
        return true
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
        let node = try members.required("field")
        self.init(
            field: try node.fieldPathBelowNoList("field", anyDepth: true),
            when: try members["when"]?.choice("when") ?? .present)
        guard when != .present || field.components != [FieldPath.anyDepth] else {
            throw node.error("\"**\" is every field: name a field after it, as in \"**.tmp\", or add \"when\"")
        }
    }
}
