import BSON
import ServerSchema
import Testing

/// The few rules of MongoDB's own dialect.
@Suite struct LintJSONSchemaTests {
    private func codes(_ text: String) throws -> [String] {
        Lint.short(SchemaLint.jsonSchema(try Lint.schema(text).collections[0].root, namespace: pets))
    }

    @Test func aClosedRootMustNameTheKey() throws {
        #expect(
            try codes(#"{"additionalProperties": false, "properties": {"a": {}}}"#) == ["id-forbidden error (root)"])
        #expect(try codes(#"{"additionalProperties": false, "properties": {"_id": {}}}"#) == [])
        #expect(try codes(#"{"properties": {"a": {"bsonType": "object", "additionalProperties": false}}}"#) == [])
    }

    @Test func requiredFieldsThatNothingDescribes() throws {
        #expect(
            try codes(#"{"required": ["a", "b"], "properties": {"a": {"bsonType": "object", "required": ["c"]}}}"#)
                == ["required-undefined info (root)", "required-undefined info a"])
        #expect(try codes(#"{"required": ["a"], "properties": {"a": {}}}"#) == [])
    }

    /// The App Services rules are not for it.
    @Test func theDialectDecides() throws {
        var schema = try Lint.schema(#"{"properties": {"a": {"bsonType": "timestamp"}}}"#)
        #expect(SchemaLint.findings(in: schema).isEmpty == false)
        schema.dialect = .jsonSchema
        #expect(SchemaLint.findings(in: schema) == [])
    }
}
