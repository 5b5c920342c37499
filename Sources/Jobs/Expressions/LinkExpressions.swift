import BSON

extension BSONValue {
    /// Whether it can be a link: the primary key of another document, which is neither an object nor a list.
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

    /// Whether the value is a list that holds such an element.
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
