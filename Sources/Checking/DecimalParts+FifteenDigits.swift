import BSON

extension DecimalParts {
    /// The decimal that mongod makes of a number before it divides: of a double its first 15 digits.
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
        // The power of ten of the first digit, or one less, from that of two: log10(2) is about 0.30103.
        let power = Int(value.exponent) * 30_103
        var exponent = power / 100_000 - (power < 0 ? 15 : 14)
        var coefficient = Self.rounded(value.magnitude, toMultiplesOf: exponent)
        if coefficient > 999_999_999_999_999 {
            exponent += 1
            coefficient = Self.rounded(value.magnitude, toMultiplesOf: exponent)
        }
        self.init(kind: .finite, isNegative: isNegative, coefficient: coefficient, exponent: exponent)
    }

    /// How many times ten to that power go into the value, half to even.
    private static func rounded(_ value: Double, toMultiplesOf exponent: Int) -> UInt128 {
        let bits = UInt128(value.significandBitPattern | (value.isNormal ? 1 << 52 : 0))
        let twos = max(Int(value.exponentBitPattern), 1) - 1075
        // 10^22 times 53 bits, and 53 bits times 2^70, are less than 2^128.
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

    /// By way of all 34 digits of a decimal, as mongod does it.
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
