import BSON
import Testing

@Suite struct Decimal128Tests {
    @Test(arguments: [
        "0", "-0", "1", "-1", "0.1", "0.10", "1.000", "123.456", "0.000001", "0.0000010", "1E-7", "1.0E-7", "1E+3",
        "1.23E+5", "0E+3", "0E-7", "0.00", "-0E-6176", "0E+6111", "1E-6176", "1E+6111",
        "9999999999999999999999999999999999", "-9.999999999999999999999999999999999E+6144", "NaN", "Infinity",
        "-Infinity",
    ]) func itsOwnTextComesBack(_ text: String) throws {
        #expect(try #require(Decimal128(text)).description == text)
    }

    @Test(arguments: [
        ("+1", "1"), ("01.50", "1.50"), (".5", "0.5"), ("5.", "5"), ("1e3", "1E+3"), ("1E3", "1E+3"), ("12E-1", "1.2"),
        ("1E+6112", "1.0E+6112"), ("0E+9999", "0E+6111"), ("0E-9999", "0E-6176"), ("10E-6177", "1E-6176"),
        ("-inf", "-Infinity"), ("INFINITY", "Infinity"), ("nan", "NaN"), ("-NaN", "NaN"),
        ("10000000000000000000000000000000000", "1.000000000000000000000000000000000E+34"),
        ("1.0000000000000000000000000000000000", "1.000000000000000000000000000000000"),
    ]) func otherSpellingsAreRead(_ text: String, _ canonical: String) throws {
        #expect(try #require(Decimal128(text)).description == canonical)
    }

    @Test(arguments: [
        "", "-", ".", "E3", "1E", "1E+", "1.2.3", "1 ", " 1", "1,5", "--1", "0x1", "١", "in", "1E999999999999999999999",
        "12345678901234567890123456789012345", "1E-6177", "1E+6145", "1.00000000000000000000000000000000001",
    ]) func inexactNumbersAreRefused(_ text: String) {
        #expect(Decimal128(text) == nil)
    }

    @Test func theBitsAreThoseOfTheSpecification() {
        #expect(Decimal128("1") == Decimal128(high: 0x3040_0000_0000_0000, low: 1))
        #expect(Decimal128("-0.1") == Decimal128(high: 0xB03E_0000_0000_0000, low: 1))
        #expect(Decimal128("NaN") == Decimal128(high: 0x7C00_0000_0000_0000, low: 0))
        #expect(
            Decimal128("9.999999999999999999999999999999999E+6144")
                == Decimal128(high: 0x5FFF_ED09_BEAD_87C0, low: 0x378D_8E63_FFFF_FFFF))
    }

    @Test func aCoefficientOfMoreThan34DigitsIsZero() {
        #expect(Decimal128(high: 0x3041_ED09_BEAD_87C0, low: 0x378D_8E64_0000_0000).description == "0")
        #expect(Decimal128(high: 0x7000_0000_0000_0000, low: 1).isZero)
        #expect(Decimal128(high: 0x6C10_0000_0000_0000, low: 1).description == "0")
    }

    @Test func itsKindIsKnown() throws {
        #expect(Decimal128.nan.isNaN && !Decimal128.nan.isInfinite && !Decimal128.nan.isFinite)
        #expect(Decimal128.negativeInfinity.isInfinite && Decimal128.negativeInfinity.isNegative)
        #expect(Decimal128(-5).isNegative && Decimal128(-5).isFinite && !Decimal128(-5).isZero)
        let minusZero = try #require(Decimal128("-0.00"))
        #expect(minusZero.isZero && minusZero.isNegative)
    }

    @Test(arguments: [0, 1, -1, Int64.max, .min]) func integersAreExact(_ integer: Int64) {
        #expect(Decimal128(integer).description == String(integer))
        #expect(Int64(exactly: Decimal128(integer)) == integer)
    }

    @Test(arguments: [("1.000", 1), ("12E+2", 1200), ("-0E+6111", 0), ("9223372036854775807.00", Int64.max)])
    func wholeNumbersBecomeIntegers(_ text: String, _ integer: Int64) {
        #expect(Decimal128(text).map { Int64(exactly: $0) } == integer)
    }

    @Test(arguments: ["0.5", "9223372036854775808", "-9223372036854775809", "1E+19", "1E+6111", "NaN", "Infinity"])
    func otherNumbersDoNot(_ text: String) {
        #expect(Decimal128(text).map { Int64(exactly: $0) } == .some(nil))
    }

    @Test(arguments: [
        (0.5, "0.5"), (-0.0, "0"), (1e22, "10000000000000000000000"), (1e23, "99999999999999991611392"),
        (0.1, "0.1000000000000000055511151231257827"), (-1e-7, "-9.999999999999999547481118258862587E-8"),
        (Double.leastNonzeroMagnitude, "4.940656458412465441765687928682214E-324"),
        (Double.greatestFiniteMagnitude, "1.797693134862315708145274237317044E+308"),
        (Double.infinity, "Infinity"), (-Double.infinity, "-Infinity"), (Double.nan, "NaN"),
    ]) func aDoubleIsRoundedTo34Digits(_ double: Double, _ text: String) {
        #expect(Decimal128(rounding: double).description == text)
    }
}
