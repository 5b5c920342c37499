package import BSON

/// An aggregation expression, with a few builders that avoid the pitfalls of MongoDB's operators.
///
/// Steps use only aggregation operators, because match-language `null`, `$exists` and `$type` look into arrays.
/// Constants go through `$literal`, so that a text with a leading `$` stays a text.
package struct Expression: Hashable, Sendable {
    /// The expression as it is sent to the server.
    package let bson: BSONValue

    /// Wraps an expression as it is sent to the server.
    package init(_ bson: BSONValue) { self.bson = bson }

    /// Returns an operator with its operands in order.
    package static func call(_ name: String, _ operands: Expression...) -> Expression {
        Expression(.object([name: .array(of: operands.map(\.bson))]))
    }

    /// Returns an operator with named operands.
    static func call(_ name: String, _ operands: KeyValuePairs<String, Expression>) -> Expression {
        Expression(.object([name: .object(BSONDocument(operands.map { ($0.key, $0.value.bson) }))]))
    }

    /// Returns an expression that gives the value itself.
    package static func constant(_ value: BSONValue) -> Expression { Expression(["$literal": value]) }

    /// Returns the value at a path of the document, or of the element that the path leads into; missing if the path
    /// leads nowhere.
    package static func field(_ path: FieldPath) -> Expression { Expression(.string("$\(path.local)")) }

    /// Returns a variable that an enclosing ``let(_:in:)`` binds.
    package static func variable(_ name: String) -> Expression { Expression(.string("$$\(name)")) }

    /// Binds variables for `body`.
    package static func `let`(_ variables: KeyValuePairs<String, Expression>, in body: Expression) -> Expression {
        .call(
            "$let",
            ["vars": Expression(.object(BSONDocument(variables.map { ($0.key, $0.value.bson) }))), "in": body])
    }

    /// The alias of the type; `missing` for a missing value.
    package var type: Expression {
        // The operator would take a list as its arguments.
        if case .array = bson { Expression(["$type": .array(of: [bson])]) } else { Expression(["$type": bson]) }
    }

    /// Returns whether the type is one of these aliases.
    package func hasType(_ aliases: String...) -> Expression { hasType(among: aliases) }

    /// Returns whether the type is one of these aliases.
    package func hasType(among aliases: [String]) -> Expression {
        .call("$in", type, Expression(.array(of: aliases.map { .object(["$literal": .string($0)]) })))
    }

    /// Whether the value is missing, `null` or `undefined`.
    package var isMissingOrNull: Expression { hasType("missing", "null", "undefined") }

    /// Whether the value is missing.
    package var isMissing: Expression { hasType("missing") }

    /// Whether the operand does not hold.
    package static prefix func ! (operand: Expression) -> Expression { .call("$not", operand) }

    /// Whether `$eq` finds the two equal.
    package static func == (left: Expression, right: Expression) -> Expression { .call("$eq", left, right) }

    /// Whether both hold; the right one is evaluated only if the left one holds.
    package static func && (left: Expression, right: Expression) -> Expression { .all([left, right]) }

    /// Whether one of the two holds; the right one is evaluated only if the left one does not.
    package static func || (left: Expression, right: Expression) -> Expression { .any([left, right]) }

    /// Returns whether all hold; they are evaluated in order, up to the first that does not.
    package static func all(_ operands: [Expression]) -> Expression {
        operands.count == 1 ? operands[0] : Expression(["$and": .array(of: operands.map(\.bson))])
    }

    /// Returns whether one holds; they are evaluated in order, up to the first that does.
    package static func any(_ operands: [Expression]) -> Expression {
        operands.count == 1 ? operands[0] : Expression(["$or": .array(of: operands.map(\.bson))])
    }

    /// Returns one of two values, depending on a condition.
    package static func choose(if condition: Expression, then: Expression, else other: Expression) -> Expression {
        .call("$cond", condition, then, other)
    }

    /// Whether a stage that sets a field takes this as an expression, and not as an object of fields to set.
    var isOperator: Bool {
        guard case .object(let object) = bson else { return true }
        return (try? object.elements().first?.name.hasPrefix("$")) ?? false
    }

    /// A match filter for the documents for which the expression holds.
    package var filter: BSONDocument { ["$expr": bson] }
}

/// Comparisons that are exact where `$eq` is not.
///
/// `$eq` treats 1 and 1.0, 0.0 and -0.0, and the decimals 1.5 and 1.50 as equal, and compares texts by the
/// collection's collation, under which `TRUE` can be `true`.
extension Expression {
    /// Returns whether two values have the same type and the same value; the decimals 1.5 and 1.50 are one value.
    ///
    /// This is for scalars: inside objects and arrays it sees no more than `$eq` does.
    static func sameValue(_ left: Expression, _ right: Expression) -> Expression {
        .let(
            ["left": left, "right": right],
            in: .all([leftVariable.type == rightVariable.type, leftVariable == rightVariable, hasSameBytes]))
    }

    /// Returns whether two values have the same type and exactly the same value, digits of a decimal included.
    ///
    /// Objects and arrays are compared exactly down to ``exactLevels`` levels. Values nested deeper are compared by
    /// `$eq` and by their size in bytes, which distinguishes `int` from every other number, but not 1 as `long` from
    /// 1.0, nor 1.5 from 1.50. A NaN equals a NaN. A wrong "same" loses no data where a target that holds a value is
    /// never overwritten.
    package static func same(_ left: Expression, _ right: Expression) -> Expression {
        same(left, right, deeper: size(leftVariable) == size(rightVariable))
    }

    /// Returns whether two values certainly have the same type and exactly the same value.
    ///
    /// The result is false for values that are nested deeper than ``exactLevels`` levels.
    static func identical(_ left: Expression, _ right: Expression) -> Expression {
        // A value that is as small as an empty object holds nothing.
        same(left, right, deeper: size(leftVariable) == size(.constant([:])))
    }

    /// Returns whether two texts have the same bytes, whatever the collation; both have to be texts.
    package static func sameText(_ left: Expression, _ right: Expression) -> Expression {
        .all([
            Expression(["$strLenBytes": left.bson]) == Expression(["$strLenBytes": right.bson]),
            .call("$indexOfBytes", left, right) == .constant(0),
        ])
    }

    /// The number of levels of objects and arrays that ``same(_:_:)`` compares exactly.
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

    /// Whether scalars `$$left` and `$$right` of one type that `$eq` finds equal are one value, digits aside.
    private static let hasSameBytes = Expression.all([
        .any([!leftVariable.hasType("string"), sameText(leftVariable, rightVariable)]),
        // Only a number is equal to 0.
        .any([!(leftVariable == .constant(0)), sign(leftVariable) == sign(rightVariable)]),
    ])

    /// Returns whether `$$left` and `$$right` of one type that `$eq` finds equal are the same, down to some levels.
    ///
    /// If they are objects, they have the same names in the same order; if they are arrays, they have the same length.
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

    /// Returns the size of a value within an object, in bytes.
    private static func size(_ value: Expression) -> Expression { Expression(["$bsonSize": ["v": value.bson]]) }
}

/// Lists and dictionaries, element by element.
///
/// `CURRENT` is bound to each element in turn, so that a path in an expression starts at the element.
extension Expression {
    /// Returns whether the condition holds for an element of the innermost container; `false` if there is no container.
    static func inSomeElement(of containers: [FieldPath], _ condition: Expression) -> Expression {
        containers.reversed().reduce(condition) { condition, container in
            .all([
                container.isContainer, .call("$anyElementTrue", elements(of: field(container)).map(to: condition)),
            ])
        }
    }

    /// Returns the container with another value for each element.
    static func rewriting(_ container: Expression, each value: Expression) -> Expression {
        .choose(
            if: container.hasType("array"), then: elements(of: container).map(to: value),
            else: Expression([
                "$arrayToObject": elements(of: container).map(to: Expression(["k": "$k", "v": value.bson])).bson
            ]))
    }

    /// Returns the elements of a list or the values of a dictionary, each as the `v` of an object.
    ///
    /// For a dictionary, the name is `k`. For anything else, the list is empty.
    static func elements(of container: Expression) -> Expression {
        .choose(
            if: container.hasType("array"),
            then: .call("$map", ["input": container, "as": Expression("item"), "in": Expression(["v": "$$item"])]),
            else: entries(of: container))
    }

    /// Returns the fields of an object, each as `k` and `v`.
    ///
    /// For anything else, the list is empty, so that the order of evaluation cannot cause an error.
    static func entries(of object: Expression) -> Expression {
        Expression(["$objectToArray": choose(if: object.hasType("object"), then: object, else: .constant([:])).bson])
    }

    /// Returns the list with each element replaced by `value`, in which `CURRENT` is the element.
    func map(to value: Expression) -> Expression {
        .call("$map", ["input": self, "as": Expression("CURRENT"), "in": value])
    }

    /// The new value that removes a field.
    static let removed = Expression("$$REMOVE")
}

extension FieldPath {
    /// Whether the field holds a list or a dictionary.
    var isContainer: Expression { isReachable && Expression.field(self).hasType("array", "object") }
}
