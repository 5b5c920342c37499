import BSON
import ServerSchema

/// The reason why a conversion skips a value.
package enum ConversionLoss: String, Sendable, CaseIterable {
    /// The new type has a value near it, but not the same one.
    case rounded
    /// The value is a number beyond the range of the new type.
    case outOfRange = "out of range"
    /// No value of the new type corresponds to it.
    case unparsable
}

extension ConvertStep {
    /// The conditions for documents with a skipped value, one for each kind of loss.
    ///
    /// At most one holds for a value; the elements of a list may each have their own.
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
    /// The same conversion, with any loss allowed.
    fileprivate var loose: Conversion { Conversion(target: target, unit: unit, allowsLoss: true) }

    /// Whether the value is or spells a number, and the target is numeric.
    fileprivate func isNumber(_ value: Expression) -> Expression {
        target.isNumeric ? !number(value).isMissingOrNull : .constant(false)
    }

    /// Whether the value is a number outside of the target's range.
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

    /// Returns the number that a value is or spells; null if it is none.
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
