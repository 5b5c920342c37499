import BSON
import ServerSchema
import Testing

@testable import Checking

/// Tests that hashes are well distributed, because values and names with the same hash are compared one by one.
@Suite struct HashGrowthTests {
    private func hashes(_ values: [BSONValue]) -> Set<UInt64> {
        Set(values.map { ValueHash.hash(onlyElementOf: ["": $0]) })
    }

    /// No integer and no double equals any of these decimals, so each of them must have a different hash.
    @Test func decimalsHaveHashesOfTheirOwn() throws {
        let decimals = try (0..<5_000).map { number in
            BSONValue.decimal(try #require(Decimal128("0.\(number)00000000000000000001")))
        }
        #expect(hashes(decimals).count == 5_000)
        #expect(hashes((0..<500).map { .decimal(Decimal128("1E\(6_000 - $0)") ?? Decimal128(0)) }).count == 500)
    }

    @Test func equalNumbersShareTheirHash() throws {
        for text in ["1", "1.0", "10E-1", "0.5", "1E3", "5192296858534827628530496329220096E8"] {
            let decimal = try #require(Decimal128(text))
            let double = try #require(Double(text))
            #expect(hashes([.decimal(decimal), .double(double)]).count == 1, "\(text)")
        }
        for pair in [("0.1", "0.10"), ("1E-400", "10E-401"), ("-0.30", "-3E-1"), ("1E40", "1.0E40")] {
            let values = try [pair.0, pair.1].map { BSONValue.decimal(try #require(Decimal128($0))) }
            #expect(hashes(values).count == 1, "\(pair)")
        }
    }

    /// Without a seed, a user could choose the second number of each of these arrays so that all hashes are equal.
    @Test func noUserCanWriteArraysWithEqualHashes() {
        let kind = mix(UInt64(BSONType.array.sortPlace))
        let arrays = (0..<1_000).map { number -> BSONValue in
            let first = mix(kind ^ mix(UInt64(number)))
            return [.long(Int64(number)), .long(Int64(bitPattern: unmix(first)))]
        }
        #expect(hashes(arrays).count == 1_000)
        let equal: [BSONValue] = [[1, 2], [1.0, .long(2)]]
        #expect(hashes(equal).count == 1)
    }

    private static let factors: (UInt64, UInt64) = (0x9E37_79B9_7F4A_7C15, 0xBF58_476D_1CE4_E5B9)

    /// Mixes the bits of a number as `ValueHash` does.
    private func mix(_ value: UInt64) -> UInt64 {
        var result = (value ^ (value >> 32)) &* Self.factors.0
        result = (result ^ (result >> 29)) &* Self.factors.1
        return result ^ (result >> 32)
    }

    /// Returns the number that ``mix(_:)`` maps to `value`.
    private func unmix(_ value: UInt64) -> UInt64 {
        var result = (value ^ (value >> 32)) &* inverse(of: Self.factors.1)
        result = (result ^ (result >> 29) ^ (result >> 58)) &* inverse(of: Self.factors.0)
        return result ^ (result >> 32)
    }

    /// Returns the factor that undoes a multiplication by an odd number.
    private func inverse(of factor: UInt64) -> UInt64 {
        // This is Newton's method: each step doubles the number of correct bits. At the start, the first three bits are
        // correct.
        (0..<5).reduce(factor) { inverse, _ in inverse &* (2 &- factor &* inverse) }
    }

    @Test func codesOfOneTextDifferByTheirScopes() {
        let codes = (0..<1_000).map { BSONValue.javascriptWithScope("f()", ["n": .integer($0)]) }
        #expect(hashes(codes).count == 1_000)
        #expect(
            hashes([
                .javascriptWithScope("f()", ["a": 1, "b": 2.0]), .javascriptWithScope("f()", ["b": 2, "a": 1]),
            ]).count == 1)
    }

    @Test func namesThatShareTheirEndsHaveSlotsOfTheirOwn() {
        let keys = (0..<4_096).map { number in
            let bytes = Array("shared--\(number + 10_000)--shared--".utf8)
            return unsafe FieldKey(bytes.span.bytes, at: 0, length: bytes.count).hash(in: bytes.span.bytes) & 0xFFFF
        }
        // If the hashes are well distributed, about 126 of the 4,096 keys fall into a slot that another key has
        // already; there are 65,536 slots.
        #expect(Set(keys).count > 3_900)
    }

    @Test func anEnumOfManyValuesIsLookedUp() throws {
        let values = (0..<1_000).map { $0.isMultiple(of: 2) ? "\($0)" : "{\"a\": \($0), \"b\": [\"\($0)\"]}" }
        let schema = try ServerSchema.read(
            text: "{\"$jsonSchema\": {\"properties\": {\"a\": {\"enum\": [\(values.joined(separator: ","))]}}}}",
            namespace: Namespace(database: "d", collection: "c"))
        let compiled = CompiledSchema(schema.collections[0], of: schema)
        for number in 0..<1_000 {
            let value: BSONValue =
                number.isMultiple(of: 2)
                ? .double(Double(number)) : ["b": [.string("\(number)")], "a": .long(Int64(number))]
            let document: BSONDocument = ["_id": 1, "a": value]
            #expect(try compiled.check(document.view) == .fits, "\(number)")
            let inArray: BSONDocument = ["_id": 1, "a": ["x", value]]
            #expect(try compiled.check(inArray.view) != .fits, "\(number)")
        }
        let other: BSONDocument = ["_id": 1, "a": 1_000]
        #expect(try compiled.check(other.view) == .certain)
    }

    /// ``DistinctValues`` compares only values that have the same hash.
    ///
    /// It therefore needs fewer than 100 comparisons to show that 20,000 values are distinct.
    @Test func distinctValuesAreFoundByTheirHashes() throws {
        let values = (0..<20_000).map { BSONValue.string("value \($0)") }
        var distinct = DistinctValues()
        for value in values {
            let isNew = distinct.insert(value)
            #expect(isNew)
        }
        #expect(distinct.comparisons < 100)
        let likeTheFirst: [BSONValue] = [.symbol("value 0"), .string("value 7")]
        for value in likeTheFirst {
            let isNew = distinct.insert(value)
            #expect(!isNew, "\(value)")
        }
        let numbers: [BSONValue] = [.int(1), .long(2), ["a": 1, "b": [2]], .double(.nan)]
        for value in numbers {
            let isNew = distinct.insert(value)
            #expect(isNew)
        }
        let equal: [BSONValue] = [.double(1), .decimal(Decimal128(2)), ["b": [2.0], "a": .long(1)], .double(-.nan)]
        for value in equal {
            let isNew = distinct.insert(value)
            #expect(!isNew, "\(value)")
        }
        #expect(distinct.values.count == 20_004)
    }
}
