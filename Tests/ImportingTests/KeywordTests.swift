import BSON
import Importing
import ServerSchema
import Testing

/// Tests how the JSON Schema keywords for values, arrays and objects are translated to MongoDB's `$jsonSchema`.
@Suite struct KeywordTests {
    @Test(arguments: [
        (#"{"const": "a"}"#, #"{"enum": ["a"]}"#), (#"{"const": null}"#, #"{"enum": [null]}"#),
        (#"{"enum": [1, "a", 1.0, true, [1], {"b": 2}]}"#, #"{"enum": [1, "a", true, [1], {"b": 2}]}"#),
        (#"{"enum": [1, 5000000000, 0.5]}"#, #"{"enum": [1, 5000000000, 0.5]}"#), (#"{"enum": []}"#, #"{"not": {}}"#),
        (#"{"enum": [1, 2], "const": 2}"#, #"{"enum": [1, 2], "allOf": [{"enum": [2]}]}"#),
        (#"{"minimum": 1, "maximum": 2.5}"#, #"{"minimum": 1, "maximum": 2.5}"#),
        (#"{"exclusiveMinimum": 1}"#, #"{"minimum": 1, "exclusiveMinimum": true}"#),
        (#"{"exclusiveMaximum": 1.5}"#, #"{"maximum": 1.5, "exclusiveMaximum": true}"#),
        (#"{"minimum": 3, "exclusiveMinimum": 1}"#, #"{"minimum": 3}"#),
        (#"{"minimum": 3, "exclusiveMinimum": 3}"#, #"{"minimum": 3, "exclusiveMinimum": true}"#),
        (#"{"maximum": 3, "exclusiveMaximum": 9}"#, #"{"maximum": 3}"#),
        (#"{"minimum": 3, "exclusiveMinimum": true}"#, #"{"minimum": 3, "exclusiveMinimum": true}"#),
        (#"{"minimum": 3, "exclusiveMinimum": false}"#, #"{"minimum": 3}"#), (#"{"exclusiveMinimum": true}"#, "{}"),
        (#"{"multipleOf": 0.01}"#, #"{"multipleOf": 0.01}"#),
        (#"{"minLength": 0, "maxLength": 4}"#, #"{"maxLength": 4}"#), (#"{"minLength": 2.0}"#, #"{"minLength": 2}"#),
        (
            #"{"title": "T", "description": "D", "minLength": 1}"#,
            #"{"title": "T", "description": "D", "minLength": 1}"#
        ),
    ]) func theKeywordsOfValuesAreTranslated(_ schema: String, _ expected: String) throws {
        #expect(try field(schema) == bson(expected))
    }

    @Test(arguments: [
        (#"{"items": {"type": "string"}}"#, #"{"items": {"bsonType": "string"}}"#), (#"{"items": true}"#, "{}"),
        (#"{"items": false}"#, #"{"maxItems": 0}"#),
        (
            #"{"prefixItems": [{"type": "string"}, {}], "items": false}"#,
            #"{"items": [{"bsonType": "string"}, {}], "additionalItems": false}"#
        ),
        (
            #"{"items": [{}], "additionalItems": {"type": "null"}}"#,
            #"{"items": [{}], "additionalItems": {"bsonType": "null"}}"#
        ),
        (#"{"additionalItems": false}"#, "{}"),
        (#"{"prefixItems": [true], "unevaluatedItems": false}"#, #"{"items": [{}], "additionalItems": false}"#),
        (
            #"{"minItems": 1, "maxItems": 2, "uniqueItems": true}"#,
            #"{"minItems": 1, "maxItems": 2, "uniqueItems": true}"#
        ),
        (#"{"uniqueItems": false, "minItems": 0}"#, "{}"),
        (
            #"{"type": "array", "contains": {"const": 1}}"#,
            #"{"bsonType": "array", "not": {"items": {"not": {"enum": [1]}}}}"#
        ),
        (
            #"{"contains": {"const": 1}}"#,
            #"{"anyOf": [{"not": {"bsonType": "array"}}, {"not": {"items": {"not": {"enum": [1]}}}}]}"#
        ),
        (#"{"contains": {"const": 1}, "minContains": 0}"#, "{}"),
        (#"{"contains": {"const": 1}, "minContains": 0, "maxContains": 0}"#, #"{"items": {"not": {"enum": [1]}}}"#),
    ]) func theKeywordsOfArraysAreTranslated(_ schema: String, _ expected: String) throws {
        #expect(try field(schema) == bson(expected))
    }

    @Test(arguments: [
        (#"{"required": ["a", "a", "b"]}"#, #"{"required": ["a", "b"]}"#), (#"{"required": []}"#, "{}"),
        (#"{"properties": {"a": true, "b": false}}"#, #"{"properties": {"a": {}, "b": {"not": {}}}}"#),
        (#"{"additionalProperties": true}"#, "{}"), (#"{"additionalProperties": {}}"#, "{}"),
        (#"{"additionalProperties": false}"#, #"{"additionalProperties": false}"#),
        (#"{"additionalProperties": {"type": "boolean"}}"#, #"{"additionalProperties": {"bsonType": "bool"}}"#),
        (
            #"{"patternProperties": {"^a": {"type": "boolean"}}}"#,
            #"{"patternProperties": {"^a": {"bsonType": "bool"}}}"#
        ),
        (#"{"minProperties": 1, "maxProperties": 2}"#, #"{"minProperties": 1, "maxProperties": 2}"#),
        (#"{"propertyNames": {"type": "string"}}"#, "{}"), (#"{"propertyNames": false}"#, #"{"maxProperties": 0}"#),
        (
            #"{"propertyNames": {"pattern": "^a"}}"#,
            #"{"patternProperties": {"^a": {}}, "additionalProperties": false}"#
        ),
        (
            #"{"propertyNames": {"enum": ["a", "b"]}}"#,
            #"{"properties": {"a": {}, "b": {}}, "additionalProperties": false}"#
        ),
        (
            #"{"propertyNames": {"const": "a"}, "additionalProperties": {"type": "null"}}"#,
            #"{"additionalProperties": {"bsonType": "null"}, "allOf": [{"properties": {"a": {}}, "additionalProperties": false}]}"#
        ),
        (#"{"dependentRequired": {"a": ["b"], "c": []}}"#, #"{"dependencies": {"a": ["b"]}}"#),
        (
            #"{"dependentSchemas": {"a": {"required": ["b"]}, "c": true}}"#,
            #"{"dependencies": {"a": {"required": ["b"]}}}"#
        ),
        (
            #"{"dependencies": {"a": ["b"], "c": {"minProperties": 3}}}"#,
            #"{"dependencies": {"a": ["b"], "c": {"minProperties": 3}}}"#
        ),
        (
            #"{"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"a": {"maxProperties": 3}}}"#,
            #"{"dependencies": {"a": ["b"]}, "allOf": [{"dependencies": {"a": {"maxProperties": 3}}}]}"#
        ),
        (
            #"{"properties": {"a.b": {"type": "null"}}, "additionalProperties": false}"#,
            #"{"patternProperties": {"^a\\.b$": {"bsonType": "null"}}, "additionalProperties": false}"#
        ),
        (
            #"{"properties": {"a": {}}, "unevaluatedProperties": false}"#,
            #"{"properties": {"a": {}}, "allOf": [{"properties": {"a": {}}, "additionalProperties": false}]}"#
        ),
        (
            #"{"allOf": [{"properties": {"a": {}}}, {"required": ["b"], "properties": {"b": {}}}], "unevaluatedProperties": false}"#,
            #"{"properties": {"a": {}, "b": {}}, "additionalProperties": false, "allOf": [{"properties": {"a": {}}}, {"required": ["b"], "properties": {"b": {}}}]}"#
        ),
        (#"{"unevaluatedProperties": true}"#, "{}"),
    ]) func theKeywordsOfObjectsAreTranslated(_ schema: String, _ expected: String) throws {
        #expect(try field(schema) == bson(expected))
    }

    @Test func documentsMayAlwaysHaveAnID() throws {
        let strict = try imported(#"{"properties": {"a": {}}, "additionalProperties": false}"#)
        #expect(
            try .object(strict.root) == bson(#"{"properties": {"a": {}, "_id": {}}, "additionalProperties": false}"#))
        #expect(strict.notes.map(\.code) == [.idAllowed])
        #expect("\(strict.notes[0].path)" == "_id")
        let combined = try imported(#"{"allOf": [{"additionalProperties": {"type": "null"}}], "minProperties": 1}"#)
        #expect(
            try .object(combined.root)
                == bson(
                    #"{"properties": {"_id": {}}, "additionalProperties": {"bsonType": "null"}, "minProperties": 2}"#))
        let named = try imported(#"{"properties": {"_id": {}}, "additionalProperties": false, "maxProperties": 1}"#)
        #expect(named.notes.isEmpty)
        #expect(named.root["maxProperties"]?.integer == 1)
        let names = try imported(#"{"propertyNames": {"pattern": "^a"}}"#)
        #expect(
            try .object(names.root)
                == bson(#"{"properties": {"_id": {}}, "patternProperties": {"^a": {}}, "additionalProperties": false}"#)
        )
    }

    @Test func aFieldIDWithoutUnderscoreIsNoted() throws {
        let schema = try imported(#"{"properties": {"id": {"type": "string"}}}"#)
        #expect(schema.notes.map(\.code) == [.idMissing])
        #expect("\(schema.notes[0].location)" == "schema.json:1:17")
    }

    @Test func aDemandOnANameThatMongoDBCannotAddressIsLeftOut() throws {
        let schema = #"{"required": ["a.b", "c"], "dependentRequired": {"": ["c"], "d": ["e.f"]}}"#
        #expect(try field(schema) == bson(#"{"required": ["c"]}"#))
        #expect(try notes(schema).count == 3)
    }

    @Test func valuesOfTheWrongKindAreRefusedWithTheirPlace() {
        #expect(
            refusal("{\n  \"properties\": {\"x\": {\"minLength\": \"1\"}}\n}")
                == "schema.json:2:37: minLength must be a whole number from 0 on, not a string")
        for (schema, message) in [
            (#"{"required": "a"}"#, "required must be a list of names, not a string"),
            (#"{"required": [1]}"#, "an entry of required must be a string, not a number"),
            (#"{"properties": []}"#, "properties must be an object, not an empty list"),
            (#"{"properties": {"x": 1}}"#, "a schema must be an object or a boolean, not a number"),
            (
                #"{"properties": {"x": {"anyOf": []}}}"#,
                "anyOf must be a list of at least one schema, not an empty list"
            ),
            (#"{"properties": {"x": {"multipleOf": 0}}}"#, "multipleOf must be a number above 0, not a number"),
            (#"{"properties": {"x": {"maximum": "1"}}}"#, "maximum must be a number, not a string"),
            (#"{"title": 1}"#, "title must be a string, not a number"),
            (#"{"type": "object", "type": "object"}"#, "\"type\" is given twice (remove one)"),
            ("[]", "a schema must be an object, not an array"),
            (
                #"{"$jsonSchema": {}}"#,
                "this is a MongoDB validator already (check, diff and lint take the file as it is)"
            ),
        ] { #expect(refusal(schema)?.hasSuffix(": \(message)") == true, "\(schema): \(refusal(schema) ?? "")") }
    }
}
