/// An IEEE 754-2008 decimal number of 128 bits, in the binary-integer encoding that BSON uses.
///
/// `==` compares the bits, so 1 and 1.0 differ. ``compared(to:)`` compares the numbers.
@frozen
public struct Decimal128: Hashable, Sendable, BitwiseCopyable {
    /// The sign, the exponent and the upper bits of the coefficient.
    public let high: UInt64
    /// The lower bits of the coefficient.
    public let low: UInt64

    /// Creates a number from its two halves.
    @inlinable
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Converts an integer to the same number.
    public init(_ value: Int64) {
        self.init(isNegative: value < 0, coefficient: UInt128(value.magnitude), exponent: 0)
    }
}

extension Decimal128 {
    /// The most decimal digits of a coefficient.
    static let digits = 34
    static let largestCoefficient: UInt128 = 9_999_999_999_999_999_999_999_999_999_999_999
    /// The range of the exponents of ten.
    static let exponents = -6176...6111

    /// Creates a finite number from its parts.
    /// - Precondition: the coefficient and the exponent are in range.
    init(isNegative: Bool, coefficient: UInt128, exponent: Int) {
        precondition(coefficient <= Self.largestCoefficient && Self.exponents.contains(exponent))
        let biased = UInt64(exponent - Self.exponents.lowerBound)
        self.init(
            high: (isNegative ? 1 << 63 : 0) | biased << 49 | UInt64(truncatingIfNeeded: coefficient >> 64),
            low: UInt64(truncatingIfNeeded: coefficient))
    }

    /// NaN ("not a number"), as mongod writes it.
    public static let nan = Decimal128(high: 0x7C00_0000_0000_0000, low: 0)
    /// Positive infinity.
    public static let infinity = Decimal128(high: 0x7800_0000_0000_0000, low: 0)
    /// Negative infinity.
    public static let negativeInfinity = Decimal128(high: 0xF800_0000_0000_0000, low: 0)

    /// Whether the sign bit is set, which is possible even for zero and NaN.
    public var isNegative: Bool { high >> 63 == 1 }
    /// Whether the value is NaN.
    public var isNaN: Bool { high & 0x7C00_0000_0000_0000 == 0x7C00_0000_0000_0000 }
    /// Whether the value is positive or negative infinity.
    public var isInfinite: Bool { high & 0x7C00_0000_0000_0000 == 0x7800_0000_0000_0000 }
    /// Whether the value is neither NaN nor an infinity.
    public var isFinite: Bool { high & 0x7800_0000_0000_0000 != 0x7800_0000_0000_0000 }
    /// Whether the value is 0, with any sign and exponent.
    public var isZero: Bool { isFinite && coefficient == 0 }

    /// The integer that, multiplied by ten to the power of ``exponent``, is the absolute value of a finite number.
    ///
    /// If the bits encode more than 34 digits, the coefficient is 0, as IEEE 754 requires.
    var coefficient: UInt128 {
        guard !hasLargeForm else { return 0 }
        let bits = UInt128(high & 0x0001_FFFF_FFFF_FFFF) << 64 | UInt128(low)
        return bits > Self.largestCoefficient ? 0 : bits
    }

    /// The exponent of ten of a finite number.
    var exponent: Int { Int(high >> (hasLargeForm ? 47 : 49) & 0x3FFF) + Self.exponents.lowerBound }

    /// Whether the number has the encoding in which the exponent is stored two bits lower than usual.
    ///
    /// In this encoding, a coefficient always has more than 34 digits, and so counts as 0.
    private var hasLargeForm: Bool { high & 0x6000_0000_0000_0000 == 0x6000_0000_0000_0000 }
}

extension Int64 {
    /// Converts a decimal number to the same integer; `nil` if it has a fraction, is too large, or is not finite.
    public init?(exactly decimal: Decimal128) {
        guard decimal.isFinite else { return nil }
        var (magnitude, exponent) = (decimal.coefficient, decimal.exponent)
        guard magnitude != 0 else {
            self = 0
            return
        }
        while exponent < 0, magnitude % 10 == 0 { (magnitude, exponent) = (magnitude / 10, exponent + 1) }
        guard exponent >= 0, exponent < 19, magnitude <= UInt128(UInt64.max) else { return nil }
        magnitude *= .powerOfTen(exponent)
        let signed = decimal.isNegative ? -Int128(truncatingIfNeeded: magnitude) : Int128(truncatingIfNeeded: magnitude)
        guard let value = Int64(exactly: signed) else { return nil }
        self = value
    }
}

extension UInt128 {
    package static func powerOfTen(_ exponent: Int) -> UInt128 {
        var result: UInt128 = 1
        for _ in 0..<exponent { result *= 10 }
        return result
    }

    /// The number of decimal digits, which is 1 for zero.
    var decimalDigits: Int {
        var (count, rest) = (1, self)
        while rest >= 10 { (count, rest) = (count + 1, rest / 10) }
        return count
    }
}

extension Decimal128 {
    /// Compares by value, as MongoDB does: NaN equals NaN and is less than every other number, and -0 equals 0.
    public func compared(to other: Decimal128) -> BSONOrder {
        if isNaN || other.isNaN { return BSONOrder(other.isNaN ? 1 : 0, isNaN ? 1 : 0) }
        if isZero && other.isZero { return .equal }
        let (sign, otherSign) = (signum, other.signum)
        guard sign == otherSign else { return BSONOrder(sign, otherSign) }
        return sign < 0 ? other.magnitudeCompared(to: self) : magnitudeCompared(to: other)
    }

    private var signum: Int { isZero ? 0 : isNegative ? -1 : 1 }

    /// Compares the absolute values of two numbers that are neither NaN nor zero.
    private func magnitudeCompared(to other: Decimal128) -> BSONOrder {
        if isInfinite || other.isInfinite { return BSONOrder(isInfinite ? 1 : 0, other.isInfinite ? 1 : 0) }
        let (left, right) = (coefficient, other.coefficient)
        let (leftDigits, rightDigits) = (left.decimalDigits, right.decimalDigits)
        let (leading, otherLeading) = (leftDigits + exponent, rightDigits + other.exponent)
        guard leading == otherLeading else { return BSONOrder(leading, otherLeading) }
        // The first digits of both numbers have the same power of ten. The shorter coefficient gets zeros at its end,
        // so that the coefficients can be compared.
        let shift = rightDigits - leftDigits
        return BSONOrder(left * .powerOfTen(max(shift, 0)), right * .powerOfTen(max(-shift, 0)))
    }
}
