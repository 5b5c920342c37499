import BSON
import ServerSchema

/// What is wrong with a value that a conversion leaves alone.
package enum ConversionLoss: String, Sendable, CaseIterable {
    /// The new type has a value near to it, and not the same.
    case rounded
    /// A number, and beyond what the new type holds.
    case outOfRange = "out of range"
    /// It is nothing that the new type could stand for.
    case unparsable
}

extension ConvertStep {
    /// Which documents hold a value that is left alone, for each thing that can be wrong with it.
    ///
    /// No two hold for one value; elements of one list may each have their own.
    package var losses: [(kind: ConversionLoss, when: Expression)] {
        let value = Expression.field(field)
        let isDue = Expression.all([
            field.isReachable, !value.isMissingOrNull, !conversion.isDone(value),
            conversion.believed(value).isMissingOrNull,
        ])
        let isOutOfRange = conversion.isOutOfRange(value)
        let isNear = Expression.any([!conversion.loose.attempted(value).isMissingOrNull, conversion.isNumber(value)])
        let kinds: [(ConversionLoss, Expression)] = [
            (.rounded, !isOutOfRange && isNear), (.outOfRange, isOutOfRange),
            (.unparsable, !isOutOfRange && !isNear),
        ]
        return kinds.map { ($0, .inSomeElement(of: field.containers, isDue && $1)) }
    }
}

extension Conversion {
    /// The same conversion with whatever it loses.
    fileprivate var loose: Conversion { Conversion(target: target, unit: unit, allowsLoss: true) }

    /// Whether the value says a number, and the target is one.
    fileprivate func isNumber(_ value: Expression) -> Expression {
        target.isNumeric ? !number(value).isMissingOrNull : .constant(false)
    }

    /// Whether the value is a number that the target does not reach.
    fileprivate func isOutOfRange(_ value: Expression) -> Expression {
        if target == .date {
            return value.hasType("int", "long", "double", "decimal") && loose.attempted(value).isMissingOrNull
        }
        guard let (least, largest) = range else { return .constant(false) }
        return .let(
            ["number": number(value)],
            in: .all([
                !Expression.variable("number").isMissingOrNull,
                .any([
                    .call("$lt", .variable("number"), .constant(.decimal(least))),
                    .call("$gt", .variable("number"), .constant(.decimal(largest))),
                ]),
            ]))
    }

    /// The number that a value is or spells; null where it is none.
    private func number(_ value: Expression) -> Expression {
        .choose(
            if: value.hasType("int", "long", "double", "decimal", "string"),
            then: .call(
                "$convert",
                ["input": value, "to": .constant("decimal"), "onError": .null, "onNull": .null]),
            else: .null)
    }

    private var range: (Decimal128, Decimal128)? {
        switch target {
        case .int: (Decimal128(Int64(Int32.min)), Decimal128(Int64(Int32.max)))
        case .long: (Decimal128(Int64.min), Decimal128(Int64.max))
        case .double:
            if let least = Decimal128("-1.7976931348623157E+308"), let most = Decimal128("1.7976931348623157E+308") {
                (least, most)
            } else {
                nil
            }
        default: nil
        }
    }
}
