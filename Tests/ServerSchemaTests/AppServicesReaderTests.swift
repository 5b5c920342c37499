import BSON
import ServerSchema
import Testing

@Suite struct AppServicesReaderTests {
    private func read(_ text: String) throws(SchemaError) -> ServerSchema {
        try ServerSchema.read(text: text, file: "s", namespace: pets)
    }

    /// Returns the property `x`, described by `text`, of a root that otherwise has only an `_id`.
    private func property(_ text: String) throws -> SchemaNode {
        let root = try read(#"{"properties": {"_id": {"bsonType": "string"}, "x": \#(text)}}"#).collections[0].root
        return try #require(root.property("x"))
    }

    private func notes(_ text: String) throws -> [String] { try read(text).notes.map(\.description) }

    static let refusals: [Refusal] = [
        .init("[]", "s:1:1: a schema must be an object, not an array"),
        .init("{}", "s: the schema of shop.Pet is a placeholder (write its schema)"),
        .init(
            #"{"bsonType": "array"}"#,
            "s:1:14: the root of a schema must describe an object "
                + "(write bsonType \"object\")"),
        .init(
            #"{"bsonType": ["object", "null"]}"#,
            "s:1:14: the root of a schema must describe an object "
                + "(write bsonType \"object\")"),
        .init(#"{"bsonType": "strng"}"#, #"s:1:14: unknown bsonType "strng" (did you mean "string"?)"#),
        .init(#"{"bsonType": "objectID"}"#, #"s:1:14: unknown bsonType "objectID" (did you mean "objectId"?)"#),
        .init(#"{"bsonType": "boolean"}"#, #"s:1:14: unknown bsonType "boolean" (did you mean "bool"?)"#),
        .init(#"{"bsonType": "integer"}"#, #"s:1:14: unknown bsonType "integer" (did you mean "int"?)"#),
        .init(#"{"bsonType": "quaternion"}"#, #"s:1:14: unknown bsonType "quaternion""#),
        .init(#"{"bsonType": 2}"#, #"s:1:14: bsonType takes names, not the code 2 (write "string")"#),
        .init(#"{"bsonType": []}"#, "s:1:14: bsonType must be at least one type, not an empty array"),
        .init(#"{"bsonType": {}}"#, "s:1:14: bsonType must be a string or a list of strings, not an object"),
        .init(#"{"bsonType": ["int", "int"]}"#, #"s:1:22: bsonType lists "int" twice (remove one)"#),
        .init(#"{"type": "integer"}"#, #"s:1:10: unknown type "integer" (write bsonType "int" or "long")"#),
        .init(#"{"type": "objectId"}"#, #"s:1:10: unknown type "objectId" (write bsonType "objectId")"#),
        .init(
            #"{"type": "object", "bsonType": "object"}"#,
            "s:1:10: type and bsonType exclude each other "
                + "(keep bsonType)"),
        .init(#"{"title": "A", "title": "B"}"#, #"s:1:16: keyword "title" is given twice (the first is in line 1)"#),
        .init(#"{"title": 1}"#, "s:1:11: title must be a string, not the number 1"),
        .init(#"{"required": "a"}"#, "s:1:14: required must be a list of strings, not a string"),
        .init(#"{"required": [1]}"#, "s:1:15: required must list strings, not a number"),
        .init(#"{"required": ["a", "a"]}"#, #"s:1:20: required lists "a" twice (remove one)"#),
        .init(#"{"properties": []}"#, "s:1:16: properties must be an object of schemas, not an empty array"),
        .init(
            #"{"properties": {"a": "int"}}"#,
            #"s:1:22: property "a" must be a schema, not a string "#
                + #"(write {"bsonType": "int"})"#),
        .init(#"{"properties": {"a": {}, "a": {}}}"#, #"s:1:26: property "a" is given twice (the first is in line 1)"#),
        .init(
            #"{"properties": {"a": {"required": true}}}"#,
            "s:1:35: required must be a list of strings, not a "
                + "boolean (list the field in the object around it)"),
        .init(#"{"items": true}"#, "s:1:11: items must be a schema, not a boolean"),
        .init(#"{"uniqueItems": 1}"#, "s:1:17: uniqueItems must be a boolean, not the number 1"),
        .init(
            #"{"additionalProperties": "string"}"#,
            "s:1:26: additionalProperties must be a boolean or a schema, "
                + "not a string"),
        .init(#"{"minimum": "0"}"#, "s:1:13: minimum must be a number, not a string"),
        .init(#"{"exclusiveMinimum": 0}"#, "s:1:22: exclusiveMinimum must be a boolean, not the number 0"),
        .init(#"{"minLength": -1}"#, "s:1:15: minLength must be a whole number from 0 on, not the number -1"),
        .init(#"{"pattern": []}"#, "s:1:13: pattern must be a string, not an empty array"),
        .init(
            #"{"properties": {"a": {"default": {"$oid": "x"}}}}"#,
            "s:1:34: this is not extended JSON: invalid extended JSON: Invalid input string \"…\", looking for OID"),
    ]

    @Test(arguments: refusals) func aBadSchemaIsRefusedAtItsPlace(_ refusal: Refusal) {
        #expect(refusal.check { text throws(SchemaError) in _ = try read(text) } == refusal.error)
    }

    @Test func notesSayWhatWasPassedOver() throws {
        let id = #""properties": {"_id": {"bsonType": "string"}}"#
        #expect(try notes("{\(id)}") == [])
        #expect(
            try notes(#"{"title": "A"}"#) == [
                "s:1:1: properties do not name _id, the primary key: the collection cannot sync"
            ])
        #expect(
            try notes(#"{"requird": [], "x-y-z": 1, \#(id)}"#) == [
                #"s:1:2: unknown keyword "requird" (did you mean "required"?)"#,
                #"s:1:17: unknown keyword "x-y-z" is ignored"#,
            ])
        #expect(try notes(#"{"type": "object", \#(id)}"#) == ["s:1:10: type is kept for compatibility: write bsonType"])
        #expect(
            try notes(#"{"validate": 1, "allOf": [], \#(id)}"#) == [
                #"s:1:2: keyword "validate" is not evaluated"#,
                #"s:1:17: undocumented keyword "allOf" is not evaluated"#,
            ])
        #expect(
            try notes(#"{"pattern": "(", \#(id)}"#).map { $0.prefix(41) } == [
                #"s:1:13: the pattern "(" is not evaluated:"#
            ])
    }

    @Test func keywordsWithoutARuleStayWithTheirNode() throws {
        let node = try property(#"{"bsonType": "int", "minimum": 0, "format": "x", "validate": {"%%true": true}}"#)
        #expect(node.unevaluated.map(\.keyword) == ["format", "validate"])
        #expect(node.unevaluated[0].location.description == "s:1:87")
    }

    @Test func constraintsAreRead() throws {
        let number = try property(
            """
            {"bsonType": "decimal", "minimum": 0, "exclusiveMinimum": true, "maximum": {"$numberDecimal": "9.5"}, \
            "multipleOf": 0.5, "enum": [1, "a", null]}
            """
        ).constraints
        #expect(number.minimum.number == .int(0) && number.minimum.isExclusive)
        #expect(number.maximum.number?.type == .decimal && !number.maximum.isExclusive)
        #expect(number.multipleOf == .double(0.5))
        #expect(number.allowedValues == [.int(1), "a", .null])
        let text = try property(#"{"bsonType": "string", "minLength": 1, "maxLength": 3.0, "pattern": "^a"}"#)
            .constraints
        #expect(text.length.minimum == 1 && text.length.maximum == 3 && text.pattern == "^a")
        let object = try property(
            """
            {"bsonType": "object", "minProperties": 1, "patternProperties": {"^x": {"bsonType": "uuid"}}, \
            "dependencies": {"a": ["b"], "c": {"required": ["d"]}}, "not": {"required": ["e"]}, \
            "oneOf": [{"bsonType": "mixed"}, {}]}
            """
        ).constraints
        #expect(object.propertyCount.minimum == 1)
        #expect(object.patternProperties.map(\.node.types) == [[.uuid]])
        #expect(object.dependencies.map(\.field) == ["a", "c"])
        #expect(object.combinations.map(\.kind) == [.not, .oneOf])
        let list = try property(#"{"bsonType": "array", "items": [{}], "additionalItems": false, "maxItems": 2}"#)
        if case .forbidden? = list.constraints.additionalItems {} else { Issue.record("additionalItems") }
        #expect(list.constraints.itemCount.maximum == 2)
    }

    @Test func typesAreReadAsTheyAreMeant() throws {
        #expect(try property(#"{"bsonType": "float"}"#).types == [.double])
        #expect(try property(#"{"bsonType": "binary"}"#).types == [.binData])
        #expect(try property(#"{"bsonType": ["string", "null"]}"#).types == [.string, .null])
        #expect(try property(#"{"type": ["boolean", "number"]}"#).types == [.bool, .number])
        #expect(try property("{}").types == [])
    }

    static let defaults: [(String, BSONValue?)] = [
        (#"{"bsonType": "int", "default": 5}"#, .int(5)),
        (#"{"default": 5, "bsonType": "long"}"#, .long(5)),
        (#"{"bsonType": "double", "default": 5}"#, .double(5)),
        (#"{"bsonType": "decimal", "default": -1.50}"#, .decimal(Decimal128(high: 0xB03C << 48, low: 150))),
        (#"{"bsonType": "int", "default": 5000000000}"#, .long(5_000_000_000)),
        (#"{"bsonType": "int", "default": 1.5}"#, .double(1.5)),
        (#"{"bsonType": "string", "default": ""}"#, .string("")),
        (#"{"bsonType": "string", "default": null}"#, nil),
        (#"{"bsonType": "bool", "default": false}"#, .bool(false)),
        (#"{"bsonType": "long", "default": {"$numberLong": "7"}}"#, .long(7)),
        (#"{"bsonType": "int", "default": {"$numberInt": "7"}}"#, .int(7)),
        (#"{"bsonType": "double", "default": {"$numberDouble": "-Infinity"}}"#, .double(-.infinity)),
        (#"{"bsonType": "date", "default": {"$date": "1970-01-01T00:00:01Z"}}"#, .date(milliseconds: 1000)),
        (#"{"bsonType": "date", "default": {"$date": "1970-01-01T00:00:01.025Z"}}"#, .date(milliseconds: 1025)),
        (#"{"bsonType": "date", "default": {"$date": {"$numberLong": "-3"}}}"#, .date(milliseconds: -3)),
        (
            #"{"bsonType": "objectId", "default": {"$oid": "0123456789abcdef01234567"}}"#,
            .objectID(ObjectID(high: 0x0123_4567_89AB_CDEF, low: 0x0123_4567))
        ),
        (
            #"{"bsonType": "uuid", "default": {"$uuid": "00112233-4455-6677-8899-aabbccddeeff"}}"#,
            .binary(subtype: 4, bytes: [0, 17, 34, 51, 68, 85, 102, 119, 136, 153, 170, 187, 204, 221, 238, 255])
        ),
        (
            #"{"bsonType": "binData", "default": {"$binary": {"base64": "AQI=", "subType": "00"}}}"#,
            .binary(subtype: 0, bytes: [1, 2])
        ),
        (#"{"bsonType": "date", "default": {"$timestamp": {"t": 1, "i": 2}}}"#, .timestamp(1 << 32 | 2)),
        (#"{"bsonType": "object", "default": {"$ref": "x", "$id": 1}}"#, ["$ref": "x", "$id": 1]),
        (#"{"bsonType": "array", "default": ["a"]}"#, ["a"]),
        (#"{"bsonType": "object", "default": {"a": {"b": 1}}}"#, ["a": ["b": 1]]),
    ]

    @Test(arguments: defaults) func defaultsTakeTheDeclaredType(_ text: String, _ value: BSONValue?) throws {
        #expect(try property(text).defaultValue == value)
    }

    /// Numbers may also be in extended JSON, for example in an export that went through a shell or a driver.
    @Test func numbersOfExtendedJSONAreNumbers() throws {
        let node = try property(
            #"""
            {"bsonType": "int", "minimum": {"$numberInt": "0"}, "maximum": {"$numberLong": "9"},
             "multipleOf": {"$numberDouble": "3.0"}, "enum": [{"$numberInt": "3"}]}
            """#)
        #expect(node.constraints.minimum.number == 0 && node.constraints.maximum.number == .long(9))
        #expect(node.constraints.multipleOf == .double(3) && node.constraints.allowedValues == [3])
        let text = try property(
            #"{"bsonType": "string", "minLength": {"$numberInt": "1"}, "maxLength": {"$numberLong": "64"}}"#)
        #expect(text.constraints.length.minimum == 1 && text.constraints.length.maximum == 64)
        let list = try property(
            #"{"bsonType": "array", "minItems": {"$numberInt": "1"}, "maxItems": {"$numberDouble": "2.0"}}"#)
        #expect(list.constraints.itemCount.minimum == 1 && list.constraints.itemCount.maximum == 2)
    }

    /// A keyword that is not evaluated may have any value; an `enum` with an empty list is such a keyword.
    @Test func anUnevaluatedKeywordMayHoldAnything() throws {
        let node = try property(#"{"bsonType": "int", "format": 1, "const": null, "enum": [], "$ref": {}}"#)
        #expect(node.unevaluated.map(\.keyword) == ["format", "const", "enum", "$ref"])
    }

    /// The reader accepts or refuses a schema with one damaged byte, but does not crash.
    @Test func damagedFilesNeverTrap() throws {
        let text = Array(
            #"""
            {"title":"A","required":["_id"],"properties":{"_id":{"bsonType":["int","long"]},
            "d":{"bsonType":"date","default":{"$date":"2020-01-01T00:00:00Z"}},
            "n":{"type":"number","default":-1.5e2,"minimum":0},
            "s":{"bsonType":"array","uniqueItems":true,"items":{"bsonType":"decimal","default":"\u00e9"}}}}
            """#.utf8)
        for index in text.indices {
            for byte in Array(#"{}[]":,\0-e. "#.utf8) + [0, 0x80, 0xFF] {
                var damaged = text
                damaged[index] = byte
                _ = try? read(String(decoding: damaged, as: UTF8.self))
            }
        }
    }
}
