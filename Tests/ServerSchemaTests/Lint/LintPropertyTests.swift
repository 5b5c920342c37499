import BSON
import ServerSchema
import Testing

/// Tests the lint rules for a property and everything inside it.
@Suite struct LintPropertyTests {
    private static let long = String(repeating: "n", count: 64)
    private static let wide = String(repeating: "é", count: 32)

    static let names: [LintCase] = [
        .init(
            "property-name-too-long error \(long)", #""\#(long)": {"bsonType": "int"}"#,
            good: #""\#(long.dropLast())": {"bsonType": "int"}"#),
        .init(
            "property-name-too-long warning \(wide)", #""\#(wide)": {"bsonType": "int"}"#,
            good: #""\#(wide.dropLast())": {"bsonType": "int"}"#),
        .init(
            "property-name-dollar error $a", #""$a": {"bsonType": "int"}"#, good: #""a$": {"bsonType": "int"}"#),
        .init(
            #"property-name-dot error "a.b""#, #""a.b": {"bsonType": "int"}"#, good: #""a_b": {"bsonType": "int"}"#),
    ]

    static let types: [LintCase] = [
        .init(
            "type-multiple error n", #""n": {"bsonType": ["int", "null"]}"#, good: #""n": {"bsonType": ["int"]}"#),
        .init("type-missing error n", #""n": {}"#, good: #""n": {"bsonType": "mixed"}"#),
        .init("type-unsupported error n", #""n": {"bsonType": "timestamp"}"#, good: #""n": {"bsonType": "date"}"#),
        .init("type-unsupported error n", #""n": {"bsonType": "number"}"#, good: #""n": {"bsonType": "decimal"}"#),
        .init("type-unsupported error n", #""n": {"bsonType": "null"}"#, good: #""n": {"bsonType": "uuid"}"#),
        .init("json-type-used warning n", #""n": {"type": "string"}"#, good: #""n": {"bsonType": "string"}"#),
        .init("type-spelling warning n", #""n": {"bsonType": "float"}"#, good: #""n": {"bsonType": "double"}"#),
    ]

    static let collections: [LintCase] = [
        .init(
            "array-items-missing error n", #""n": {"bsonType": "array"}"#,
            good: #""n": {"bsonType": "array", "items": {"bsonType": "int"}}"#),
        .init(
            "array-items-tuple error n", #""n": {"bsonType": "array", "items": [{"bsonType": "int"}]}"#,
            good: #""n": {"bsonType": "array", "items": {"bsonType": "int"}}"#),
        .init(
            "collection-nested error n[]",
            #""n": {"bsonType": "array", "items": {"bsonType": "array", "items": {"bsonType": "int"}}}"#,
            good: #""n": {"bsonType": "array", "items": {"bsonType": "mixed"}}"#),
        .init(
            "collection-nested error n{}",
            #""n": {"bsonType": "object", "additionalProperties": {"bsonType": "array", "items": {"bsonType": "int"}}}"#,
            good: #""n": {"bsonType": "object", "additionalProperties": {"bsonType": "int"}}"#),
        .init(
            "collection-nullable-items error n[]",
            #""n": {"bsonType": "array", "items": {"bsonType": ["int", "null"]}}"#,
            good: #""n": {"bsonType": "array", "items": {"bsonType": "int"}}"#),
        .init(
            "collection-nullable-items error n{}",
            #""n": {"bsonType": "object", "additionalProperties": {"bsonType": ["int", "null"]}}"#,
            good: #"""
                "n": {"bsonType": "object", "additionalProperties":
                 {"bsonType": ["object", "null"], "title": "Toy", "properties": {"a": {"bsonType": "int"}}}}
                """#),
        .init(
            "array-required warning n", #""n": {"bsonType": "array", "items": {"bsonType": "int"}}"#,
            good: #""n": {"bsonType": "array", "items": {"bsonType": "int"}}"#, required: ["n"], goodRequired: []),
        .init(
            "array-required warning n", #""n": {"bsonType": "object", "additionalProperties": {"bsonType": "int"}}"#,
            good: #""n": {"bsonType": "int"}"#, required: ["n"]),
        .init(
            "set-of-embedded error n",
            #"""
            "n": {"bsonType": "array", "uniqueItems": true, "items":
             {"bsonType": "object", "title": "Toy", "properties": {"a": {"bsonType": "int"}}}}
            """#,
            good: #"""
                "n": {"bsonType": "array", "items":
                 {"bsonType": "object", "title": "Toy", "properties": {"a": {"bsonType": "int"}}}}
                """#),
    ]

    private static func toy(_ properties: String, title: String = "Toy") -> String {
        #"{"bsonType": "object", "title": "\#(title)", "properties": {\#(properties)}}"#
    }

    static let embedded: [LintCase] = [
        .init(
            "embedded-title-missing warning n",
            #""n": {"bsonType": "object", "properties": {"a": {"bsonType": "int"}}}"#,
            good: #""n": \#(toy(#""a": {"bsonType": "int"}"#))"#),
        .init(
            "title-charset warning n", #""n": \#(toy(#""a": {"bsonType": "int"}"#, title: "2 Toys"))"#,
            good: #""n": \#(toy(#""a": {"bsonType": "int"}"#, title: "Toys_2"))"#),
        .init(
            "embedded-with-id warning n", #""n": \#(toy(#""_id": {"bsonType": "int"}"#))"#,
            good: #""n": \#(toy(#""id": {"bsonType": "int"}"#))"#),
        .init(
            "embedded-cycle error n.m", #""n": \#(toy(#""m": \#(toy("", title: "Toy"))"#))"#,
            good: #""n": \#(toy(#""m": \#(toy("", title: "Part"))"#))"#),
        .init(
            "embedded-required error n", #""n": \#(toy(""))"#, good: #""n": \#(toy(""))"#, required: ["n"],
            goodRequired: []),
        .init(
            "mixed-required error n", #""n": {"bsonType": "mixed"}"#, good: #""n": {"bsonType": "mixed"}"#,
            required: ["n"], goodRequired: []),
        .init(
            "dictionary-with-properties warning n",
            #"""
            "n": {"bsonType": "object", "title": "Toy", "properties": {"a": {"bsonType": "int"}},
             "additionalProperties": {"bsonType": "int"}}
            """#,
            good: #"""
                "n": {"bsonType": "object", "title": "Toy", "properties": {"a": {"bsonType": "int"}},
                 "additionalProperties": false}
                """#),
    ]

    static let values: [LintCase] = [
        .init(
            "default-type error n", #""n": {"bsonType": "int", "default": "1"}"#,
            good: #""n": {"bsonType": "int", "default": 1}"#, required: ["n"]),
        .init(
            "default-on-optional warning n", #""n": {"bsonType": "int", "default": 1}"#,
            good: #""n": {"bsonType": "int", "default": 1}"#, required: [], goodRequired: ["n"]),
        .init(
            "deprecated-without-day warning n", #""n": {"bsonType": "int", "description": "@deprecated soon"}"#,
            good: #""n": {"bsonType": "int", "description": "@deprecated 2027-03-31"}"#),
        .init(
            "default-null warning n", #""n": {"bsonType": "int", "default": null}"#, good: #""n": {"bsonType": "int"}"#),
        .init(
            "required-undefined error (root)", #""n": {"bsonType": "int"}"#, good: #""nn": {"bsonType": "int"}"#,
            required: ["nn"]),
        .init(
            "keyword-not-mapped warning n", #""n": {"bsonType": "int", "minimum": 1}"#,
            good: #""n": {"bsonType": "int", "description": "positive"}"#),
        .init(
            "keyword-not-mapped warning n", #""n": {"bsonType": "int", "anyOf": [{"bsonType": "int"}]}"#,
            good: #""n": {"bsonType": "int"}"#),
        .init(
            "keyword-undocumented warning n", #""n": {"bsonType": "int", "const": 1}"#,
            good: #""n": {"bsonType": "int"}"#),
        .init(
            "unknown-keyword error n", #""n": {"bsonType": "int", "minimun": 1}"#, good: #""n": {"bsonType": "int"}"#),
        .init(
            "unknown-keyword warning n", #""n": {"bsonType": "int", "readOnly": true}"#,
            good: #""n": {"bsonType": "int"}"#),
    ]

    @Test(arguments: names + types + collections + embedded + values)
    func oneRuleIsBroken(_ rule: LintCase) throws {
        #expect(try Lint.codes(Lint.pet(rule.bad, required: rule.badRequired)) == [rule.finding])
        #expect(try Lint.codes(Lint.pet(rule.good, required: rule.goodRequired)) == [])
    }

    @Test func integersAreOne() throws {
        let text = #""n": {"bsonType": "long", "default": {"$numberInt": "1"}}"#
        #expect(try Lint.codes(Lint.pet(text, required: ["n"])) == [])
    }

    @Test func aFindingSaysWhereAndWhatToDo() throws {
        let findings = SchemaLint.findings(in: try Lint.schema(Lint.pet(#""n": {"bsonType": ["int", "null"]}"#)))
        #expect(
            findings.map(\.description) == [
                "s:2:55: error type-multiple: n: only one type is allowed, but it lists int, null "
                    + "(leave null out, and the field out of required)"
            ])
        #expect(findings[0].namespace == pets)
    }
}
