package import BSON

/// An aggregation expression, and the few builders that keep its traps out of the steps.
///
/// Steps are written with aggregation operators alone: match-language `null`, `$exists` and `$type` look into arrays.
/// Constants go through `$literal`, so that a text with a leading `$` stays a text.
package struct Expression: Hashable, Sendable {
    /// The expression as it goes to the server.
    package let bson: BSONValue

    package init(_ bson: BSONValue) { self.bson = bson }

    /// The operator with these operands.
    package static func call(_ name: String, _ operands: Expression...) -> Expression {
        Expression(.object([name: .array(of: operands.map(\.bson))]))
    }

    /// The operator with named operands.
    static func call(_ name: String, _ operands: KeyValuePairs<String, Expression>) -> Expression {
        Expression(.object([name: .object(BSONDocument(operands.map { ($0.key, $0.value.bson) }))]))
    }

    /// The value itself.
    package static func constant(_ value: BSONValue) -> Expression { Expression(["$literal": value]) }

    /// The value at a path of the document, or of the element that the path leads into; missing where the path does not
    /// lead.
    package static func field(_ path: FieldPath) -> Expression { Expression(.string("$\(path.local)")) }

    /// A variable that an enclosing ``let(_:in:)`` binds.
    package static func variable(_ name: String) -> Expression { Expression(.string("$$\(name)")) }

    /// Binds variables for `body`.
    package static func `let`(_ variables: KeyValuePairs<String, Expression>, in body: Expression) -> Expression {
        .call(
            "$let",
            ["vars": Expression(.object(BSONDocument(variables.map { ($0.key, $0.value.bson) }))), "in": body])
    }

    /// The type's alias: `missing` for what is not there.
    package var type: Expression { Expression(["$type": bson]) }

    /// Whether the type is one of these aliases.
    package func hasType(_ aliases: String...) -> Expression { hasType(among: aliases) }

    /// Whether the type is one of these aliases.
    package func hasType(among aliases: [String]) -> Expression {
        .call("$in", type, Expression(.array(of: aliases.map { .object(["$literal": .string($0)]) })))
    }

    /// Whether there is no value, or `null` or `undefined` in its place.
    package var isMissingOrNull: Expression { hasType("missing", "null", "undefined") }

    /// Whether there is no value at all.
    package var isMissing: Expression { hasType("missing") }

    package static prefix func ! (operand: Expression) -> Expression { .call("$not", operand) }

    package static func == (left: Expression, right: Expression) -> Expression { .call("$eq", left, right) }

    package static func && (left: Expression, right: Expression) -> Expression { .all([left, right]) }

    package static func || (left: Expression, right: Expression) -> Expression { .any([left, right]) }

    /// Whether all hold; evaluated in order, up to the first that does not.
    package static func all(_ operands: [Expression]) -> Expression {
        operands.count == 1 ? operands[0] : Expression(["$and": .array(of: operands.map(\.bson))])
    }

    /// Whether one holds; evaluated in order, up to the first that does.
    package static func any(_ operands: [Expression]) -> Expression {
        operands.count == 1 ? operands[0] : Expression(["$or": .array(of: operands.map(\.bson))])
    }

    /// One of two values.
    package static func choose(if condition: Expression, then: Expression, else other: Expression) -> Expression {
        .call("$cond", condition, then, other)
    }

    /// Whether a stage that sets a field takes this for an expression, and not for an object of fields to be set.
    var isOperator: Bool {
        guard case .object(let object) = bson else { return true }
        return (try? object.elements().first?.name.hasPrefix("$")) ?? false
    }

    /// A match filter that holds where the expression does.
    package var filter: BSONDocument { ["$expr": bson] }
}
