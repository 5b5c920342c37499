import BSON
import Testing

@Suite struct BSONViewTests {
    @Test func aDocumentKeepsItsElementsInOrder() throws {
        let document: BSONDocument = ["a": 1, "b": ["c": "x"], "d": [true, nil]]
        let elements = try document.elements()
        #expect(elements.map(\.name) == ["a", "b", "d"])
        #expect(elements.map(\.value) == [1, ["c": "x"], [true, nil]])
    }

    @Test func everyTypeComesBackAsItWasWritten() throws {
        let document = BSONDocument(Samples.everyType.map { ($0.type.description, $0) })
        #expect(document.values == Samples.everyType)
        #expect(try document.elements().map(\.name) == BSONType.all.map(\.description))
        try document.view.validate()
    }

    @Test func aDamagedDocumentGivesTheValuesBeforeTheDamage() {
        let bytes = raw(element(0x10, "a", int32(1)) + element(0x02, "b", int32(99)))
        #expect((try? BSONDocument(bytes: bytes))?.values == [1])
        #expect((try? BSONDocument(bytes: bytes))?["a"] == 1)
        #expect((try? BSONDocument(bytes: bytes))?["b"] == nil)
    }

    struct Damage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let code: BSONError.Code
        let offset: Int

        init(_ what: String, _ bytes: [UInt8], _ code: BSONError.Code, at offset: Int) {
            self.testDescription = what
            self.bytes = bytes
            self.code = code
            self.offset = offset
        }
    }

    // In these bytes, the value of an element "x" at the top level begins at byte 7.
    static let damages: [Damage] = [
        .init("no bytes", [], .truncated, at: 0),
        .init("four bytes", [5, 0, 0, 0], .truncated, at: 0),
        .init("a length one too large", raw([], length: 6), .invalidLength, at: 0),
        .init("the largest length", raw([], length: Int(Int32.max)), .invalidLength, at: 0),
        .init("a negative length", raw([], length: -5), .invalidLength, at: 0),
        .init("no terminator", [5, 0, 0, 0, 1], .missingTerminator, at: 4),
        .init("a NUL where a type should be", raw([0]), .missingTerminator, at: 4),
        .init("a type that nobody names", raw(element(0x55)), .unknownType, at: 7),
        .init("a name that runs into the end", raw([0x0A, 0x61]), .truncated, at: 7),
        .init("an int that runs over the end", raw(element(0x10, "x", [1, 0, 0])), .truncated, at: 7),
        .init("a string of length 0", raw(element(0x02, "x", int32(0) + [0])), .invalidLength, at: 7),
        .init("a string of length -1", raw(element(0x02, "x", int32(-1) + [0])), .invalidLength, at: 7),
        .init(
            "a string of the largest length", raw(element(0x02, "x", int32(Int(Int32.max)) + [0])), .truncated, at: 7),
        .init("a string without a NUL", raw(element(0x02, "x", int32(1) + [7])), .missingTerminator, at: 11),
        .init("a string that takes the terminator", raw(element(0x02, "x", int32(2) + [7])), .truncated, at: 7),
        .init("an object of length 4", raw(element(0x03, "x", int32(4) + [0])), .invalidLength, at: 7),
        .init("an object longer than its parent", raw(element(0x03, "x", int32(6) + [0])), .truncated, at: 7),
        .init("an array of the largest length", raw(element(0x04, "x", int32(Int(Int32.max)))), .truncated, at: 7),
        .init("an object without a NUL", raw(element(0x03, "x", int32(5) + [1])), .missingTerminator, at: 11),
        .init("binary of length -1", raw(element(0x05, "x", int32(-1) + [0])), .invalidLength, at: 7),
        .init("binary longer than its parent", raw(element(0x05, "x", int32(1) + [0])), .truncated, at: 7),
        .init("binary of the largest length", raw(element(0x05, "x", int32(Int(Int32.max)) + [0])), .truncated, at: 7),
        .init("a regex without options", raw(element(0x0B, "x", [0x61, 0])), .truncated, at: 7),
        .init("a dbPointer without its id", raw(element(0x0C, "x", int32(1) + [0])), .truncated, at: 7),
        .init("code whose string is longer", scoped(14, code: 99, scope: 5), .truncated, at: 11),
        .init("code whose scope is longer", scoped(14, code: 1, scope: 6), .invalidLength, at: 16),
        .init("code whose scope is too short", scoped(14, code: 2, scope: 4), .missingTerminator, at: 16),
        .init("code longer than its parent", scoped(99, code: 1, scope: 5), .invalidLength, at: 7),
        .init("code too short for its parts", scoped(13, code: 1, scope: 4), .invalidLength, at: 7),
    ]

    static func scoped(_ length: Int, code: Int, scope: Int) -> [UInt8] {
        raw(element(0x0F, "x", int32(length) + int32(code) + [0] + int32(scope) + [0]))
    }

    @Test(arguments: damages) func damageIsNamedWithItsByte(_ damage: Damage) {
        let error = walkError(damage.bytes)
        #expect(error?.code == damage.code)
        #expect(error?.offset == damage.offset)
    }

    @Test func anUnknownTypeIsShownInHex() {
        #expect(walkError(raw(element(0x55)))?.description == "unknown type at byte 7: 0x55")
    }
}
