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

/// Tests the comparison of documents whose fields may be in another order.
@Suite struct SameFieldsTests {
    /// Returns the bytes of one `int` element, whose name need not be UTF-8.
    private func int(_ name: [UInt8], _ value: Int) -> [UInt8] { [0x10] + name + [0] + int32(value) }

    @Test func theOrderOfFieldsDoesNotMatterAtAnyLevel() {
        let one: BSONDocument = ["a": 1, "b": [["c": 1, "d": 2], 3], "e": ["f": 1, "g": 2]]
        let other: BSONDocument = ["e": ["g": 2, "f": 1], "b": [["d": 2, "c": 1], 3], "a": 1]
        #expect(one.hasSameFields(as: other))
        #expect(!one.hasSameFields(as: ["e": ["g": 2, "f": 1], "b": [3, ["d": 2, "c": 1]], "a": 1]))
    }

    @Test func namesThatAreNotUTF8AreComparedByTheirBytes() throws {
        let document = try BSONDocument(bytes: raw(int([0xFF], 1) + int([0x61], 2)))
        let other = try BSONDocument(bytes: raw(int([0xFE], 1) + int([0x61], 2)))
        #expect(!document.hasSameFields(as: other))
        #expect(document.hasSameFields(as: try BSONDocument(bytes: raw(int([0x61], 2) + int([0xFF], 1)))))
        let inner = [document, other].map { BSONDocument([("x", .array(of: [.object($0)]))]) }
        #expect(!inner[0].hasSameFields(as: inner[1]))
    }

    @Test func aRepeatedNameKeepsTheOrderOfItsValues() {
        let document: BSONDocument = ["a": 1, "b": 0, "a": 2]
        #expect(document.hasSameFields(as: ["b": 0, "a": 1, "a": 2]))
        #expect(!document.hasSameFields(as: ["a": 2, "b": 0, "a": 1]))
    }

    /// The server ignores the names of an array's elements.
    @Test func theNamesOfAnArraysElementsAreIgnored() throws {
        let array = element(0x04, "x", raw(element(0x10, "7", int32(1))))
        #expect(try BSONDocument(bytes: raw(array)).hasSameFields(as: ["x": [1]]))
    }

    @Test func damagedDocumentsAreEqualOnlyByTheirBytes() throws {
        let damaged = try [int32(98), int32(99)].map { length in
            try BSONDocument(bytes: raw(element(0x10, "a", int32(1)) + element(0x02, "b", length)))
        }
        #expect(!damaged[0].hasSameFields(as: damaged[1]))
        #expect(damaged[0].hasSameFields(as: damaged[0]))
        let arrays = damaged.map { BSONDocument([("x", .array($0))]) }
        #expect(!arrays[0].hasSameFields(as: arrays[1]))
    }
}
