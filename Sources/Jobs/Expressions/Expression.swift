package import BSON

/// An aggregation expression, with builders that avoid the pitfalls of MongoDB's operators.
///
/// Conditions use aggregation operators, because a query's `null`, `$exists` and `$type` also look into arrays.
/// Constants are wrapped in `$literal`, so that a text with a leading `$` stays a text.
package struct Expression: Hashable, Sendable {
    /// The expression as it is sent to the server.
    package let bson: BSONValue

    /// Wraps an expression that is already in the format that the server expects.
    package init(_ bson: BSONValue) { self.bson = bson }

    package static func call(_ name: String, _ operands: Expression...) -> Expression {
        Expression(.object([name: .array(of: operands.map(\.bson))]))
    }

    /// Returns the call of an operator with named operands.
    static func call(_ name: String, _ operands: KeyValuePairs<String, Expression>) -> Expression {
        Expression(.object([name: .object(BSONDocument(operands.map { ($0.key, $0.value.bson) }))]))
    }

    /// Returns an expression whose result is the given value.
    package static func constant(_ value: BSONValue) -> Expression { Expression(["$literal": value]) }

    /// Returns an expression for the value at a path; if the document has no field at the path, the value is missing.
    ///
    /// For a path into the elements of a list or dictionary, the expression begins at the innermost element.
    package static func field(_ path: FieldPath) -> Expression { Expression(.string("$\(path.local)")) }

    /// Returns a variable that an enclosing ``let(_:in:)`` or `$map` binds, or a variable of the server, such as `NOW`.
    package static func variable(_ name: String) -> Expression { Expression(.string("$$\(name)")) }

    /// Returns an expression that binds variables and evaluates `body` with them.
    package static func `let`(_ variables: KeyValuePairs<String, Expression>, in body: Expression) -> Expression {
        .call(
            "$let",
            ["vars": Expression(.object(BSONDocument(variables.map { ($0.key, $0.value.bson) }))), "in": body])
    }

    /// The alias of the value's BSON type, such as `string`; `missing` for a missing value.
    package var type: Expression {
        // `$type` takes a list as the list of its operands, so a list is put inside another one.
        if case .array = bson { Expression(["$type": .array(of: [bson])]) } else { Expression(["$type": bson]) }
    }

    package func hasType(_ aliases: String...) -> Expression { hasType(among: aliases) }

    package func hasType(among aliases: [String]) -> Expression {
        .call("$in", type, Expression(.array(of: aliases.map { .object(["$literal": .string($0)]) })))
    }

    package var isMissingOrNull: Expression { hasType("missing", "null", "undefined") }

    package var isMissing: Expression { hasType("missing") }

    /// Whether the condition does not hold.
    package static prefix func ! (operand: Expression) -> Expression { .call("$not", operand) }

    /// Whether `$eq` finds the two values equal.
    package static func == (left: Expression, right: Expression) -> Expression { .call("$eq", left, right) }

    /// Whether both conditions hold; the right one is evaluated only if the left one holds.
    package static func && (left: Expression, right: Expression) -> Expression { .all([left, right]) }

    /// Whether at least one of the conditions holds; the right one is evaluated only if the left one does not hold.
    package static func || (left: Expression, right: Expression) -> Expression { .any([left, right]) }

    /// Returns whether all conditions hold; they are evaluated in order, up to the first one that does not hold.
    package static func all(_ operands: [Expression]) -> Expression {
        operands.count == 1 ? operands[0] : Expression(["$and": .array(of: operands.map(\.bson))])
    }

    /// Returns whether at least one condition holds; the conditions are evaluated in order, up to the first one that
    /// holds.
    package static func any(_ operands: [Expression]) -> Expression {
        operands.count == 1 ? operands[0] : Expression(["$or": .array(of: operands.map(\.bson))])
    }

    /// Returns an expression for the value `then` if the condition holds, and for the value `other` otherwise.
    package static func choose(if condition: Expression, then: Expression, else other: Expression) -> Expression {
        .call("$cond", condition, then, other)
    }

    /// Whether `$set` takes the expression as one value; `false` for an object without an operator, which `$set` sets
    /// field by field.
    var isOperator: Bool {
        guard case .object(let object) = bson else { return true }
        return (try? object.elements().first?.name.hasPrefix("$")) ?? false
    }

    /// A query filter that matches the documents for which the expression holds.
    package var filter: BSONDocument { ["$expr": bson] }
}

/// Comparisons that are exact where `$eq` is not.
///
/// `$eq` treats 1 and 1.0, 0.0 and -0.0, and the decimals 1.5 and 1.50 as equal, and compares texts by the collection's
/// collation, under which `TRUE` can equal `true`.
extension Expression {
    /// Returns whether two values have the same type and the same value; the decimals 1.5 and 1.50 count as one value.
    ///
    /// The comparison is meant only for scalars: inside objects and arrays, it is as loose as `$eq`.
    static func sameValue(_ left: Expression, _ right: Expression) -> Expression {
        compared(left, right, by: isSameValue)
    }

    /// Returns whether two values have the same type and exactly the same value, including the digits of decimals; a
    /// NaN equals a NaN.
    ///
    /// Objects and arrays are compared exactly down to ``exactLevels`` levels. Values nested deeper are compared by
    /// `$eq` and by their size in bytes. This comparison does not distinguish 1 as `long` from 1.0, nor 1.5 from 1.50,
    /// so a caller that removes one of two equal values uses ``identical(_:_:)``.
    package static func same(_ left: Expression, _ right: Expression) -> Expression {
        compared(left, right, by: isSame)
    }

    /// Does the same as ``same(_:_:)`` with a shorter expression.
    /// - Parameter levels: the most levels of objects and arrays that one of the values has, such as 2 for an array of
    ///   objects that contain only scalars.
    static func same(_ left: Expression, _ right: Expression, levels: Int) -> Expression {
        compared(left, right, by: levels < exactLevels ? isSameOfLevels[levels] : isSame)
    }

    /// Returns whether two values are the same; one of them must be null, a text, a whole number, a bool, a date or an
    /// ObjectId.
    ///
    /// The server evaluates this condition faster than ``same(_:_:)``.
    static func sameSimple(_ left: Expression, _ right: Expression) -> Expression {
        compared(left, right, by: isSameSimple)
    }

    /// Returns whether two values certainly have the same type and exactly the same value.
    ///
    /// The result is false if an object or array that is not empty is nested deeper than ``exactLevels`` levels.
    static func identical(_ left: Expression, _ right: Expression) -> Expression {
        compared(left, right, by: isIdentical)
    }

    /// Returns whether two texts have the same bytes, whatever the collation; both values must be texts.
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

    private static func compared(_ left: Expression, _ right: Expression, by condition: Expression) -> Expression {
        .let(["left": left, "right": right], in: condition)
    }

    private static let isSame = areEqual(hasSameInside(deeper: size(leftVariable) == size(rightVariable)))
    /// The condition of ``same(_:_:levels:)``, by the number of levels.
    private static let isSameOfLevels = (0..<exactLevels).map {
        areEqual(hasSameInside(levels: $0, deeper: size(leftVariable) == size(rightVariable)))
    }
    // Objects and arrays below the deepest level that is compared exactly count as identical only if they are empty,
    // because others could differ in a value inside them. An empty one has the size of an empty object.
    private static let isIdentical = areEqual(hasSameInside(deeper: size(leftVariable) == size(.constant([:]))))
    private static let isSameValue = areEqual(hasSameBytes)
    private static let isSameSimple = areEqual(
        .any([!leftVariable.hasType("string"), sameText(leftVariable, rightVariable)]))

    private static func areEqual(_ condition: Expression) -> Expression {
        .all([leftVariable.type == rightVariable.type, leftVariable == rightVariable, condition])
    }

    /// Whether an expression over the variables `left` and `right` is the condition of ``same(_:_:)``,
    /// ``identical(_:_:)``, ``sameValue(_:_:)`` or ``sameSimple(_:_:)``.
    ///
    /// For two texts, whole numbers, bools, dates or ObjectIds, each of these functions compares the types and the
    /// bytes. A client that evaluates the expression can therefore compare such values directly.
    package static func comparesLeftAndRight(_ condition: BSONValue) -> Bool {
        [isSame, isIdentical, isSameValue, isSameSimple].contains { $0.bson == condition }
    }

    /// Whether the scalars `$$left` and `$$right`, which have the same type and are equal by `$eq`, are the same value.
    ///
    /// The digits of decimals are not compared, so the decimals 1.5 and 1.50 count as the same value.
    private static let hasSameBytes = Expression.all([
        .any([!leftVariable.hasType("string"), sameText(leftVariable, rightVariable)]),
        // Only a number equals 0. The sign of the number distinguishes 0.0 from -0.0.
        .any([!(leftVariable == .constant(0)), sign(leftVariable) == sign(rightVariable)]),
    ])

    /// Returns whether `$$left` and `$$right`, which have the same type and are equal by `$eq`, are exactly the same
    /// down to the given number of levels.
    ///
    /// Because `$eq` finds them equal, two objects have the same names in the same order, and two arrays the same
    /// length. The values inside can therefore be compared in pairs. Values below the given number of levels are
    /// compared by `deeper`.
    private static func hasSameInside(levels: Int = exactLevels, deeper: Expression) -> Expression {
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

    private static func size(_ value: Expression) -> Expression { Expression(["$bsonSize": ["v": value.bson]]) }
}

/// Expressions over the elements of lists and dictionaries.
///
/// The variable `CURRENT` is bound to an object for each element in turn. The object holds the element in the field
/// `v`, so a path into the element begins with `v`.
extension Expression {
    /// Returns whether the condition holds for an element of the innermost list or dictionary.
    ///
    /// `containers` are the lists and dictionaries on the path to the element, the outermost first. The result is false
    /// if a container is missing or of another type.
    package static func inSomeElement(of containers: [FieldPath], _ condition: Expression) -> Expression {
        containers.reversed().reduce(condition) { condition, container in
            .all([
                container.isContainer, .call("$anyElementTrue", elements(of: field(container)).map(to: condition)),
            ])
        }
    }

    /// Returns the list or dictionary in which the result of `value` replaces the value of each element.
    static func rewriting(_ container: Expression, each value: Expression) -> Expression {
        .choose(
            if: container.hasType("array"), then: elements(of: container).map(to: value),
            else: Expression([
                "$arrayToObject": elements(of: container).map(to: Expression(["k": "$k", "v": value.bson])).bson
            ]))
    }

    /// Returns the elements of a list or the values of a dictionary as a list of objects, with each value in the field
    /// `v`.
    ///
    /// For a dictionary, the field `k` holds the name. For any other value, the result is an empty list.
    package static func elements(of container: Expression) -> Expression {
        .choose(
            if: container.hasType("array"),
            then: .call("$map", ["input": container, "as": Expression("item"), "in": Expression(["v": "$$item"])]),
            else: entries(of: container))
    }

    /// Returns the fields of an object as a list of objects, with the name in `k` and the value in `v`.
    ///
    /// For any other value, the result is an empty list. The expression therefore cannot fail, even if the server
    /// evaluates it before a test of the value's type.
    static func entries(of object: Expression) -> Expression {
        Expression(["$objectToArray": choose(if: object.hasType("object"), then: object, else: .constant([:])).bson])
    }

    /// Returns the list with each element replaced by `value`, in which `CURRENT` is the element.
    func map(to value: Expression) -> Expression {
        .call("$map", ["input": self, "as": Expression("CURRENT"), "in": value])
    }

    /// A value that removes the field that it is assigned to.
    static let removed = Expression("$$REMOVE")

    /// The value null, which means "not converted" in a conversion.
    static let null = Expression(["$literal": nil])

    /// Returns the object without the named field; the other fields keep their order.
    ///
    /// The expression does not use `$unsetField`, which needs server 5.0 or later.
    func without(_ name: String) -> Expression {
        let isOther = !Expression.sameText(.variable("entry.k"), .constant(.string(name)))
        return Expression([
            "$arrayToObject": [
                "$filter": [
                    "input": ["$objectToArray": bson], "as": "entry", "cond": isOther.bson,
                ]
            ]
        ])
    }

    /// Returns whether all operands hold; operands that are the constant `true` are left out of the expression.
    static func every(_ operands: [Expression]) -> Expression {
        let real = operands.filter { $0 != .constant(true) }
        return real.isEmpty ? .constant(true) : .all(real)
    }

    /// Whether the value can be a link to another document: it is not missing, null, undefined, an object or an array.
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
