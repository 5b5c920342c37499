import BSON
import Inferring
import ServerSchema
import Testing

/// Tests inferred `$jsonSchema`s, which list all types of a path, including null.
///
/// They require the fields that are never missing.
@Suite struct JSONSchemaTests {
    private func schema(of values: [BSONValue]) throws -> BSONDocument? {
        try Case.inference(of: Case.documents(values), Case.options(.jsonSchema)).property("x")
    }

    @Test func theMostCommonTypeComesFirst() throws {
        #expect(try schema(of: [1, "a", "b"]) == ["bsonType": ["string", "int"]])
        #expect(try schema(of: ["a", .null]) == ["bsonType": ["null", "string"]])
        #expect(try schema(of: [.binary(subtype: 4, bytes: [])]) == ["bsonType": "binData"])
        #expect(try schema(of: [.null]) == nil)
    }

    @Test func nullCountsAsPresent() throws {
        let inference = try Case.inference(of: Case.documents(["a", .null]), Case.options(.jsonSchema))
        #expect(inference.required == ["_id", "x"])
    }

    @Test func objectsAndArraysAreDescribedInAdditionToOtherTypes() throws {
        let x = try schema(of: [["a": 1], [["b"], [["c": 2.5]]], "s"])
        #expect(
            x == [
                "bsonType": ["array", "object", "string"], "required": ["a"], "properties": ["a": ["bsonType": "int"]],
                "items": [
                    "bsonType": "array",
                    "items": [
                        "bsonType": ["object", "string"], "required": ["c"],
                        "properties": ["c": ["bsonType": "double"]],
                    ],
                ],
            ])
    }

    @Test func aDottedNameWouldBeAPath() throws {
        let documents = Case.documents(3) { _ in [("a.b", 1), ("", 2), ("c", 3)] }
        let inference = try Case.inference(of: documents, Case.options(.jsonSchema))
        #expect(inference.required == ["_id", "c"])
    }
}
