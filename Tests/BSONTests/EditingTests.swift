import BSON
import Testing

@Suite struct EditingTests {
    let document: BSONDocument = ["_id": 1, "a": "x", "b": [1, 2], "a": nil]

    @Test func removingTakesEveryElementOfTheName() throws {
        #expect(try document.removing("a") == ["_id": 1, "b": [1, 2]])
        #expect(try document.removing("c") == document)
        #expect(try BSONDocument().removing("a").isEmpty)
    }

    @Test func replacingKeepsThePlace() throws {
        #expect(try document.replacing("a", with: 7) == ["_id": 1, "a": 7, "b": [1, 2]])
        #expect(try document.replacing("c", with: 7) == document.appending("c", 7))
    }

    @Test func appendingGoesToTheEnd() {
        #expect(BSONDocument().appending("a", 1).appending("b", nil) == ["a": 1, "b": nil])
    }

    @Test func damageIsNotCopied() throws {
        let damaged = try BSONDocument(bytes: raw(element(0x10, "a", int32(1)) + element(0x02, "b", int32(99))))
        #expect(throws: BSONError.self) { try damaged.removing("a") }
        #expect(throws: BSONError.self) { try damaged.replacing("a", with: 2) }
    }
}

@Suite struct SizeTests {
    /// A document needs four bytes for its length and one byte for its end.
    ///
    /// An element needs a byte for its type and a byte for the end of its name, in addition to its name and its value.
    @Test(arguments: Samples.everyType) func aValueTakesWhatItTakesInADocument(_ value: BSONValue) {
        #expect(BSONDocument([("name", value)]).bytes.count == 4 + 2 + "name".utf8.count + value.byteCount + 1)
    }
}
