import BSON
import Checking
import ServerSchema
import Testing

/// Tests the keywords that restrict values; other suites test the keywords for types and fields.
///
/// In the App Services dialect, a finding about such a keyword has the level "possible".
@Suite struct ConstraintRuleTests {
    /// Returns the schema of a collection with one field `f`.
    /// - Parameter root: further keywords of the root, as JSON text after a comma.
    private func schema(_ field: String, root: String = "") throws -> CompiledSchema {
        let text = """
            { "bsonType": "object", "properties": { "_id": { "bsonType": "int" }, "f": \(field) } \(root) }
            """
        let namespace = Namespace(database: "app", collection: "Person")
        return CompiledSchema(try ServerSchema.read(text: text, namespace: namespace).collections[0])
    }

    /// Keywords, a value that fits them, a value that does not, and the finding for the second value.
    struct Case: Sendable, CustomTestStringConvertible {
        let keywords: String
        let fitting: BSONValue
        let failing: BSONValue
        let finding: String
        var testDescription: String { keywords }

        init(_ keywords: String, _ fitting: BSONValue, _ failing: BSONValue, _ finding: String) {
            self.keywords = keywords
            self.fitting = fitting
            self.failing = failing
            self.finding = finding
        }
    }

    private static let cases = [
        Case(#""bsonType": "int", "minimum": 0"#, 0, -1, "constraint-below-minimum possible f: at least 0 / int"),
        Case(
            #""bsonType": "int", "maximum": 9, "exclusiveMaximum": true"#, 8, 9,
            "constraint-above-maximum possible f: less than 9 / int"),
        Case(
            #""bsonType": "int", "multipleOf": 3"#, 9, 10,
            "constraint-not-multiple-of possible f: a multiple of 3 / int"),
        Case(
            #""bsonType": "string", "minLength": 2"#, "éé", "é",
            "constraint-too-short possible f: at least 2 characters / string"),
        Case(
            #""bsonType": "string", "maxLength": 2"#, "éé", "ééé",
            "constraint-too-long possible f: at most 2 characters / string"),
        Case(
            #""bsonType": "string", "pattern": "^a+$""#, "aa", "ab",
            "constraint-pattern-mismatch possible f: a match of ^a+$ / string"),
        Case(
            #""bsonType": "int", "enum": [1, 2, 2.0]"#, 2, 3,
            "constraint-not-in-enum possible f: one of 2 values / int"),
        Case(
            #""bsonType": "array", "items": { "bsonType": "int" }, "minItems": 1"#, [1], [],
            "constraint-too-few-items possible f: at least 1 elements / array"),
        Case(
            #""bsonType": "array", "maxItems": 1"#, [1], [1, 2],
            "constraint-too-many-items possible f: at most 1 elements / array"),
        Case(
            #""bsonType": "array", "items": [{ "bsonType": "int" }], "additionalItems": false"#, [1], [1, 2],
            "constraint-additional-item possible f: no further elements / int"),
        Case(
            #""bsonType": "object", "minProperties": 1"#, ["a": 1], [:],
            "constraint-too-few-properties possible f: at least 1 fields / object"),
        Case(
            #""bsonType": "object", "maxProperties": 1"#, ["a": 1], ["a": 1, "b": 1],
            "constraint-too-many-properties possible f: at most 1 fields / object"),
        Case(
            #""bsonType": "object", "dependencies": { "a": ["b"] }"#, ["a": 1, "b": 1], ["a": 1],
            "constraint-dependency-missing possible f.b: the field that another field requires / missing"),
        Case(
            #""bsonType": "object", "dependencies": { "a": { "required": ["b"] } }"#, ["a": 1, "b": 1], ["a": 1],
            "constraint-dependency-schema possible f: the object that a field requires / object"),
        Case(
            #""bsonType": "int", "allOf": [{ "minimum": 1 }, { "maximum": 3 }]"#, 2, 4,
            "constraint-all-of possible f: all of 2 schemas / int"),
        Case(
            #""bsonType": "mixed", "anyOf": [{ "bsonType": "int" }, { "bsonType": "uuid" }]"#, .uuid(), "x",
            "constraint-any-of possible f: any of 2 schemas / string"),
        Case(
            #""bsonType": "int", "oneOf": [{ "minimum": 1 }, { "maximum": 3 }]"#, 4, 2,
            "constraint-one-of possible f: exactly one of 2 schemas / "),
        Case(
            #""bsonType": "int", "not": { "enum": [7] }"#, 2, 7,
            "constraint-not possible f: not what the schema excludes / int"),
        Case(
            #""bsonType": "object", "properties": {}, "patternProperties": { "^x": { "bsonType": "int" } }"#,
            ["x": 1], ["x": "y"], "constraint-type-mismatch possible f"),
    ]

    @Test(arguments: cases) func constraint(_ sample: Case) throws {
        let schema = try schema("{ \(sample.keywords) }")
        #expect(schema.unevaluatedKeywords.isEmpty)
        #expect(try schema.findings(["_id": 1, "f": sample.fitting]).filter { !$0.contains("info") } == [])
        #expect(try schema.verdict(["_id": 1, "f": sample.fitting]) == .fits)
        let findings = try schema.findings(["_id": 1, "f": sample.failing])
        #expect(findings.contains { $0.hasPrefix(sample.finding) }, "\(findings)")
        #expect(try schema.verdict(["_id": 1, "f": sample.failing]) == .possible)
        #expect(try schema.verdict(["_id": 1]) == .fits)
    }

    @Test func syncsOwnNullIsNoValue() throws {
        let schema = try schema(#"{ "bsonType": "string", "enum": ["a"], "minLength": 1 }"#)
        #expect(try schema.verdict(["_id": 1, "f": nil]) == .fits)
        let list = try self.schema(#"{ "bsonType": "array", "items": { "bsonType": "string", "enum": ["a"] } }"#)
        #expect(try list.findings(["_id": 1, "f": [nil]]) == ["array-item-null certain f[]: string / null"])
    }

    @Test func aWrongTypeIsWorseThanABrokenConstraint() throws {
        let schema = try schema(#"{ "bsonType": "int", "minimum": 0 }"#)
        #expect(try schema.verdict(["_id": 1, "f": "x"]) == .certain)
        #expect(try schema.findings(["_id": 1, "f": -1.5]).count == 2)
    }

    @Test func constraintsInsideOfListsDictionariesAndObjects() throws {
        let positive = #"{ "bsonType": "int", "minimum": 0 }"#
        let list = try schema(#"{ "bsonType": "array", "items": \#(positive) }"#)
        #expect(try list.findings(["_id": 1, "f": [1, -1]]).map { $0.contains(" f[]: ") } == [true])
        let dictionary = try schema(#"{ "bsonType": "object", "additionalProperties": \#(positive) }"#)
        #expect(try dictionary.findings(["_id": 1, "f": ["a": -1]]).map { $0.contains(" f{}: ") } == [true])
        let object = try schema(#"{ "bsonType": "object", "properties": { "n": \#(positive), "m": {} } }"#)
        #expect(try object.findings(["_id": 1, "f": ["n": -1]]).map { $0.contains(" f.n: ") } == [true])
        #expect(try object.findings(["_id": 1, "f": ["n": 1, "m": "x"]]) == [])
    }

    @Test func patternsDecideWhichFieldsAreAdditional() throws {
        let schema = try schema(
            #"{ "bsonType": "int" }"#,
            root: #", "patternProperties": { "^x": { "bsonType": "int" } }, "additionalProperties": false"#)
        #expect(try schema.findings(["_id": 1, "f": 1, "x1": 1]) == [])
        #expect(try schema.findings(["_id": 1, "y": 1]).map { $0.prefix(30) } == ["additional-property possible y"])
    }

    @Test func theVendorsNames() {
        #expect(RuleCode(rawValue: "constraint-below-minimum").rule?.vendorCode(in: .appServices) == "number_gte")
        #expect(RuleCode(rawValue: "constraint-not-in-enum").rule?.vendorCode(in: .appServices) == "enum")
    }
}
