import BSON

/// Arithmetic operators, as far as conversions of dates need them.
extension CompiledExpression {
    func number(
        _ node: Node, _ document: borrowing BSONView, _ slots: inout [Operand]
    ) throws(NotEvaluated) -> Operand {
        switch node {
        case .absolute(let subject):
            guard let value = try numeric(subject, document, &slots) else { return .value(.null) }
            switch value {
            case .int(let number): return .value(.integer(abs(Int(number))))
            case .long(.min): throw NotEvaluated(.failure)
            case .long(let number): return .value(.long(abs(number)))
            case .double(let number): return .value(.double(abs(number)))
            default: throw NotEvaluated(.version)
            }
        case .rounded(let subject):
            guard let value = try numeric(subject, document, &slots) else { return .value(.null) }
            switch value {
            case .int, .long: return .value(value)
            case .double(let number): return .value(.double(number.rounded(.toNearestOrEven)))
            default: throw NotEvaluated(.version)
            }
        case .product(let left, let right):
            guard let left = try numeric(left, document, &slots), let right = try numeric(right, document, &slots)
            else { return .value(.null) }
            return .value(try Self.product(left, right))
        case .quotient(let left, let right):
            guard let left = try numeric(left, document, &slots), let right = try numeric(right, document, &slots)
            else { return .value(.null) }
            return .value(try Self.quotient(left, right))
        default: throw NotEvaluated(.failure)
        }
    }

    /// Returns the number that a node evaluates to; `nil` if the value is missing, null or undefined.
    private func numeric(
        _ node: Node, _ document: borrowing BSONView, _ slots: inout [Operand]
    ) throws(NotEvaluated) -> BSONValue? {
        let operand = try value(node, document, &slots)
        if operand.isNullish { return nil }
        guard let value = try operand.value(in: document), BSONNumber(value) != nil else {
            throw NotEvaluated(.failure)
        }
        return value
    }

    private static func product(_ left: BSONValue, _ right: BSONValue) throws(NotEvaluated) -> BSONValue {
        switch (BSONNumber(left), BSONNumber(right)) {
        case (.integer(let one)?, .integer(let two)?):
            let (product, overflows) = one.multipliedReportingOverflow(by: two)
            // If the product does not fit a 64-bit integer, the type of the result depends on the server's version.
            guard !overflows else { throw NotEvaluated(.version) }
            return left.type == .int && right.type == .int ? .integer(Int(product)) : .long(product)
        case (.double(let one)?, .double(let two)?): return .double(one * two)
        case (.double(let one)?, .integer(let two)?), (.integer(let two)?, .double(let one)?):
            return .double(one * Double(two))
        default: throw NotEvaluated(.version)
        }
    }

    private static func quotient(_ left: BSONValue, _ right: BSONValue) throws(NotEvaluated) -> BSONValue {
        func double(_ value: BSONValue) -> Double? {
            switch BSONNumber(value) {
            case .integer(let number): Double(number)
            case .double(let number): number
            default: nil
            }
        }
        guard let one = double(left), let two = double(right), two != 0 else { throw NotEvaluated(.version) }
        return .double(one / two)
    }
}
