import BSON
import Checking
import ServerSchema
import Testing

@Suite struct SizeRuleTests {
    private let schema = CompiledSchema([
        "blob": .of(.binData), "d": .dictionary(.list(.of(.string))), "a": .object(["m": .of(.mixed)]),
    ])
    private static let small = String(repeating: "x", count: 15_999_000)
    private static let large = String(repeating: "x", count: 16_000_001)
    private let document = "value-too-large possible (root): at most 16 MB / object over 16 MB"

    @Test func valueTooLarge() throws {
        #expect(try schema.findings(["_id": 1, "a": ["m": .string(Self.small)]]) == [])
        #expect(
            try schema.findings(["_id": 1, "a": ["m": .string(Self.large)]]) == [
                document, "value-too-large possible a.m: at most 16 MB / string over 16 MB",
            ])
    }

    @Test func theKeysOfDictionariesAreFolded() throws {
        #expect(
            try schema.findings(["_id": 1, "d": ["k": [.string(Self.large)]], "n": 1]).filter { $0.contains("large") }
                == [document, "value-too-large possible d{}[]: at most 16 MB / string over 16 MB"])
        #expect(
            try schema.findings(["_id": 1, "extra": ["k": .string(Self.large)]]).filter { $0.contains("large") }
                == [document, "value-too-large possible extra{}: at most 16 MB / string over 16 MB"])
    }

    @Test func aLargeDocumentOfSmallValues() throws {
        #expect(
            try schema.findings(["_id": 1, "a": ["m": .string(Self.small)], "d": ["k": [.string("\(Int.max)")]]]) == [])
        let half = BSONValue.string(String(repeating: "x", count: 8_000_001))
        #expect(try schema.findings(["_id": 1, "a": ["m": half], "d": ["k": [half]]]) == [document])
        #expect(try schema.verdict(["_id": 1, "a": ["m": half], "d": ["k": [half]]]) == .possible)
    }
}
