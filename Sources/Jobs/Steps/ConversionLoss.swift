import BSON
import ServerSchema

/// The kind of loss for which a conversion skips a value.
package enum ConversionLoss: String, Sendable, CaseIterable {
    /// The new type has a close value, but not exactly the same one.
    case rounded
    /// The value is a number beyond the range of the new type.
    ///
    /// For a numeric type, the text of such a number counts, too.
    case outOfRange = "out of range"
    /// The new type has no value that corresponds to the old value.
    case unparsable
}

extension ConvertStep {
    /// The conditions under which the step skips a value of the document, one for each kind of loss.
    ///
    /// At most one condition is true for a single value. Several can be true for a list, because each of its elements
    /// is tested.
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
    /// A conversion to the type ``Conversion/target`` in which any loss is allowed.
    fileprivate var loose: Conversion { Conversion(target: target, unit: unit, allowsLoss: true) }

    /// Whether the target is numeric, and the value is a number or the text of one.
    fileprivate func isNumber(_ value: Expression) -> Expression {
        target.isNumeric ? !number(value).isMissingOrNull : .constant(false)
    }

    /// Whether the value is a number, or the text of a number, outside of the target's range; for a date as the target,
    /// only numbers are tested.
    fileprivate func isOutOfRange(_ value: Expression) -> Expression {
        if target == .date {
            return value.hasType("int", "long", "double", "decimal") && loose.attempted(value).isMissingOrNull
        }
        guard let (smallest, largest) = range else { return .constant(false) }
        return .let(
            ["number": number(value)],
            in: .all([
                !Expression.variable("number").isMissingOrNull,
                .any([
                    .call("$lt", .variable("number"), .constant(.decimal(smallest))),
                    .call("$gt", .variable("number"), .constant(.decimal(largest))),
                ]),
            ]))
    }

    /// Returns a value's number as a decimal, if it is a number or the text of one; otherwise `null`.
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
            if let smallest = Decimal128("-1.7976931348623157E+308"),
                let largest = Decimal128("1.7976931348623157E+308")
            {
                (smallest, largest)
            } else {
                nil
            }
        default: nil
        }
    }
}
