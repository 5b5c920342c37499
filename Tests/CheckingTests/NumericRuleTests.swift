import BSON
import Checking
import ServerSchema
import Testing

@Suite struct NumericRuleTests {
    private func finding(_ type: SchemaType, _ value: BSONValue) throws -> String? {
        let findings = try CompiledSchema(["n": .of(type)]).findings(["_id": 1, "n": value])
        #expect(findings.count <= 1)
        return findings.first.map { $0.replacing(" n: \(type.rawValue) /", with: ":") }
    }

    @Test func numericWidthMismatch() throws {
        let wide = "numeric-width-mismatch possible: "
        #expect(try finding(.double, 3) == wide + "int, exactly representable")
        #expect(try finding(.double, .long(1 << 53)) == wide + "long, exactly representable")
        #expect(try finding(.int, 3.0) == wide + "double, exactly representable")
        #expect(try finding(.int, -0.0) == wide + "double, exactly representable")
        #expect(try finding(.int, .long(2_147_483_647)) == wide + "long, exactly representable")
        #expect(try finding(.int, .double(-2_147_483_648)) == wide + "double, exactly representable")
        #expect(try finding(.long, 3) == wide + "int, exactly representable")
        #expect(try finding(.long, .double(-0x1p63)) == wide + "double, exactly representable")
        #expect(
            try finding(.long, .decimal(coefficient: 3000, exponent: -3)) == wide + "decimal, exactly representable")
        #expect(try finding(.decimal, 3) == wide + "int, exactly representable")
        #expect(try finding(.decimal, 0.1) == wide + "double, exactly representable")
        #expect(try finding(.double, .decimal(coefficient: 5, exponent: -1)) == wide + "decimal, exactly representable")
        #expect(try finding(.double, .decimalNaN) == wide + "decimal, exactly representable")
    }

    @Test func numericLossy() throws {
        let lossy = "numeric-lossy certain: "
        #expect(try finding(.int, 3.5) == lossy + "double with a fraction")
        #expect(try finding(.long, .double(.nan)) == lossy + "double NaN")
        #expect(try finding(.long, .double(-.infinity)) == lossy + "double infinity")
        #expect(try finding(.long, .double(0x1p63)) == lossy + "double beyond 64 bits")
        #expect(try finding(.int, 1e300) == lossy + "double beyond 64 bits")
        #expect(try finding(.int, .decimal(coefficient: 35, exponent: -1)) == lossy + "decimal with a fraction")
        #expect(try finding(.int, .decimal(coefficient: 1, exponent: -6176)) == lossy + "decimal with a fraction")
        #expect(try finding(.int, .decimalNaN) == lossy + "decimal NaN")
        #expect(try finding(.long, .decimalInfinity) == lossy + "decimal infinity")
        #expect(try finding(.long, .decimal(coefficient: 1, exponent: 6111)) == lossy + "decimal beyond 64 bits")
        #expect(try finding(.double, .long(1 << 53 + 1)) == lossy + "long that a double cannot hold")
        let unheld = lossy + "decimal that a double cannot hold"
        #expect(try finding(.double, .decimal(coefficient: 1, exponent: -1)) == unheld)
        #expect(try finding(.double, .decimal(coefficient: 1, exponent: 400)) == unheld)
    }

    @Test func beyond32BitsIsOnlyPossible() throws {
        let lossy = "numeric-lossy possible: "
        #expect(try finding(.int, .long(2_147_483_648)) == lossy + "long beyond 32 bits")
        #expect(try finding(.int, .long(-2_147_483_649)) == lossy + "long beyond 32 bits")
        #expect(try finding(.int, .double(2_147_483_648)) == lossy + "double beyond 32 bits")
        #expect(
            try finding(.int, .decimal(coefficient: 1 << 63, exponent: 0, isNegative: true)) == lossy
                + "decimal beyond 32 bits")
        #expect(
            try finding(.int, .decimal(coefficient: 1 << 63, exponent: 0))
                == "numeric-lossy certain: decimal beyond 64 bits")
    }

    @Test func theMildestOfSeveralTypesDecides() throws {
        let schema = CompiledSchema(["n": .of(.int, .double)])
        #expect(try schema.verdict(["_id": 1, "n": .long(1 << 40)]) == .possible)
        #expect(try schema.findings(["_id": 1, "n": .long(1 << 40)]).first?.hasPrefix("numeric-width") == true)
        #expect(try schema.verdict(["_id": 1, "n": .decimal(coefficient: 1, exponent: -1)]) == .certain)
        #expect(try CompiledSchema(["n": .of(.number)]).verdict(["_id": 1, "n": .decimalNaN]) == .fits)
    }

    @Test func elementsAndValuesFollowTheSameRules() throws {
        let schema = CompiledSchema(["l": .list(.of(.double)), "d": .dictionary(.of(.int))])
        #expect(
            try schema.findings(["_id": 1, "l": [1.5, 2], "d": ["a": 2.5]]) == [
                "numeric-width-mismatch possible l[]: double / int, exactly representable",
                "numeric-lossy certain d{}: int / double with a fraction",
            ])
    }
}
