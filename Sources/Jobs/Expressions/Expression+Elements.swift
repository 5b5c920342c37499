import BSON

/// Lists and dictionaries, element by element.
///
/// `CURRENT` is bound to each element in turn, so that an expression over paths means the element's own.
extension Expression {
    /// Whether the condition holds for one of the elements of the innermost container; `false` where a container is
    /// none.
    static func inSomeElement(of containers: [FieldPath], _ condition: Expression) -> Expression {
        containers.reversed().reduce(condition) { condition, container in
            .all([
                container.isContainer, .call("$anyElementTrue", elements(of: field(container)).map(to: condition)),
            ])
        }
    }

    /// The container with another value for each element.
    static func rewriting(_ container: Expression, each value: Expression) -> Expression {
        .choose(
            if: container.hasType("array"), then: elements(of: container).map(to: value),
            else: Expression([
                "$arrayToObject": elements(of: container).map(to: Expression(["k": "$k", "v": value.bson])).bson
            ]))
    }

    /// The elements of a list and the values of a dictionary, each as the `v` of an object; of a dictionary with its
    /// name as `k`; none of anything else.
    static func elements(of container: Expression) -> Expression {
        .choose(
            if: container.hasType("array"),
            then: .call("$map", ["input": container, "as": Expression("item"), "in": Expression(["v": "$$item"])]),
            else: entries(of: container))
    }

    /// The fields of an object, each as `k` and `v`; none of anything else, so that no order of evaluation makes an error.
    static func entries(of object: Expression) -> Expression {
        Expression(["$objectToArray": choose(if: object.hasType("object"), then: object, else: .constant([:])).bson])
    }

    /// The list with each element, which is `CURRENT` for `value`, replaced.
    func map(to value: Expression) -> Expression {
        .call("$map", ["input": self, "as": Expression("CURRENT"), "in": value])
    }

    /// What takes a field away where it is the field's new value.
    static let removed = Expression("$$REMOVE")
}

extension FieldPath {
    /// Whether a list or a dictionary stands there.
    var isContainer: Expression { isReachable && Expression.field(self).hasType("array", "object") }
}
