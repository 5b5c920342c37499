package import BSON

/// The parts of a Decimal128: sign, coefficient, and exponent.
///
/// Source: IEEE 754-2008, section 3.5.2, binary integer significand.
package struct DecimalParts: Sendable, BitwiseCopyable {
    enum Kind: Sendable, BitwiseCopyable { case finite, infinity, notANumber }

    let kind: Kind
    /// Whether the sign bit is set.
    package let isNegative: Bool
    /// The coefficient without trailing zeros; 0 for NaN and the infinities.
    package private(set) var coefficient: UInt128 = 0
    /// The exponent of the power of ten by which the coefficient is multiplied.
    package private(set) var exponent = 0

    init(kind: Kind, isNegative: Bool, coefficient: UInt128 = 0, exponent: Int = 0) {
        self.kind = kind
        self.isNegative = isNegative
        self.coefficient = coefficient
        self.exponent = exponent
        normalize()
    }

    /// Splits a Decimal128 into its parts.
    package init(_ bits: Decimal128) {
        isNegative = bits.high >> 63 == 1
        let combination = (bits.high >> 58) & 0x1F
        kind = combination == 0x1F ? .notANumber : combination == 0x1E ? .infinity : .finite
        // If both upper bits of the combination field are set, the coefficient has too many digits and reads as zero.
        guard kind == .finite, combination >> 3 != 3 else { return }
        exponent = Int((bits.high >> 49) & 0x3FFF) - 6176
        coefficient = UInt128(bits.high & 0x1_FFFF_FFFF_FFFF) << 64 | UInt128(bits.low)
        if coefficient >= Self.tenTo34 { coefficient = 0 }
        normalize()
    }

    private static var tenTo34: UInt128 { 10_000_000_000_000_000_000 * 1_000_000_000_000_000 }

    private mutating func normalize() {
        if coefficient == 0 { exponent = 0 }
        while coefficient != 0, coefficient % 10 == 0 {
            coefficient /= 10
            exponent += 1
        }
    }

    var isIntegral: Bool { kind == .finite && exponent >= 0 }

    /// The value as an integer; `nil` if the value is not a whole number, or is out of the range of `Int64`.
    package var exactInt64: Int64? {
        guard isIntegral, exponent <= 19 else { return nil }
        var magnitude = coefficient
        for _ in 0..<exponent {
            let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
            if overflow { return nil }
            magnitude = product
        }
        if isNegative, magnitude == UInt128(Int64.min.magnitude) { return .min }
        return Int64(exactly: magnitude).map { isNegative ? -$0 : $0 }
    }

    /// The value as a double; `nil` if no double has exactly this value.
    package var exactDouble: Double? {
        switch kind {
        case .notANumber: return .nan
        case .infinity: return isNegative ? -.infinity : .infinity
        case .finite: break
        }
        guard coefficient != 0 else { return isNegative ? -0.0 : 0 }
        // For the coefficient c and the exponent e, c · 10^e = c · 5^e · 2^e. A double can have exactly this value if
        // the product c · 5^e, without its factors of two, is an integer of at most 53 bits.
        let twos = coefficient.trailingZeroBitCount
        guard exponent <= 400, exponent >= -400, let significand = scaledByFives(coefficient >> UInt128(twos)),
            significand < 1 << 53
        else { return nil }
        let scale = exponent + twos
        guard scale >= -1074, scale <= 1023 else { return nil }
        let value = Double(UInt64(significand)) * Double(sign: .plus, exponent: scale, significand: 1)
        guard value.isFinite else { return nil }
        return isNegative ? -value : value
    }

    /// Returns `number` times five to the power of the exponent; `nil` if that is not an integer, or too large.
    private func scaledByFives(_ number: UInt128) -> UInt128? {
        var value = number
        for _ in 0..<abs(exponent) {
            if exponent < 0 {
                guard value % 5 == 0 else { return nil }
                value /= 5
            } else {
                let (product, overflow) = value.multipliedReportingOverflow(by: 5)
                if overflow { return nil }
                value = product
            }
        }
        return value
    }
}

extension DecimalParts {
    /// Creates the decimal to which mongod converts a number before it tests `multipleOf`; a double is rounded to 15
    /// digits.
    init(fifteenDigitsOf number: BSONNumber) {
        switch number {
        case .integer(let value):
            self.init(kind: .finite, isNegative: value < 0, coefficient: UInt128(value.magnitude))
        case .decimal(let value): self.init(value)
        case .double(let value) where value.isFinite: self.init(fifteenDigitsOf: value)
        case .double(let value):
            self.init(kind: value.isNaN ? .notANumber : .infinity, isNegative: value < 0)
        }
    }

    private init(fifteenDigitsOf value: Double) {
        let isNegative = value.sign == .minus
        guard value != 0 else {
            self.init(kind: .finite, isNegative: isNegative)
            return
        }
        // Computes the decimal exponent from the binary one: log10(2) is about 0.30103. The result may be one too
        // small, which the code below corrects.
        let power = Int(value.exponent) * 30_103
        var exponent = power / 100_000 - (power < 0 ? 15 : 14)
        var coefficient = Self.rounded(value.magnitude, toMultiplesOf: exponent)
        if coefficient > 999_999_999_999_999 {
            exponent += 1
            coefficient = Self.rounded(value.magnitude, toMultiplesOf: exponent)
        }
        self.init(kind: .finite, isNegative: isNegative, coefficient: coefficient, exponent: exponent)
    }

    /// Returns the value divided by ten to the power of `exponent`, rounded half to even.
    private static func rounded(_ value: Double, toMultiplesOf exponent: Int) -> UInt128 {
        let bits = UInt128(value.significandBitPattern | (value.isNormal ? 1 << 52 : 0))
        let twos = max(Int(value.exponentBitPattern), 1) - 1075
        // A number of 53 bits is less than 2^128 if it is multiplied by 10^22 or by 2^70, so these two cases fit in a
        // `UInt128`.
        if exponent <= 0, exponent >= -22, twos <= 0, twos > -128 {
            return divide(bits * .powerOfTen(-exponent), by: 1 << UInt128(-twos))
        }
        if exponent > 0, exponent <= 22, twos <= 70, twos > -128 {
            return twos >= 0
                ? divide(bits << UInt128(twos), by: .powerOfTen(exponent))
                : divide(bits, by: .powerOfTen(exponent) << UInt128(-twos))
        }
        return roundedSlowly(value, toMultiplesOf: exponent)
    }

    /// Returns the same as `rounded`, for values and exponents that the fast cases of `rounded` do not cover.
    ///
    /// Converts the value to a decimal of 34 digits first, as mongod does.
    @inline(never)
    private static func roundedSlowly(_ value: Double, toMultiplesOf exponent: Int) -> UInt128 {
        let parts = DecimalParts(Decimal128(rounding: value))
        let shift = exponent - parts.exponent
        if shift <= 0 { return parts.coefficient * .powerOfTen(min(-shift, 38)) }
        return shift > 38 ? 0 : divide(parts.coefficient, by: .powerOfTen(shift))
    }

    private static func divide(_ dividend: UInt128, by divisor: UInt128) -> UInt128 {
        let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: divisor)
        let rest = divisor - remainder
        let isUp = remainder > rest || remainder == rest && quotient & 1 == 1
        return isUp ? quotient + 1 : quotient
    }
}
