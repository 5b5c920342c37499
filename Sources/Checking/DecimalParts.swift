package import BSON

/// A Decimal128 taken apart: sign, coefficient, and the power of ten.
///
/// Source: IEEE 754-2008, section 3.5.2, binary integer significand.
package struct DecimalParts: Sendable, BitwiseCopyable {
    enum Kind: Sendable, BitwiseCopyable { case finite, infinity, notANumber }

    let kind: Kind
    package let isNegative: Bool
    /// The coefficient without its trailing zeros; 0 for what is not finite.
    package private(set) var coefficient: UInt128 = 0
    /// The power of ten to multiply it with.
    package private(set) var exponent = 0

    init(kind: Kind, isNegative: Bool, coefficient: UInt128 = 0, exponent: Int = 0) {
        self.kind = kind
        self.isNegative = isNegative
        self.coefficient = coefficient
        self.exponent = exponent
        normalize()
    }

    /// Takes a value apart.
    package init(_ bits: Decimal128) {
        isNegative = bits.high >> 63 == 1
        let combination = (bits.high >> 58) & 0x1F
        kind = combination == 0x1F ? .notANumber : combination == 0x1E ? .infinity : .finite
        // With both upper bits set the coefficient would exceed 34 digits, which reads as zero.
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

    /// The value, if it is a whole number that fits.
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

    /// The value, if a double holds it exactly.
    package var exactDouble: Double? {
        switch kind {
        case .notANumber: return .nan
        case .infinity: return isNegative ? -.infinity : .infinity
        case .finite: break
        }
        guard coefficient != 0 else { return isNegative ? -0.0 : 0 }
        // c · 10^e = c · 5^e · 2^e: exact when c · 5^e is an integer that 53 bits hold.
        guard exponent <= 400, exponent >= -400, var significand = scaledByFives() else { return nil }
        let twos = significand.trailingZeroBitCount
        significand >>= UInt128(twos)
        guard significand < 1 << 53 else { return nil }
        let scale = exponent + twos
        guard scale >= -1074, scale <= 1023 else { return nil }
        let value = Double(UInt64(significand)) * Double(sign: .plus, exponent: scale, significand: 1)
        guard value.isFinite else { return nil }
        return isNegative ? -value : value
    }

    /// The coefficient times five to the power of the exponent, when that is an integer that fits.
    private func scaledByFives() -> UInt128? {
        var value = coefficient
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
