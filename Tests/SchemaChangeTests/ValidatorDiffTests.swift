import BSON
import SchemaChange
import ServerSchema
import Testing

/// Tests changes of a validator, which has no clients: a change is breaking if the new validator refuses a document
/// that the old one accepts.
@Suite struct ValidatorDiffTests {
    private func verdicts(_ old: String, _ new: String) throws -> [String] {
        func read(_ text: String) throws -> ServerSchema {
            try ServerSchema.read(text: #"{"$jsonSchema": {\#(text)}}"#, file: "v.json", namespace: people)
        }
        return SchemaDiff.changes(from: try read(old), to: try read(new)).map { change in
            #expect(change.server == change.client)
            return "\(change.code) \(change.server.rawValue)"
        }
    }

    private func x(_ type: String, _ rest: String = "") -> String {
        #""properties": {"x": {"bsonType": \#(type)}}\#(rest)"#
    }

    @Test func narrowingChangesAreBreaking() throws {
        #expect(try verdicts(x(#""int""#), x(#""string""#)) == ["property-type-changed breaking"])
        #expect(try verdicts(x(#""int""#), x(#""int""#, #", "required": ["x"]"#)) == ["optional-to-required breaking"])
        #expect(
            try verdicts(x(#""int""#), #""properties": {"x": {"bsonType": "int", "minimum": 0}}"#)
                == ["constraint-tightened breaking"])
        #expect(
            try verdicts(x(#""int""#), x(#""int""#, #", "additionalProperties": false"#))
                == ["additional-properties-changed breaking"])
        #expect(
            try verdicts(
                #""properties": {"x": {"bsonType": "int"}, "y": {}}, "additionalProperties": false"#,
                #""properties": {"x": {"bsonType": "int"}}, "additionalProperties": false"#)
                == ["property-removed breaking"])
        #expect(
            try verdicts(
                #""properties": {"x": {"bsonType": "array"}}"#,
                #""properties": {"x": {"bsonType": "array", "uniqueItems": true}}"#) == ["list-set-changed breaking"])
    }

    @Test func wideningChangesAreNotBreaking() throws {
        #expect(try verdicts(x(#""int""#), x(#"["int", "string"]"#)) == ["property-type-changed non-breaking"])
        #expect(try verdicts(x(#""int""#), x(#""number""#)) == ["property-type-changed non-breaking"])
        #expect(
            try verdicts(x(#""int""#, #", "required": ["x"]"#), x(#""int""#)) == ["required-to-optional non-breaking"])
        #expect(try verdicts(x(#""int""#), #""properties": {}"#) == ["property-removed non-breaking"])
        #expect(
            try verdicts(x(#""int""#, #", "additionalProperties": false"#), x(#""int""#))
                == ["additional-properties-changed non-breaking"])
    }

    @Test func titlesSayNothing() throws {
        #expect(try verdicts(#""title": "A", \#(x(#""int""#))"#, #""title": "B", \#(x(#""int""#))"#) == [])
        #expect(try verdicts(x(#""int""#), #""title": "B", \#(x(#""int""#))"#) == [])
    }
}
