import BSON

/// The keywords of numbers: `minimum`, `maximum`, `multipleOf`.
struct NumberRule: Sendable, BitwiseCopyable {
    var minimum: BSONNumber?
    var isMinimumExclusive = false
    var maximum: BSONNumber?
    var isMaximumExclusive = false
    var divisor: Divisor?

    @inline(__always)
    func isAtLeastMinimum(_ number: BSONNumber) -> Bool {
        guard let minimum else { return true }
        return Self.isInOrder(minimum, number, strictly: isMinimumExclusive)
    }

    @inline(__always)
    func isAtMostMaximum(_ number: BSONNumber) -> Bool {
        guard let maximum else { return true }
        return Self.isInOrder(number, maximum, strictly: isMaximumExclusive)
    }

    @inline(__always)
    func isMultiple(_ number: BSONNumber) -> Bool { divisor?.divides(number) ?? true }

    /// Whether two numbers are in ascending order.
    ///
    /// Without `strictly`, two equal numbers or two NaNs are in order as well. NaN and another number are never in
    /// order.
    @inline(__always)
    private static func isInOrder(_ left: BSONNumber, _ right: BSONNumber, strictly: Bool) -> Bool {
        if left.isNaN || right.isNaN { return !strictly && left.isNaN && right.isNaN }
        let order = left.compared(to: right)
        return order == .less || order == .equal && !strictly
    }
}

extension BSONNumber {
    @inline(__always)
    fileprivate var isNaN: Bool {
        switch self {
        case .integer: false
        case .double(let value): value.isNaN
        case .decimal(let value): value.isNaN
        }
    }
}

/// The number by which `multipleOf` divides.
///
/// mongod converts numbers to decimals before it divides, and rounds a double to 15 digits. Source:
/// `Decimal128::modulo` and the conversion from double in mongod 6.0.
struct Divisor: Sendable, BitwiseCopyable {
    private let integer: Int64?
    private let parts: DecimalParts

    /// Creates a divisor.
    /// - Precondition: The number is positive and finite.
    init(_ number: BSONNumber) {
        parts = DecimalParts(fifteenDigitsOf: number)
        integer = parts.exactInt64
    }

    /// Whether the number is a multiple of the divisor; NaN and the infinities are not.
    @inline(__always)
    func divides(_ number: BSONNumber) -> Bool {
        if case .integer(let value) = number, let integer { return value % integer == 0 }
        return divides(DecimalParts(fifteenDigitsOf: number))
    }

    private func divides(_ number: DecimalParts) -> Bool {
        guard number.kind == .finite else { return false }
        if number.coefficient == 0 { return true }
        // The coefficients of the number and of the divisor do not end in a zero, so a number with a smaller exponent
        // than the divisor is not a multiple.
        guard number.exponent >= parts.exponent else { return false }
        let rest = parts.coefficient
        var remainder = number.coefficient % rest
        var power = number.exponent - parts.exponent
        while power > 0, remainder != 0 {
            let step = min(power, 18)
            remainder = Self.product(remainder, .powerOfTen(step), modulo: rest)
            power -= step
        }
        return remainder == 0
    }

    /// Returns the remainder of the product `left` · `right` when it is divided by `divisor`, although the product may
    /// have up to 256 bits.
    private static func product(_ left: UInt128, _ right: UInt128, modulo divisor: UInt128) -> UInt128 {
        let product = left.multipliedFullWidth(by: right % divisor)
        return divisor.dividingFullWidth((product.high % divisor, product.low)).remainder
    }
}
