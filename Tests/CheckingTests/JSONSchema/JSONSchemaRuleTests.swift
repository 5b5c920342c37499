import BSON
import Checking
import ServerSchema
import Testing

/// Tests every rule code in `semantics.md` section 5.2 with a document that breaks the rule and a document that does
/// not.
@Suite("Rules of the jsonschema dialect")
struct JSONSchemaRuleTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let rule: Rule
        let schema: String
        let fitting: String
        let failing: String
        let path: String
        var testDescription: String { "\(rule.code): \(failing)" }
    }

    static let examples = [
        example(.typeMismatch, of: "{bsonType: 'int'}", fits: "{a: 1}", fails: "{a: '1'}"),
        example(
            .requiredMissing, "{required: ['a']}", fits: "{a: null}", fails: "{b: 1}"),
        example(.belowMinimum, of: "{minimum: 2}", fits: "{a: 2}", fails: "{a: 1.5}"),
        example(.aboveMaximum, of: "{maximum: 2, exclusiveMaximum: true}", fits: "{a: 1.5}", fails: "{a: 2}"),
        example(.notMultipleOf, of: "{multipleOf: 3}", fits: "{a: 6}", fails: "{a: 7}"),
        example(.tooShort, of: "{minLength: 2}", fits: "{a: 'é1'}", fails: "{a: 'é'}"),
        example(.tooLong, of: "{maxLength: 2}", fits: "{a: 'éé'}", fails: "{a: 'abc'}"),
        example(.patternMismatch, of: "{pattern: '^a'}", fits: "{a: 'ab'}", fails: "{a: 'b'}"),
        example(.notInEnum, of: "{enum: [1, 'x']}", fits: "{a: 1.0}", fails: "{a: 2}"),
        example(.tooFewItems, of: "{minItems: 2}", fits: "{a: [1, 2]}", fails: "{a: [1]}"),
        example(.tooManyItems, of: "{maxItems: 1}", fits: "{a: []}", fails: "{a: [1, 2]}"),
        example(.itemsNotUnique, of: "{uniqueItems: true}", fits: "{a: [1, '1']}", fails: "{a: [1, 1.0]}"),
        example(
            .additionalItem, of: "{items: [{}], additionalItems: false}", fits: "{a: [1]}", fails: "{a: [1, 2]}"),
        example(.tooFewProperties, of: "{minProperties: 1}", fits: "{a: {x: 1}}", fails: "{a: {}}"),
        example(.tooManyProperties, of: "{maxProperties: 1}", fits: "{a: {x: 1}}", fails: "{a: {x: 1, y: 2}}"),
        example(
            .additionalProperty, "{properties: {a: {}}, additionalProperties: false}", fits: "{a: 1}",
            fails: "{b: 1}", at: "b"),
        example(
            .typeMismatch, "{patternProperties: {'^x': {bsonType: 'int'}}}", fits: "{x1: 1, y: 'a'}",
            fails: "{x1: 'a'}", at: "{}"),
        example(
            .dependencyMissing, "{dependencies: {a: ['b']}}", fits: "{a: 1, b: 1}", fails: "{a: 1}", at: "b"),
        example(
            .dependencySchema, "{dependencies: {a: {required: ['b']}}}", fits: "{a: 1, b: 1}", fails: "{a: 1}",
            at: "(root)"),
        example(.allOf, of: "{allOf: [{minimum: 1}, {maximum: 3}]}", fits: "{a: 2}", fails: "{a: 4}"),
        example(.anyOf, of: "{anyOf: [{minimum: 1}, {maximum: -1}]}", fits: "{a: 'x'}", fails: "{a: 0}"),
        example(.oneOf, of: "{oneOf: [{minimum: 1}, {maximum: 3}]}", fits: "{a: 4}", fails: "{a: 2}"),
        example(.not, of: "{not: {bsonType: 'null'}}", fits: "{a: 1}", fails: "{a: null}"),
        example(
            .encryptMismatch, of: "{encrypt: {}}", fits: "{a: {$binary: {base64: 'AQ==', subType: '6'}}}",
            fails: "{a: 'plain'}"),
    ]

    @Test("a document that breaks a rule is found by its code, at its place", arguments: examples)
    func broken(example: Example) throws {
        let schema = try CompiledSchema(jsonSchema: example.schema)
        let violations = try schema.violations(of: example.failing)
        #expect(try schema.verdict(on: example.failing) == .certain)
        #expect(violations.contains { $0.rule == example.rule && "\($0.path)" == example.path }, "\(violations)")
        #expect(violations.allSatisfy { $0.level == .certain })
    }

    @Test("a document that keeps the rule has no finding", arguments: examples)
    func kept(example: Example) throws {
        let schema = try CompiledSchema(jsonSchema: example.schema)
        #expect(try schema.verdict(on: example.fitting) == .fits)
        #expect(try schema.violations(of: example.fitting).isEmpty)
    }

    @Test("whether none or several of oneOf fit is said")
    func oneOfSays() throws {
        let schema = try CompiledSchema(jsonSchema: "{properties: {a: {oneOf: [{minimum: 1}, {maximum: 3}]}}}")
        #expect(try schema.violations(of: "{a: 2}").map(\.found) == ["int that fits several"])
        let strict = try CompiledSchema(jsonSchema: "{properties: {a: {oneOf: [{minimum: 5}, {maximum: 3}]}}}")
        #expect(try strict.violations(of: "{a: 4}").map(\.found) == ["int that fits none"])
    }

    @Test("what allOf and a dependency say in detail is said beside them")
    func details() throws {
        let all = try CompiledSchema(jsonSchema: "{properties: {a: {allOf: [{minimum: 1}]}}}")
        #expect(Set(try all.violations(of: "{a: 0}").map(\.rule.rule)) == [.allOf, .belowMinimum])
        let dependency = try CompiledSchema(jsonSchema: "{dependencies: {a: {required: ['b']}}}")
        #expect(Set(try dependency.violations(of: "{a: 0}").map(\.rule.rule)) == [.dependencySchema, .requiredMissing])
    }

    @Test("what is nested is found at its folded place")
    func nested() throws {
        let schema = try CompiledSchema(
            jsonSchema: "{properties: {a: {items: {properties: {b: {additionalProperties: {minimum: 1}}}}}}}")
        let violations = try schema.violations(of: "{a: [{b: {x: 5}}, {b: {y: 0}}]}")
        #expect(violations.map { "\($0.path)" } == ["a[].b{}"])
        #expect(violations.map(\.expected) == ["at least 1"])
        #expect(violations.map(\.found) == ["int"])
    }

    @Test("a pattern that cannot be decided is an error, never a verdict")
    func undecided() throws {
        let schema = try CompiledSchema(jsonSchema: "{properties: {a: {not: {pattern: '^(a+)+\\\\1$'}}}}")
        let text = "{a: '\(String(repeating: "a", count: 64))b'}"
        #expect(throws: BSONError.self) { try schema.verdict(on: text) }
    }

    @Test("objects of more fields than are marked are judged alike", arguments: [10, 64, 255, 256, 300])
    func wide(count: Int) throws {
        let names = (0..<count).map { "f\($0)" }
        let properties = names.map { "\($0): {bsonType: 'int'}" }.joined(separator: ", ")
        let required = names.map { "'\($0)'" }.joined(separator: ", ")
        let schema = try CompiledSchema(jsonSchema: "{properties: {\(properties)}, required: [\(required)]}")
        let fields = names.map { ($0, BSONValue.int(1)) }
        #expect(try schema.verdict(on: fields) == .fits)
        #expect(try schema.verdict(on: fields.reversed()) == .fits)
        #expect(try schema.verdict(on: fields.dropLast()) == .certain)
        #expect(try schema.verdict(on: fields.dropLast() + [("f\(count - 1)", "x")]) == .certain)
        // If a name occurs twice in a document, only the first field counts.
        #expect(try schema.verdict(on: fields + [("f\(count - 1)", "x")]) == .fits)
        #expect(try schema.verdict(on: [("f\(count - 1)", "x")] + fields) == .certain)
    }

    private static func example(
        _ rule: Rule, _ schema: String, fits: String, fails: String, at path: String = "a"
    ) -> Example { Example(rule: rule, schema: schema, fitting: fits, failing: fails, path: path) }

    /// Makes an example with this schema for the field `a`.
    private static func example(_ rule: Rule, of schema: String, fits: String, fails: String) -> Example {
        example(rule, "{properties: {a: \(schema)}}", fits: fits, fails: fails)
    }
}
