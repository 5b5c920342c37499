extension Decimal128 {
    /// Creates the decimal number for a double: its exact value, rounded to 34 digits, half to even.
    public init(rounding value: Double) {
        guard value.isFinite else {
            self = value.isNaN ? .nan : value < 0 ? .negativeInfinity : .infinity
            return
        }
        if let integer = Int64(exactly: value) {
            self.init(integer)
            return
        }
        var expansion = DecimalExpansion(of: value.magnitude)
        let coefficient = expansion.round(to: Self.digits)
        self.init(isNegative: value < 0, coefficient: coefficient, exponent: expansion.exponent)
    }

    /// Compares the number with the exact value of a double, which may have up to 767 digits.
    ///
    /// mongod does the same: it treats the double 0.1 as greater than the nearest decimal number of 34 digits.
    public func compared(to value: Double) -> BSONOrder {
        let order = compared(to: Decimal128(rounding: value))
        guard order == .equal, value.isFinite, value != 0 else { return order }
        var expansion = DecimalExpansion(of: value.magnitude)
        _ = expansion.round(to: Self.digits)
        return value < 0 ? expansion.rounded.reversed : expansion.rounded
    }
}

extension Double {
    /// All digits of a whole number, without an exponent.
    package var wholeDigits: String {
        if let number = Int64(exactly: self) { return "\(number)" }
        return (self < 0 ? "-" : "") + DecimalExpansion(of: magnitude).allDigits.map { "\($0)" }.joined()
    }
}

/// The decimal digits of the exact value of a finite positive double; there are at most 767.
private struct DecimalExpansion {
    /// The digits in groups of nine, the least significant group first.
    private var limbs: [UInt64] = []
    /// The exponent of the power of ten by which the digits are multiplied.
    private(set) var exponent: Int
    /// The result of comparing the number that ``round(to:)`` returned with the exact value.
    ///
    /// `greater` if the number was rounded up.
    private(set) var rounded = BSONOrder.equal

    private static let limbDigits = 9
    private static let base: UInt64 = 1_000_000_000

    init(of value: Double) {
        // `value` equals `significand * 2^power`, and the significand is odd.
        let bits = value.significandBitPattern | (value.isNormal ? 1 << 52 : 0)
        let zeros = bits.trailingZeroBitCount
        let power = max(Int(value.exponentBitPattern), 1) - 1075 + zeros
        // `2^-n` equals `5^n * 10^-n`.
        exponent = min(power, 0)
        append(bits >> UInt64(zeros))
        let factor: UInt64 = power < 0 ? 5 : 2
        for _ in 0..<abs(power) { multiply(by: factor) }
    }

    private mutating func append(_ integer: UInt64) {
        var rest = integer
        while rest > 0 {
            limbs.append(rest % Self.base)
            rest /= Self.base
        }
    }

    private mutating func multiply(by factor: UInt64) {
        var carry: UInt64 = 0
        for index in limbs.indices {
            let product = limbs[index] * factor + carry
            limbs[index] = product % Self.base
            carry = product / Self.base
        }
        append(carry)
    }

    /// Returns the first `digits` digits, rounded half to even; adds the number of dropped digits to the exponent.
    mutating func round(to digits: Int) -> UInt128 {
        var dropped = digitCount - digits
        var result: UInt128 = 0
        var rest: [UInt8] = []
        for (index, digit) in allDigits.enumerated() {
            if index < digits { result = result * 10 + UInt128(digit) } else { rest.append(digit) }
        }
        guard let first = rest.first else { return result }
        let isHalf = first == 5 && rest.dropFirst().allSatisfy { $0 == 0 }
        let isUp = isHalf ? result % 2 == 1 : first >= 5
        if isUp { result += 1 }
        if rest.contains(where: { $0 != 0 }) { rounded = isUp ? .greater : .less }
        // If rounding up changed 9…9 to 10…0, the result has one digit too many.
        if result > Decimal128.largestCoefficient { (result, dropped) = (result / 10, dropped + 1) }
        exponent += dropped
        return result
    }

    private var digitCount: Int { (limbs.count - 1) * Self.limbDigits + UInt128(limbs.last ?? 0).decimalDigits }

    var allDigits: [UInt8] {
        var digits: [UInt8] = []
        for limb in limbs {
            var rest = limb
            for _ in 0..<Self.limbDigits {
                digits.append(UInt8(rest % 10))
                rest /= 10
            }
        }
        return digits.reversed().suffix(digitCount)
    }
}
