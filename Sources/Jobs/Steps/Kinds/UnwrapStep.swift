package import BSON
package import LocatedYAML
package import ServerSchema

/// Takes a value out of its container: a list of one element, or an object whose only field has the given name.
package struct UnwrapStep: StepKind {
    package static let key = "unwrap"

    let field: FieldPath
    /// The name of the object's field that holds the value; `nil` if the value is in a list.
    let from: String?

    package var target: FieldPath { field }
    package var quick: QuickCondition { .present(field) }
    package var readsInside: [FieldPath] { [field] }
    package var changesInPlace: Bool { true }

    package var description: String { "unwrap \(field) from \(from.map { "an object under \($0)" } ?? "a list")" }

    package var loss: String? {
        "which values of \"\(field)\" were in \(from == nil ? "a list" : "an object")"
    }

    package var determinesOldValue: Bool { from == nil }

    package func fitted(to type: SchemaType, at location: SourceLocation) throws(JobError) -> Self {
        guard from != nil || type != .array else {
            throw JobError(
                "\"\(field)\" is taken out of its list, but the next schema declares array", at: location)
        }
        return self
    }

    package func body() -> StepBody {
        let value = Expression.field(field)
        // A value that is wrapped twice, such as a list in a list, is skipped, because the next run would unwrap it
        // again, or report the document that this run repaired.
        let isOnce = Expression.let(["inner": inner(of: value)], in: !isWrapped(.variable("inner")))
        let canBeDone = isSingle(value) && isOnce
        return StepBody(
            wanted: canBeDone, value: inner(of: value), conflicts: [(.notSingle, isWrapped(value) && !canBeDone)])
    }

    /// Returns whether the value is a list, or an object that has a field with the name ``from``.
    private func isWrapped(_ value: Expression) -> Expression {
        guard let from else { return value.hasType("array") }
        let isName = Expression.sameText(Expression("$k"), .constant(.string(from)))
        return .call("$anyElementTrue", Expression.entries(of: value).map(to: isName))
    }

    private func inner(of value: Expression) -> Expression {
        guard from != nil else { return .call("$arrayElemAt", value, .constant(0)) }
        let entry = Expression.call("$arrayElemAt", Expression(["$objectToArray": value.bson]), .constant(0))
        return .let(["entry": entry], in: .variable("entry.v"))
    }

    /// Returns whether the value is a list of one element, or an object whose only field has the name ``from``.
    private func isSingle(_ value: Expression) -> Expression {
        guard let from else {
            return .all([value.hasType("array"), Expression(["$size": value.bson]) == .constant(1)])
        }
        let entries = Expression(["$objectToArray": value.bson])
        let name = Expression.let(
            ["entry": .call("$arrayElemAt", entries, .constant(0))], in: .variable("entry.k"))
        return .all([
            value.hasType("object"), Expression(["$size": entries.bson]) == .constant(1),
            .sameText(name, .constant(.string(from))),
        ])
    }
}

extension UnwrapStep {
    package init(_ node: YAMLNode) throws(JobError) {
        let members = try node.members(of: "\"unwrap\"", allowed: ["field", "from"])
        self.init(
            field: try members.required("field").fieldPath("field"), from: try members["from"]?.fieldName("from"))
    }
}
