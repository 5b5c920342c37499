import BSON
import Importing
import ServerSchema
import Testing

/// Tests the BSON types to which the types and formats of JSON Schema are translated.
@Suite struct TypeTests {
    @Test(arguments: [
        (#"{"type": "string"}"#, #"{"bsonType": "string"}"#),
        (#"{"type": "integer"}"#, #"{"bsonType": ["int", "long"]}"#),
        (#"{"type": "number"}"#, #"{"bsonType": ["double", "int", "long", "decimal"]}"#),
        (#"{"type": ["integer", "number"]}"#, #"{"bsonType": ["int", "long", "double", "decimal"]}"#),
        (#"{"type": "boolean"}"#, #"{"bsonType": "bool"}"#), (#"{"type": "null"}"#, #"{"bsonType": "null"}"#),
        (#"{"type": "object"}"#, #"{"bsonType": "object"}"#), (#"{"type": "array"}"#, #"{"bsonType": "array"}"#),
        (#"{"type": ["string", "null"]}"#, #"{"bsonType": ["string", "null"]}"#),
        (#"{"type": "Date"}"#, #"{"bsonType": "date"}"#), (#"{"type": "Uint8Array"}"#, #"{"bsonType": "binData"}"#),
        (#"{"bsonType": ["date", "null"]}"#, #"{"bsonType": ["date", "null"]}"#),
        (#"{"bsonType": "number", "type": "string"}"#, #"{"bsonType": "number"}"#),
        ("{}", "{}"), ("true", "{}"), ("false", #"{"not": {}}"#),
    ]) func aTypeBecomesTheTypesThatBSONStoresItIn(_ schema: String, _ expected: String) throws {
        #expect(try field(schema) == bson(expected))
    }

    @Test(arguments: [
        ("date-time", #"{"bsonType": "date"}"#), ("date", #"{"bsonType": "date"}"#),
        ("uuid", #"{"bsonType": "binData"}"#), ("binary", #"{"bsonType": "binData"}"#),
        ("objectid", #"{"bsonType": "objectId"}"#), ("email", #"{"bsonType": "string"}"#),
        ("duration", #"{"bsonType": ["string", "double", "int", "long", "decimal"]}"#),
    ]) func aStringWithAFormatIsStoredAsTheFormatSays(_ format: String, _ expected: String) throws {
        #expect(try field(#"{"type": "string", "format": "\#(format)"}"#) == bson(expected))
        #expect(
            try field(#"{"type": "string", "format": "\#(format)"}"#, keepsStrings: true)
                == bson(#"{"bsonType": "string"}"#))
    }

    @Test func aFormatAloneMeansAString() throws {
        #expect(try field(#"{"format": "date-time"}"#) == bson(#"{"bsonType": "date"}"#))
        #expect(try field(#"{"format": "email"}"#) == bson("{}"))
    }

    @Test func theKeywordsOfStringsDoNotApplyToADate() throws {
        let schema = #"{"type": ["string", "null"], "format": "date-time", "pattern": "Z$", "minLength": 1}"#
        #expect(try field(schema) == bson(#"{"bsonType": ["date", "null"]}"#))
        #expect(
            try notes(schema) == [
                "decision: format date-time is stored as date",
                "left-out: pattern is left out: the value is stored as date",
                "left-out: minLength is left out: the value is stored as date",
            ])
    }

    @Test(arguments: [
        "^[0-9a-fA-F]{24}$", "^[a-f0-9]{24}$", "^[a-fA-F\\\\d]{24}$", "^(?:[0-9a-f]{24})$", "^([0-9A-F]{24})$",
    ]) func twentyFourHexadecimalDigitsAreAnObjectID(_ pattern: String) throws {
        #expect(try field(#"{"type": "string", "pattern": "\#(pattern)"}"#) == bson(#"{"bsonType": "objectId"}"#))
    }

    @Test(arguments: ["^[0-9a-f]{23}$", "[0-9a-f]{24}", "^[0-9]{24}$", "^[a-z0-9]{24}$", "^[0-9a-f]{24}x$"])
    func anyOtherPatternIsAString(_ pattern: String) throws {
        #expect(
            try field(#"{"type": "string", "pattern": "\#(pattern)"}"#)
                == bson(#"{"bsonType": "string", "pattern": "\#(pattern)"}"#))
    }

    @Test(arguments: [
        (#"{"type": "string"}"#, #"{"bsonType": "objectId"}"#),
        (#"{"anyOf": [{"type": "string"}, {"type": "null"}]}"#, #"{"bsonType": ["objectId", "null"]}"#),
        (#"{"type": "string", "minLength": 24, "maxLength": 24}"#, #"{"bsonType": "objectId"}"#),
        (#"{"type": "string", "format": "uuid"}"#, #"{"bsonType": "binData"}"#),
        (#"{"type": "string", "pattern": "^C-"}"#, #"{"bsonType": "string", "pattern": "^C-"}"#),
        (#"{"type": "string", "minLength": 3}"#, #"{"bsonType": "string", "minLength": 3}"#),
        (#"{"type": "string", "enum": ["a"]}"#, #"{"bsonType": "string", "enum": ["a"]}"#),
        (#"{"type": "integer"}"#, #"{"bsonType": ["int", "long"]}"#),
    ]) func aPlainStringIDOfDocumentsIsAnObjectID(_ schema: String, _ expected: String) throws {
        let whole = try imported(#"{"properties": {"_id": \#(schema)}}"#)
        #expect(try whole.root["properties"]?.document?["_id"] == bson(expected))
        let inner = try field(#"{"properties": {"_id": {"type": "string"}}}"#)
        #expect(try inner == bson(#"{"properties": {"_id": {"bsonType": "string"}}}"#))
    }

    @Test func listedStringsStayStrings() throws {
        #expect(
            try field(#"{"type": "string", "format": "date", "enum": ["2024-01-01"]}"#)
                == bson(#"{"bsonType": "string", "enum": ["2024-01-01"]}"#))
    }

    @Test func anUnknownTypeIsRefusedWithTheNearestOne() {
        #expect(
            refusal(#"{"properties": {"x": {"type": "int"}}}"#)
                == "schema.json:1:31: unknown type \"int\" (JSON Schema has string, integer, number, boolean, null, "
                + "object, array)")
        #expect(refusal(#"{"type": "obect"}"#)?.hasSuffix("(did you mean \"object\"?)") == true)
        #expect(refusal(#"{"type": []}"#) == "schema.json:1:10: type must be at least one type, not an empty list")
        #expect(refusal(#"{"bsonType": "uuid"}"#)?.contains("unknown bsonType \"uuid\"") == true)
    }

    @Test func aSchemaThatDescribesNoDocumentsIsRefused() {
        #expect(
            refusal(#"{"type": "array", "items": {}}"#)
                == "schema.json:1:1: the schema describes array, and documents are objects (choose another schema of "
                + "the file with --schema)")
        #expect(refusal(#"{"type": ["object", "null"]}"#) == nil)
    }
}
