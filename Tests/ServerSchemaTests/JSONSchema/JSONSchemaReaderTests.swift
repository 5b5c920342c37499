import BSON
import ServerSchema
import Testing

@Suite("MongoDB validators")
struct JSONSchemaReaderTests {
    private let namespace = Namespace(database: "app", collection: "Person")

    private func read(_ text: String) throws -> ServerSchema {
        try ServerSchema.read(text: text, file: "v.json", namespace: namespace)
    }

    @Test(
        "the validator may stand alone, in a command, or in what the server lists",
        arguments: [
            #"{"$jsonSchema": {"required": ["a"]}}"#,
            #"{"collMod": "Person", "validator": {"$jsonSchema": {"required": ["a"]}}, "validationLevel": "strict"}"#,
            #"{"name": "Person", "options": {"validator": {"$jsonSchema": {"required": ["a"]}}}}"#,
        ])
    func forms(text: String) throws {
        let schema = try read(text)
        #expect(schema.dialect == .jsonSchema)
        #expect(schema.collections.map(\.root.required) == [["a"]])
    }

    @Test("conditions beside $jsonSchema are noted, not judged")
    func otherConditions() throws {
        let schema = try read(#"{"$jsonSchema": {}, "age": {"$gt": 5}}"#)
        #expect(
            schema.notes.map(\.description)
                == [#"v.json:1:21: the condition "age" of the validator of app.Person is not judged"#])
    }

    @Test("a validator without a $jsonSchema is refused")
    func noSchema() {
        #expect(throws: SchemaError.self) { try read(#"{"validator": {"age": {"$gt": 5}}}"#) }
    }

    @Test("bounds keep the type that extended JSON gives them")
    func bounds() throws {
        let root = try read(
            #"{"$jsonSchema": {"properties": {"a": {"minimum": {"$numberLong": "1"}, "maximum": 2.5, "multipleOf": 3}}}}"#
        ).collections[0].root
        let constraints = try #require(root.property("a")).constraints
        #expect(constraints.minimum.number == .long(1))
        #expect(constraints.maximum.number == .double(2.5))
        #expect(constraints.multipleOf == .int(3))
    }

    @Test(
        "errors name the place and what was probably meant",
        arguments: [
            (
                "{\n \"$jsonSchema\": {\"minumum\": 1}}",
                #"v.json:2:18: unknown $jsonSchema keyword "minumum" (did you mean "minimum"?)"#
            ),
            (
                #"{"$jsonSchema": {"properties": {"a": {"bsonType": "strng"}}}}"#,
                #"v.json:1:51: unknown bsonType "strng" (did you mean "string"?)"#
            ),
            (
                #"{"$jsonSchema": {"properties": {"a": {"bsonType": "uuid"}}}}"#,
                #"v.json:1:51: unknown bsonType "uuid" (that is a type of App Services: write "binData")"#
            ),
            (
                #"{"$jsonSchema": {"properties": {"a": {"minimum": "5"}}}}"#,
                "v.json:1:50: minimum must be a number, not a string"
            ),
            (
                #"{"$jsonSchema": {"properties": {"a": {"exclusiveMinimum": 5}}}}"#,
                "v.json:1:59: exclusiveMinimum needs minimum next to it (in this dialect exclusiveMinimum is a "
                    + "boolean, and minimum the bound)"
            ),
            (
                #"{"$jsonSchema": {"required": []}}"#,
                "v.json:1:30: required must be a list of at least one field name, not empty (remove it)"
            ),
            (
                #"{"$jsonSchema": {"properties": {"a": {"default": 1}}}}"#,
                #"v.json:1:39: MongoDB's $jsonSchema does not support "default" (it is a keyword of App Services)"#
            ),
            (
                #"{"$jsonSchema": {"properties": {"a": {"pattern": "("}}}}"#,
                "v.json:1:50: this is not a regular expression of PCRE: missing closing parenthesis (at byte 1)"
            ),
        ])
    func located(text: String, message: String) {
        let error = #expect(throws: SchemaError.self) { try read(text) }
        #expect(error.map(\.description) == message)
    }

    @Test("a keyword that is given twice is refused")
    func twice() {
        let error = #expect(throws: SchemaError.self) { try read(#"{"$jsonSchema": {"title": "a", "title": "b"}}"#) }
        #expect(error?.code == .duplicate)
    }

    @Test("what the reader makes of a schema spells the same schema again")
    func roundTrip() throws {
        let text = """
            {"bsonType": ["int", "string"], "required": ["a"], "properties": {"a": {"minimum": 1, "exclusiveMinimum": \
            true}}, "additionalProperties": {"pattern": "x"}, "items": [{}], "uniqueItems": true, "enum": [1, "x"], \
            "additionalItems": false, "patternProperties": {"^a": {"maxLength": {"$numberLong": "2"}}}, \
            "dependencies": {"a": ["b"], "c": {"required": ["d"]}}, "anyOf": [{"not": {"bsonType": "null"}}]}
            """
        let schema = try BSONDocument(extendedJSON: text)
        let first = try CollectionSchema(jsonSchema: schema, namespace: namespace).root.jsonSchema
        #expect(try first.view.hasEqualFields(to: schema.view))
        #expect(try CollectionSchema(jsonSchema: first, namespace: namespace).root.jsonSchema == first)
    }
}
