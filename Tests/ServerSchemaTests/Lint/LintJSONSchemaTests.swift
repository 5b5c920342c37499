import BSON
import ServerSchema
import Testing

/// Tests the lint rules for MongoDB's own dialect.
@Suite struct LintJSONSchemaTests {
    private func codes(_ text: String) throws -> [String] {
        let schema = try Lint.schema(#"{"$jsonSchema": \#(text)}"#)
        #expect(schema.dialect == .jsonSchema)
        return Lint.short(SchemaLint.findings(in: schema))
    }

    @Test func aClosedRootMustNameTheKey() throws {
        #expect(
            try codes(#"{"additionalProperties": false, "properties": {"a": {}}}"#) == ["id-forbidden error (root)"])
        #expect(try codes(#"{"additionalProperties": false, "properties": {"_id": {}}}"#) == [])
        #expect(try codes(#"{"additionalProperties": false, "patternProperties": {"^_": {}}}"#) == [])
        #expect(try codes(#"{"properties": {"a": {"bsonType": "object", "additionalProperties": false}}}"#) == [])
    }

    @Test func requiredFieldsThatNothingDescribes() throws {
        #expect(
            try codes(#"{"required": ["a", "b"], "properties": {"a": {"bsonType": "object", "required": ["c"]}}}"#)
                == ["required-undefined info (root)", "required-undefined info a"])
        #expect(try codes(#"{"required": ["_id", "a"], "properties": {"a": {}}}"#) == [])
    }

    /// The rule `pattern-outdated` reports a pattern that newer servers refuse, wherever it is in the schema.
    @Test func patternsThatNewerServersRefuse() throws {
        #expect(
            try codes(##"{"properties": {"a": {"pattern": "^[\\w-.]+$"}, "b": {"pattern": "^[\\w\\-.]+$"}}}"##)
                == ["pattern-outdated warning a"])
        #expect(try codes(##"{"patternProperties": {"^\\i": {"pattern": "\\j"}}}"##).count == 2)
        for around in [
            ##"{"allOf": [{"properties": {"a": $}}]}"##, ##"{"not": {"anyOf": [{}, $]}}"##,
            ##"{"dependencies": {"a": $}}"##, ##"{"items": [{}], "additionalItems": $}"##,
        ] {
            let text = around.replacing("$", with: ##"{"pattern": "\\i"}"##)
            #expect(try codes(text) == ["pattern-outdated warning (root)"], "\(text)")
        }
    }

    /// The rules for the App Services dialect do not apply to MongoDB's own dialect.
    @Test func theDialectDecides() throws {
        let text = #"{"properties": {"a": {"bsonType": "timestamp"}}}"#
        #expect(try codes(text) == [])
        #expect(try !Lint.codes(text).isEmpty)
    }
}
