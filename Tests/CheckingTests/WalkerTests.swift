import BSON
import Checking
import ServerSchema
import Testing

@Suite struct WalkerTests {
    @Test func everyOccurrenceOfAFieldIsJudged() throws {
        let schema = CompiledSchema(["a": .of(.int)], required: ["a"])
        let document = BSONDocument([("_id", 1), ("a", 1), ("a", "x"), ("a", nil)])
        #expect(
            try schema.findings(document) == [
                "type-mismatch certain a: int / string", "required-null certain a: int / null",
            ])
    }

    @Test func theOrderOfFieldsDoesNotMatter() throws {
        let names = (0..<40).map { "field\($0)" } + ["", "a", "abcdefgh", "abcdefghi", "abcdefgh-middle-abcdefgh"]
        var root = SchemaNode.object(["_id": .of(.int)])
        root.properties += names.map { .init(name: $0, node: .of(.string)) }
        root.required = names
        let schema = CompiledSchema(root: root)
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20 {
            let shuffled = names.shuffled(using: &generator).map { ($0, "x" as BSONValue) }
            #expect(try schema.findings(BSONDocument(shuffled)) == [])
        }
        let near = BSONDocument(names.map { ($0 == "abcdefgh-middle-abcdefgh" ? "abcdefgh-Middle-abcdefgh" : $0, "") })
        #expect(try schema.findings(near).count == 2)
    }

    @Test func aNameAtTheVeryEndOfTheBufferIsRead() throws {
        let schema = CompiledSchema(["n": .of(.string)])
        let document = BSONDocument([("n", nil)])
        #expect(try schema.findings(document) == ["null-optional info n: string / null"])
    }

    @Test func aNameWithANULIsNoShorterNameWithItsValue() throws {
        // The schema names fields that contain a NUL, such as "a\0\u{2}". A document with the field `a` and the value
        // "x" has the same bytes: `a`, the NUL that ends the name, and then 2, the length of the string. The name of
        // this field is only `a`, so the schema does not declare it.
        let schema = CompiledSchema(["_id": .of(.int), "a\0\u{2}": .of(.int), "abcdefg\0\u{2}": .of(.int)])
        for name in ["a", "abcdefg"] {
            let fields: [(String, BSONValue)] = [("_id", 1), (name, "x")]
            #expect(try schema.findings(BSONDocument(fields)).map { $0.prefix(11) } == ["extra-field"])
        }
    }

    @Test func aNameThatOnlyBeginsOrEndsAlikeIsAnother() throws {
        let names = ["a", "abcdefg", "abcdefgh", "abcdefghi", "abcdefghijklmnop", "abcdefghijklmnopq"]
        let schema = CompiledSchema(["_id": .of(.int)]) { root in
            root.properties += names.map { .init(name: $0, node: .of(.int)) }
        }
        func findings(_ names: [String]) throws -> [String] {
            try schema.findings(BSONDocument((["_id"] + names).map { ($0, BSONValue.int(1)) }))
        }
        for (index, name) in names.enumerated() {
            #expect(try findings([name]) == [])
            for other in [name + "x", "x" + name.dropFirst(), name.dropLast() + "x"] where !names.contains(other) {
                // The document has the schema's fields up to `name` in the schema's order, but `other` in place of
                // `name`. The checker therefore compares `other` with the name that it expects next.
                #expect(try findings(names.prefix(index) + [other]).map { $0.prefix(11) } == ["extra-field"])
            }
        }
    }

    @Test func damagedBytesThrow() throws {
        let schema = CompiledSchema(["a": .object(["b": .of(.string)])])
        let whole: BSONDocument = ["_id": 1, "a": ["b": "text"]]
        for length in 5..<whole.bytes.count {
            var cut = Array(whole.bytes.prefix(length - 1)) + [0]
            cut[0] = UInt8(length)
            let document = try BSONDocument(bytes: cut)
            // If the bytes are cut before or after a whole top-level element, they are a valid smaller document.
            if length == 5 || length == 14 { continue }
            #expect(throws: BSONError.self) { try schema.check(document.view) }
        }
    }

    @Test func anyBytesAreJudgedOrRefusedButNeverTrap() throws {
        let schema = CompiledSchema([
            "a": .object(["b": .list(.of(.double))]), "m": .of(.mixed), "s": .set(.of(.mixed)), "u": .of(.uuid),
        ])
        let whole: BSONDocument = [
            "_id": 1, "a": ["b": [1.5]], "m": ["x": [1]], "s": [1, ["y": 2]], "u": .uuid(),
        ]
        let good = whole.bytes
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: 4..<bytes.count - 1)] = UInt8.random(in: 0...255, using: &generator)
            }
            guard let document = try? BSONDocument(bytes: bytes) else { continue }
            let verdict = try? schema.check(document.view)
            let violations = try? schema.violations(in: document.view, includingInfo: false)
            #expect(verdict.map { $0 == .fits } == violations.map(\.isEmpty))
        }
    }

    @Test func keywordsThatNoRuleJudgesAreListed() throws {
        let schema = CompiledSchema([
            "age": SchemaNode.of(.int).with { $0.unevaluated = [("minimum", SchemaNode.nowhere)] }
        ])
        #expect(schema.unevaluatedKeywords.map { "\($0.path) \($0.keyword)" } == ["age minimum"])
        #expect(try schema.verdict(["_id": 1, "age": -1]) == .fits)
    }

    @Test func patternPropertiesKeepExtrasFromBeingJudged() throws {
        let schema = CompiledSchema([:]) {
            $0.additionalProperties = .forbidden
            $0.unevaluated = [("patternProperties", SchemaNode.nowhere)]
        }
        #expect(try schema.findings(["_id": 1, "x": 1]) == [])
    }

    @Test func aViolationNamesTypesAndNoValues() throws {
        let schema = CompiledSchema(["age": .of(.int)])
        let violation = try #require(
            try schema.violations(in: (["age": "secret"] as BSONDocument).view, includingInfo: false).first)
        #expect(violation.description == "age: type-mismatch, expected int, found string")
    }
}
