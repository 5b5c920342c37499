extension Decimal128: CustomStringConvertible {
    /// The number in the form of mongod and libbson, such as `1.50`, `1E+3`, `-0`, `NaN` or `-Infinity`.
    ///
    /// Source: the scientific string of the General Decimal Arithmetic Specification, which keeps the exponent.
    public var description: String {
        if isNaN { return "NaN" }
        let sign = isNegative ? "-" : ""
        if isInfinite { return sign + "Infinity" }
        let digits = String(coefficient)
        let adjusted = exponent + digits.utf8.count - 1
        if exponent > 0 || adjusted < -6 { return sign + Self.scientific(digits, adjusted) }
        return sign + Self.plain(digits, fraction: -exponent)
    }

    private static func scientific(_ digits: String, _ adjusted: Int) -> String {
        let fraction = digits.dropFirst()
        let mantissa = fraction.isEmpty ? digits : "\(digits.prefix(1)).\(fraction)"
        return mantissa + (adjusted < 0 ? "E" : "E+") + String(adjusted)
    }

    private static func plain(_ digits: String, fraction: Int) -> String {
        guard fraction > 0 else { return digits }
        let zeros = String(repeating: "0", count: max(0, fraction + 1 - digits.utf8.count))
        let padded = zeros + digits
        return "\(padded.dropLast(fraction)).\(padded.suffix(fraction))"
    }
}

extension Decimal128: LosslessStringConvertible {
    /// Reads a number such as `12.50`, `-1E+3`, `Infinity`, `inf` or `NaN`, in upper or lower case.
    ///
    /// Returns `nil` for any other text. A number is never rounded: like libbson, the initializer returns `nil` for a
    /// number that needs more than 34 digits or an exponent out of range.
    public init?(_ text: String) {
        var rest = text.utf8[...]
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        switch Substring(rest).lowercased() {
        case "nan": self = .nan
        case "inf", "infinity": self = isNegative ? .negativeInfinity : .infinity
        default:
            guard var number = ScannedDecimal(rest), number.fit() else { return nil }
            self.init(isNegative: isNegative, coefficient: number.coefficient, exponent: number.exponent)
        }
    }
}

/// The coefficient and the exponent of a number that is being read from text.
private struct ScannedDecimal {
    var coefficient: UInt128 = 0
    var exponent = 0

    /// Reads the whole text as `digits[.digits][E[sign]digits]`; the digits before or after the point may be missing.
    ///
    /// Returns `nil` for any other text, and for a number with too many digits.
    init?(_ text: Substring.UTF8View) {
        var hasDigits = false
        var isFraction = false
        var zeros = 0  // not in `coefficient` yet, because trailing zeros might go into the exponent instead
        var rest = text
        while let byte = rest.first, byte | 0x20 != UInt8(ascii: "e") {
            rest = rest.dropFirst()
            if byte == UInt8(ascii: "."), !isFraction {
                isFraction = true
                continue
            }
            guard (0x30...0x39).contains(byte) else { return nil }
            hasDigits = true
            if isFraction { exponent -= 1 }
            if byte != 0x30 || coefficient == 0 {
                guard append(byte - 0x30, after: zeros) else { return nil }
                zeros = 0
            } else {
                zeros += 1
            }
        }
        guard hasDigits, let power = Self.power(rest), append(zeros: zeros) else { return nil }
        exponent += power
    }

    private static func power(_ text: Substring.UTF8View) -> Int? {
        guard !text.isEmpty else { return 0 }
        // An exponent beyond ±1,000,000,000 is replaced by that limit. The limit is far outside of the valid range, and
        // the number of digits can still be added to it without an overflow.
        return Int(Substring(text.dropFirst())).map { min(max($0, -1_000_000_000), 1_000_000_000) }
    }

    private mutating func append(_ digit: UInt8, after zeros: Int) -> Bool {
        guard coefficient == 0 || coefficient.decimalDigits + zeros + 1 <= Decimal128.digits else { return false }
        if coefficient != 0 { coefficient *= .powerOfTen(zeros + 1) }
        coefficient += UInt128(digit)
        return true
    }

    /// Appends zeros to the coefficient until it has 34 digits, so that `1.00` stays `1.00`.
    ///
    /// The number of the zeros that do not fit is added to the exponent.
    /// - Returns: `true`, because zeros always fit.
    private mutating func append(zeros: Int) -> Bool {
        let kept = min(zeros, Decimal128.digits - coefficient.decimalDigits)
        coefficient *= .powerOfTen(kept)
        exponent += zeros - kept
        return true
    }

    /// Moves zeros between coefficient and exponent until the exponent is in range; returns `false` if that is
    /// impossible.
    mutating func fit() -> Bool {
        let range = Decimal128.exponents
        guard coefficient != 0 else {
            exponent = min(max(exponent, range.lowerBound), range.upperBound)
            return true
        }
        while exponent < range.lowerBound, coefficient % 10 == 0 {
            (coefficient, exponent) = (coefficient / 10, exponent + 1)
        }
        while exponent > range.upperBound, coefficient <= Decimal128.largestCoefficient / 10 {
            (coefficient, exponent) = (coefficient * 10, exponent - 1)
        }
        return range.contains(exponent)
    }
}
