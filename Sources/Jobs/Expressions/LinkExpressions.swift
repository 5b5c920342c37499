import BSON

extension BSONValue {
    /// Whether the value can be a link, which is the primary key of another document and neither an object nor a list.
    package var isLink: Bool {
        switch self {
        case .object, .array, .null, .undefined: false
        default: true
        }
    }
}

extension Expression {
    /// Whether the value can be a link.
    package var isLink: Expression { !hasType("missing", "null", "undefined", "object", "array") }

    /// Returns whether the value is a list with at least one element that meets the condition `such`.
    func isList(withElement such: (Expression) -> Expression) -> Expression {
        hasType("array")
            && Expression([
                "$anyElementTrue": [
                    Expression.call(
                        "$map", ["input": self, "as": Expression("element"), "in": such(.variable("element"))]
                    ).bson
                ]
            ])
    }
}
