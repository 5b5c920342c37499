import BSON

/// The digits of a double, which the server itself cuts to 6 in a text and to 15 in a decimal.
extension Conversion {
    /// The double in another type: over `long` where it is whole, so that 9007199254740992 keeps its digits.
    func exact(double value: Expression, as type: String) -> Expression {
        let long = Expression.variable("long")
        return .let(
            ["long": attempt(value, to: "long")],
            in: .choose(
                if: .sameValue(attempt(long, to: "double"), value), then: attempt(long, to: type),
                else: attempt(value, to: type)))
    }

    /// The double as a text that reads back as the same double, where up to 15 digits are enough for that.
    ///
    /// 52.370216 is `52.3702` to the server, and `52.3702160000000` as a decimal.
    func text(ofDouble value: Expression) -> Expression {
        let short = Expression.variable("short")
        let long = Expression.variable("digits")
        let isPlain = Expression.call("$indexOfBytes", long, .constant("E")) == .constant(-1)
        let trimmed = Expression(["$rtrim": ["input": long.bson, "chars": "0"]])
        return .let(
            ["short": exact(double: value, as: "string")],
            in: .choose(
                if: .sameValue(attempt(short, to: "double"), value), then: short,
                else: .let(
                    ["digits": attempt(attempt(value, to: "decimal"), to: "string")],
                    in: .choose(if: isPlain, then: trimmed, else: short))))
    }

    /// The value in another type; `null` where the server finds none.
    func attempt(_ value: Expression, to type: String) -> Expression {
        attempt(value, to: .constant(.string(type)))
    }

    /// The value in another type; `null` where the server finds none.
    func attempt(_ value: Expression, to type: Expression) -> Expression {
        .call("$convert", ["input": value, "to": type, "onError": .null, "onNull": .null])
    }
}
