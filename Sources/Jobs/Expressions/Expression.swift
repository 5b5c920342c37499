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
    package var type: Expression {
        // A list would be taken for the operator's arguments.
        if case .array = bson { Expression(["$type": .array(of: [bson])]) } else { Expression(["$type": bson]) }
    }

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

/// Comparisons that are exact where `$eq` is not.
///
/// `$eq` takes 1 and 1.0, 0.0 and -0.0, and the decimals 1.5 and 1.50 for equal, and compares texts by the collection's
/// collation, under which `TRUE` can be `true`.
extension Expression {
    /// Whether two values have the same type and the same value; the decimals 1.5 and 1.50 are one value.
    ///
    /// For scalars: inside objects and arrays this sees no more than `$eq` does.
    static func sameValue(_ left: Expression, _ right: Expression) -> Expression {
        .let(
            ["left": left, "right": right],
            in: .all([leftVariable.type == rightVariable.type, leftVariable == rightVariable, hasSameBytes]))
    }

    /// Whether two values have the same type and exactly the same value, digits of a decimal included.
    ///
    /// Objects and arrays are compared exactly down to ``exactLevels`` levels. What is nested deeper is compared by `$eq`
    /// and by its size in bytes, which tells `int` from every other number but neither 1 as `long` from 1.0 nor 1.5 from
    /// 1.50; a NaN is a NaN. A wrong "same" loses no data where a target that holds a value is never overwritten.
    package static func same(_ left: Expression, _ right: Expression) -> Expression {
        same(left, right, deeper: size(leftVariable) == size(rightVariable))
    }

    /// Whether two values are certain to have the same type and exactly the same value: never where they are nested
    /// deeper than ``exactLevels`` levels.
    static func identical(_ left: Expression, _ right: Expression) -> Expression {
        // Nothing is in what is as small as an empty object.
        same(left, right, deeper: size(leftVariable) == size(.constant([:])))
    }

    /// Whether two texts have the same bytes, whatever the collation; both have to be texts.
    package static func sameText(_ left: Expression, _ right: Expression) -> Expression {
        .all([
            Expression(["$strLenBytes": left.bson]) == Expression(["$strLenBytes": right.bson]),
            .call("$indexOfBytes", left, right) == .constant(0),
        ])
    }

    /// How many levels of objects and arrays ``same(_:_:)`` compares exactly.
    static let exactLevels = 5

    private static let leftVariable = Expression.variable("left")
    private static let rightVariable = Expression.variable("right")

    private static func same(_ left: Expression, _ right: Expression, deeper: Expression) -> Expression {
        .let(
            ["left": left, "right": right],
            in: .all([
                leftVariable.type == rightVariable.type, leftVariable == rightVariable,
                hasSameInside(levels: exactLevels, deeper: deeper),
            ]))
    }

    /// For `$$left` and `$$right` of one type that are equal.
    private static let hasSameBytes = Expression.all([
        .any([!leftVariable.hasType("string"), sameText(leftVariable, rightVariable)]),
        // Only a number is equal to 0.
        .any([!(leftVariable == .constant(0)), sign(leftVariable) == sign(rightVariable)]),
    ])

    /// For `$$left` and `$$right` of one type that are equal: their objects have the same names in the same order then,
    /// and their arrays the same length.
    private static func hasSameInside(levels: Int, deeper: Expression) -> Expression {
        .all([
            hasSameBytes,
            .any([!leftVariable.hasType("decimal"), text(leftVariable) == text(rightVariable)]),
            .any([
                !leftVariable.hasType("object", "array"),
                levels == 0 ? deeper : .call("$allElementsTrue", inside(levels: levels - 1, deeper: deeper)),
            ]),
        ])
    }

    private static func inside(levels: Int, deeper: Expression) -> Expression {
        let pairs = Expression([
            "$zip": ["inputs": [elements(of: leftVariable).bson, elements(of: rightVariable).bson]]
        ])
        func item(_ index: Int32) -> Expression {
            .let(["item": .call("$arrayElemAt", .variable("pair"), .constant(.int(index)))], in: .variable("item.v"))
        }
        let areSame = Expression.let(
            ["left": item(0), "right": item(1)],
            in: .all([leftVariable.type == rightVariable.type, hasSameInside(levels: levels, deeper: deeper)]))
        return .call("$map", ["input": pairs, "as": Expression("pair"), "in": areSame])
    }

    private static func text(_ number: Expression) -> Expression { Expression(["$toString": number.bson]) }

    private static func sign(_ value: Expression) -> Expression {
        .call("$substrBytes", text(value), .constant(0), .constant(1))
    }

    /// The bytes of a value within an object.
    private static func size(_ value: Expression) -> Expression { Expression(["$bsonSize": ["v": value.bson]]) }
}

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
