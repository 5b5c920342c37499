import BSON
import ServerSchema
import Testing

@testable import Checking

/// Tests the short forms of the filters that find the documents of a group of violations.
///
/// Other tests ask a server whether the short and the long forms find the same documents.
@Suite struct ShortFilterTests {
    /// Returns the filter of the only violation of a document.
    ///
    /// - Parameter hasCollation: whether texts are compared by a collation, or it is not known how.
    private func filter(_ schema: CompiledSchema, _ document: BSONDocument, hasCollation: Bool = false) throws
        -> BSONDocument
    {
        var tally = Tally(schema.with(collation: nil, isKnown: !hasCollation))
        try tally.add(document.view)
        let groups = tally.violationGroups
        #expect(groups.count == 1)
        return try #require(groups.first).filter
    }

    /// Compares the filter for a document with a value at `f`, under a schema of `f`, with an expected text.
    private func expect(
        _ text: String, _ schema: String, _ value: BSONValue?, isRequired: Bool = false, hasCollation: Bool = false
    ) throws {
        let required = isRequired ? #""required": ["f"],"# : ""
        let read = try ServerSchema.read(
            text: """
                { "bsonType": "object", \(required)
                  "properties": { "_id": { "bsonType": "int" }, "f": \(schema) } }
                """, namespace: Namespace(database: "app", collection: "Person"))
        let document = BSONDocument([("_id", 1)] + (value.map { [("f", $0)] } ?? []))
        let filter = try filter(CompiledSchema(read.collections[0]), document, hasCollation: hasCollation)
        #expect(try filter.extendedJSON(.relaxed) == text, "\(schema) \(String(describing: value))")
        // A filter can be copied from a JSON report into `--where`.
        #expect(try BSONDocument(extendedJSON: text) == filter)
    }

    @Test func missingFieldsAndNulls() throws {
        let int = #"{ "bsonType": "int" }"#
        try expect(#"{ "f" : { "$exists" : false } }"#, int, nil, isRequired: true)
        try expect(#"{ "f" : { "$type" : "null", "$not" : { "$type" : "array" } } }"#, int, .null, isRequired: true)
    }

    @Test func typesAndNumbers() throws {
        func expect(_ text: String, _ type: String, _ value: BSONValue) throws {
            try self.expect(text, #"{ "bsonType": "\#(type)" }"#, value)
        }
        try expect(#"{ "f" : { "$type" : "string", "$not" : { "$type" : "array" } } }"#, "int", "x")
        try expect(#"{ "f" : { "$type" : "array" } }"#, "int", [1])
        try expect(#"{ "f" : { "$type" : "int", "$not" : { "$type" : "array" } } }"#, "double", 5)
        let range = #""$gte" : -2147483648, "$lte" : 2147483647"#
        try expect(#"{ "f" : { "$type" : "long", \#(range), "$not" : { "$type" : "array" } } }"#, "int", .long(5))
        try expect(
            #"{ "f" : { "$type" : "long" }, "$nor" : [ { "f" : { "$type" : "array" } }, { "f" : { \#(range) } } ] }"#,
            "int", .long(1 << 40))
        try expect(
            #"{ "f" : { "$type" : "double", "$eq" : { "$numberDouble" : "NaN" }, "$not" : { "$type" : "array" } } }"#,
            "int", .double(.nan))
    }

    @Test func constraints() throws {
        let minimum = #"{ "bsonType": "int", "minimum": 0 }"#
        try expect(#"{ "f" : { "$type" : "int", "$lt" : 0, "$not" : { "$type" : "array" } } }"#, minimum, -1)
        try expect(
            """
            { "f" : { "$type" : "double" }, \
            "$nor" : [ { "f" : { "$type" : "array" } }, { "f" : { "$lt" : 9 } } ] }
            """, #"{ "bsonType": "double", "maximum": 9, "exclusiveMaximum": true }"#, 9.5)
        try expect(
            """
            { "f" : { "$type" : "string", \
            "$nin" : [ { "$regularExpression" : { "pattern" : "^a+$", "options" : "" } } ], \
            "$not" : { "$type" : "array" } } }
            """, #"{ "bsonType": "string", "pattern": "^a+$" }"#, "b")
        try expect(
            #"{ "f" : { "$type" : "array", "$size" : 0 } }"#, #"{ "bsonType": "array", "minItems": 1 }"#,
            .array(of: []))
        let nonEmpty = #"{ "bsonType": "string", "minLength": 1 }"#
        try expect(#"{ "f" : { "$type" : "string", "$eq" : "", "$not" : { "$type" : "array" } } }"#, nonEmpty, "")
    }

    /// A comparison of texts depends on the collation, so the filter is only short if there is none.
    @Test func allowedValues() throws {
        let states = #"{ "bsonType": "string", "enum": ["OPEN", "PAID"] }"#
        try expect(
            #"{ "f" : { "$type" : "string", "$nin" : [ "OPEN", "PAID" ], "$not" : { "$type" : "array" } } }"#, states,
            "paid")
        try expect(
            """
            { "$nor" : [ { "$jsonSchema" : { "properties" : { "f" : { "anyOf" : [ \
            { "not" : { "bsonType" : "string" } }, { "enum" : [ "OPEN", "PAID" ] } ] } } } } ] }
            """, states, "paid", hasCollation: true)
        try expect(
            #"{ "f" : { "$type" : "int", "$nin" : [ 1, 2 ], "$not" : { "$type" : "array" } } }"#,
            #"{ "bsonType": "int", "enum": [1, "a", null, 2] }"#, 3, hasCollation: true)
        let schema = try CompiledSchema(prisma: "s State", "enum State {\n OPEN\n PAID\n }")
        #expect(
            try filter(schema, ["_id": 1, "s": "paid"]) == [
                "s": ["$type": "string", "$nin": ["OPEN", "PAID"], "$not": ["$type": "array"]]
            ])
        #expect(try filter(schema, ["_id": 1, "s": "paid"], hasCollation: true)["$expr"] != nil)
    }

    @Test func aPathThroughObjectsMeetsNoArray() throws {
        let home = SchemaNode.object(["city": .of(.string)], required: ["city"])
        let schema = CompiledSchema(["home": home])
        #expect(
            try filter(schema, ["_id": 1, "home": ["city": 5]]) == [
                "home": ["$not": ["$type": "array"]], "home.city": ["$type": "int", "$not": ["$type": "array"]],
            ])
        #expect(
            try filter(schema, ["_id": 1, "home": [:]]) == [
                "home": ["$type": "object", "$not": ["$type": "array"]], "home.city": ["$exists": false],
            ])
    }

    @Test func anIDIsNeverAnArray() throws {
        #expect(try filter(CompiledSchema(["_id": .of(.objectId)]), ["_id": "x"]) == ["_id": ["$type": "string"]])
    }

    /// A query cannot follow these paths as the checker does.
    @Test func otherPathsAndRulesKeepTheLongForm() throws {
        let documents: [(KeyValuePairs<String, SchemaNode>, BSONDocument)] = [
            (["a.b": .of(.string)], ["_id": 1, "a.b": 1]), (["$a": .of(.string)], ["_id": 1, "$a": 1]),
            (["": .of(.string)], ["_id": 1, "": 1]), (["tags": .list(.of(.string))], ["_id": 1, "tags": [1]]),
            (["d": .dictionary(.of(.string))], ["_id": 1, "d": ["a": 1]]), (["n": .of(.int)], ["_id": 1, "n": 1.5]),
            (["n": .of(.double)], ["_id": 1, "n": .long(5)]),
            (["u": .of(.uuid)], ["_id": 1, "u": .binary(subtype: 4, bytes: [1])]),
        ]
        for (properties, document) in documents {
            #expect(try filter(CompiledSchema(properties), document)["$expr"] != nil, "\(document)")
        }
    }
}
