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
            in: .all([leftVariable.type == rightVariable.type, hasSameValue]))
    }

    /// Whether two values have the same type and exactly the same value, digits of a decimal included.
    ///
    /// Objects and arrays are compared by the types and digits inside too, down to ``exactLevels`` levels. What is
    /// nested deeper is compared by `$eq` and by its size in bytes, which tells `int` from every other number but
    /// neither 1 as `long` from 1.0 nor 1.5 from 1.50; texts inside objects are compared by the collection's
    /// collation; a NaN is a NaN. A wrong "same" loses no data: a target that holds a value is never overwritten.
    static func same(_ left: Expression, _ right: Expression) -> Expression {
        .let(
            ["left": left, "right": right],
            in: .all([
                leftVariable.type == rightVariable.type, hasSameValue,
                .any([
                    !leftVariable.hasType("object", "array", "decimal"),
                    shape(leftVariable, levels: exactLevels) == shape(rightVariable, levels: exactLevels),
                ]),
            ]))
    }

    /// Whether the value is this one, as ``same(_:_:)`` compares; for `nil` whether there is none.
    func isExactly(_ value: BSONValue?) -> Expression {
        guard let value else { return isMissing }
        let constant = Expression.constant(value)
        switch value {
        case .object, .array: return .same(self, constant)
        case .string: return hasType("string") && .sameText(self, constant)
        case .double(0), .decimal: return .same(self, constant)
        default: return hasType(value.type.description) && self == constant
        }
    }

    /// Whether two texts have the same bytes, whatever the collation; both have to be texts.
    static func sameText(_ left: Expression, _ right: Expression) -> Expression {
        .all([
            Expression(["$strLenBytes": left.bson]) == Expression(["$strLenBytes": right.bson]),
            .call("$indexOfBytes", left, right) == .constant(0),
        ])
    }

    /// How many levels of objects and arrays ``same(_:_:)`` compares exactly.
    static let exactLevels = 5

    private static let leftVariable = Expression.variable("left")
    private static let rightVariable = Expression.variable("right")

    /// For `$$left` and `$$right` of one type.
    private static let hasSameValue = Expression.all([
        leftVariable == rightVariable,
        .any([!leftVariable.hasType("string"), sameText(leftVariable, rightVariable)]),
        // Only a number is equal to 0.
        .any([!(leftVariable == .constant(0)), sign(leftVariable) == sign(rightVariable)]),
    ])

    private static func sign(_ value: Expression) -> Expression {
        .call("$substrBytes", Expression(["$toString": value.bson]), .constant(0), .constant(1))
    }

    /// What `$eq` does not see of a value: its type, the sign of its zero, the digits of its decimal; for objects and
    /// arrays the list of that.
    private static func shape(_ value: Expression, levels: Int) -> Expression {
        let node = Expression.variable("node")
        let digits = Expression.choose(
            if: node.hasType("double", "decimal"), then: Expression(["$toString": node.bson]), else: .constant(""))
        let leaf = Expression.call("$concat", node.type, .constant(" "), digits)
        let inner =
            levels == 0
            ? Expression(["$bsonSize": ["v": node.bson]])
            : .call(
                "$map", ["input": items(node), "as": itemName, "in": shape(.variable("item.v"), levels: levels - 1)])
        return .let(["node": value], in: .choose(if: node.hasType("object", "array"), then: inner, else: leaf))
    }

    private static let itemName = Expression("item")

    /// The values of an object or of an array, each as the `v` of an object.
    private static func items(_ node: Expression) -> Expression {
        .choose(
            if: node.hasType("array"),
            then: .call("$map", ["input": node, "as": itemName, "in": Expression(["v": "$$item"])]),
            else: Expression(["$objectToArray": node.bson]))
    }
}
