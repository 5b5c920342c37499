import Testing

@testable import BSON

/// Tests that values are equal as on the server: texts are compared by their bytes, and a NaN equals itself.
@Suite struct ValueEqualityTests {
    private static let texts: [@Sendable (String) -> BSONValue] = [
        { .string($0) }, { .symbol($0) }, { .javascript($0) }, { .regex(pattern: $0, options: "") },
        { .regex(pattern: "a", options: $0) }, { .dbPointer($0, ObjectID(high: 1, low: 1)) },
        { .javascriptWithScope($0, [:]) }, { .object([$0: 1]) },
    ]

    /// Swift's `String` considers é as one code point equal to the letter e with a combining accent, but the server
    /// does not.
    @Test(arguments: texts.indices) func twoSpellingsOfALetterAreTwoValues(_ index: Int) {
        let (composed, decomposed) = (Self.texts[index]("\u{e9}"), Self.texts[index]("e\u{301}"))
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, composed]).count == 2)
    }

    @Test func aNaNIsFoundInASet() {
        let ids: Set<BSONValue> = [.double(.nan)]
        #expect(ids.contains(.double(-.nan)))
        #expect(BSONValue.double(.nan) != .double(0))
    }
}
