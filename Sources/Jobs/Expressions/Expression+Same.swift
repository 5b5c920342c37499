import BSON

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
