import BSON
import Importing
import Testing

/// Tests the keywords that combine schemas.
@Suite struct CombinationTests {
    @Test(arguments: [
        (
            #"{"anyOf": [{"type": "string", "maxLength": 3}, {"type": "null"}], "title": "X"}"#,
            #"{"title": "X", "bsonType": ["string", "null"], "maxLength": 3}"#
        ),
        (
            #"{"oneOf": [{"type": "null"}, {"type": "integer", "minimum": 0}]}"#,
            #"{"bsonType": ["int", "long", "null"], "minimum": 0}"#
        ),
        (
            #"{"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]}"#,
            #"{"bsonType": ["string", "null"], "enum": ["a", null]}"#
        ),
        (
            #"{"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]}"#,
            #"{"bsonType": ["int", "long", "string", "null"]}"#
        ),
        (
            #"{"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string"}]}"#,
            #"{"bsonType": ["double", "int", "long", "decimal", "string"], "minimum": 0, "exclusiveMinimum": true}"#
        ),
        (
            #"{"anyOf": [{"type": "integer", "minimum": 5}, {"bsonType": "double"}]}"#,
            #"{"anyOf": [{"bsonType": ["int", "long"], "minimum": 5}, {"bsonType": "double"}]}"#
        ),
        (
            #"{"anyOf": [{"type": "string", "const": "a"}, {"type": "string", "const": "b"}]}"#,
            #"{"bsonType": "string", "enum": ["a", "b"]}"#
        ),
        (
            #"{"anyOf": [{"type": "string", "const": "a"}, {"type": "number", "const": 7}, {"type": "null"}]}"#,
            #"{"bsonType": ["string", "double", "int", "long", "decimal", "null"], "enum": ["a", 7, null]}"#
        ),
        (
            #"{"anyOf": [{"type": "string", "not": {"const": "a"}}, {"type": "null"}]}"#,
            #"{"anyOf": [{"bsonType": "string", "not": {"enum": ["a"]}}, {"bsonType": "null"}]}"#
        ),
        (#"{"anyOf": [{"type": "object", "required": ["a"]}, {"type": "object"}]}"#, #"{"bsonType": "object"}"#),
        (#"{"anyOf": [{"type": "string"}, {}]}"#, "{}"),
        (#"{"anyOf": [false, {"type": "null"}]}"#, #"{"bsonType": "null"}"#),
        (#"{"anyOf": [false]}"#, #"{"not": {}}"#),
        (
            #"{"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}"#,
            #"{"bsonType": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}"#
        ),
        (
            #"{"type": "string", "anyOf": [{"type": "string"}, {"type": "null"}]}"#,
            #"{"bsonType": "string", "allOf": [{"bsonType": ["string", "null"]}]}"#
        ),
        (#"{"oneOf": [{"minimum": 1}, {"maximum": 1}]}"#, #"{"oneOf": [{"minimum": 1}, {"maximum": 1}]}"#),
        (#"{"allOf": [{"type": "string"}]}"#, #"{"bsonType": "string"}"#),
        (
            #"{"minimum": 1, "allOf": [{"exclusiveMinimum": 2}]}"#,
            #"{"minimum": 1, "allOf": [{"minimum": 2, "exclusiveMinimum": true}]}"#
        ),
        (
            #"{"properties": {"a": {}}, "allOf": [{"additionalProperties": false}]}"#,
            #"{"properties": {"a": {}}, "allOf": [{"additionalProperties": false}]}"#
        ),
        (
            #"{"allOf": [{"required": ["a"]}, {}, {"required": ["b"]}]}"#,
            #"{"allOf": [{"required": ["a"]}, {"required": ["b"]}]}"#
        ),
        (#"{"not": {"type": "string"}}"#, #"{"not": {"bsonType": "string"}}"#), (#"{"not": {}}"#, #"{"not": {}}"#),
        (
            #"{"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}}"#,
            #"{"allOf": [{"anyOf": [{"required": ["a"]}, {"required": ["c"]}]}], "anyOf": [{"not": {"required": ["a"]}}, {"required": ["b"]}]}"#
        ),
        (#"{"if": {"required": ["a"]}}"#, "{}"), (#"{"then": {"required": ["a"]}}"#, "{}"),
    ]) func combinationsAreTranslated(_ schema: String, _ expected: String) throws {
        #expect(try field(schema) == bson(expected))
    }

    @Test(arguments: [
        (#"{"type": "string", "nullable": true}"#, #"{"bsonType": ["string", "null"]}"#),
        (#"{"type": "string", "nullable": false}"#, #"{"bsonType": "string"}"#),
        (
            #"{"type": "string", "enum": ["a"], "nullable": true}"#,
            #"{"bsonType": ["string", "null"], "enum": ["a", null]}"#
        ),
        (
            #"{"type": "string", "enum": ["a", null], "nullable": true}"#,
            #"{"bsonType": ["string", "null"], "enum": ["a", null]}"#
        ),
        (
            #"{"type": "array", "items": {}, "title": "T", "allOf": [{"minItems": 1}], "nullable": true}"#,
            #"{"title": "T", "bsonType": ["array", "null"], "minItems": 1}"#
        ),
        (
            #"{"allOf": [{"minItems": 1}, {"type": "array"}], "nullable": true}"#,
            #"{"anyOf": [{"allOf": [{"minItems": 1}, {"bsonType": "array"}]}, {"bsonType": "null"}]}"#
        ),
        (#"{"nullable": true}"#, "{}"),
    ]) func nullableAddsNull(_ schema: String, _ expected: String) throws {
        #expect(try field(schema) == bson(expected))
    }

    /// If the import cannot express a part of a schema, it leaves out the negation of this schema.
    ///
    /// The negation of the incomplete schema would refuse values that the source accepts.
    @Test(arguments: [
        (#"{"not": {"type": "string", "format": "email"}}"#, "{}"),
        (#"{"if": {"format": "email"}, "then": {"minLength": 1}, "else": {"minLength": 2}}"#, "{}"),
        (
            #"{"oneOf": [{"type": "string", "format": "email"}, {"type": "string", "format": "uri"}]}"#,
            #"{"bsonType": "string"}"#
        ),
        (#"{"contains": {"format": "email"}, "minContains": 0, "maxContains": 0}"#, "{}"),
    ]) func aNegationOfAnIncompleteSchemaIsLeftOut(_ schema: String, _ expected: String) throws {
        #expect(try field(schema) == bson(expected))
        #expect(try notes(schema).count == 2 + (schema.contains("uri") ? 1 : 0))
    }
}
