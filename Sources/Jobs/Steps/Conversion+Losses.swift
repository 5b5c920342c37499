import BSON
import ServerSchema

/// The reasons why a value is not converted.
extension Conversion {
    /// The reasons, each with the condition for a value that is neither converted nor already of the target's type.
    func losses(of value: Expression) -> [(reason: CompiledStep.Reason, when: Expression)] {
        let isNear = !lossy.attempted(value).isMissingOrNull
        let isFar = !isNear && isNumber(plain(value))
        return [(.rounded, isNear), (.outOfRange, isFar), (.noValue, !isNear && !isFar)]
    }

    /// Whether the value is a number or a date, or, for a numeric target, the text of a number; NaN is none.
    private func isNumber(_ value: Expression) -> Expression {
        let types = sources.filter {
            $0 == "string" ? target.isNumeric : ["int", "long", "double", "decimal", "date"].contains($0)
        }
        let number = Expression.variable("number")
        return .let(
            ["number": .choose(if: value.hasType(among: types), then: attempt(value, to: "decimal"), else: .null)],
            in: .all([!number.isMissingOrNull, !(number == .constant(.decimal(.nan)))]))
    }
}
