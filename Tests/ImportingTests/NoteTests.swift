import BSON
import Importing
import ServerSchema
import Testing

/// Tests the notes on the decisions of an import, and on the parts of a schema that MongoDB cannot express.
@Suite struct NoteTests {
    @Test(arguments: [
        (#"{"type": "integer"}"#, ["decision: integer is stored as int or long, and not as a double"]),
        (#"{"type": "number"}"#, ["decision: number is stored as double, int, long or decimal"]),
        (#"{"type": "string", "format": "email"}"#, ["left-out: format email is not checked"]),
        (
            #"{"type": "integer", "format": "int64"}"#,
            [
                "decision: integer is stored as int or long, and not as a double",
                "left-out: format int64 is not checked",
            ]
        ),
        (
            #"{"default": 1, "examples": [1], "readOnly": true, "x-order": 2}"#,
            ["default", "examples", "readOnly", "x-order"].map { "left-out: \($0) is left out: it restricts nothing" }
        ),
        (#"{"discriminator": {"propertyName": "k"}}"#, ["left-out: discriminator is left out: it restricts nothing"]),
        (
            #"{"minLenght": 1}"#,
            ["warning: minLenght is left out: JSON Schema has no such keyword (did you mean \"minLength\"?)"]
        ),
        (##"{"$dynamicRef": "#a"}"##, ["warning: $dynamicRef is left out"]),
        (
            #"{"contains": {"const": 1}, "minContains": 2, "maxContains": 3}"#,
            ["left-out: minContains is weaker: one such element is enough", "left-out: maxContains is left out"]
        ),
        (#"{"propertyNames": {"minLength": 2}}"#, ["left-out: minLength of propertyNames is left out"]),
        (
            #"{"anyOf": [{"properties": {"a": {}}}, {"minProperties": 1}], "unevaluatedProperties": false}"#,
            ["left-out: unevaluatedProperties allows the fields of all branches of anyOf, oneOf and if"]
        ),
        (
            #"{"prefixItems": [{}], "allOf": [{"maxItems": 3}], "unevaluatedItems": false}"#,
            ["left-out: unevaluatedItems is left out: other schemas apply to the same array"]
        ),
        (#"{"type": "string", "enum": ["a"], "nullable": true}"#, ["decision: nullable allows null here, too"]),
        (
            #"{"oneOf": [{"unevaluatedProperties": true}, {"minProperties": 1}], "unevaluatedProperties": false}"#,
            ["left-out: unevaluatedProperties is left out: another schema for the same object may allow every field"]
        ),
        (##"{"$comment": "c", "$anchor": "a", "$defs": {}, "title": "t"}"##, []),
    ]) func aNoteSaysWhatBecameOfAKeyword(_ schema: String, _ expected: [String]) throws {
        #expect(try notes(schema) == expected)
    }

    @Test func aDocumentIsNoListedValue() throws {
        let schema = try imported(#"{"enum": [{"a": 1}]}"#)
        #expect(schema.root.isEmpty)
        #expect(schema.notes.map(\.message) == ["enum is left out: a document also has an _id"])
    }

    @Test func notesCarryThePathOfTheValuesAndThePlaceInTheFile() throws {
        let schema = try imported(
            """
            {"properties": {"a": {"type": "array", "items": {"additionalProperties":
              {"type": "integer"}}}}}
            """)
        let note = try #require(schema.notes.first)
        #expect(("\(note.path)", "\(note.location)") == ("a[]{}", "schema.json:2:12"))
        #expect(note.code == .numberType)
    }

    @Test func theSameInputGivesTheSameBytes() throws {
        let text =
            #"{"properties": {"a": {"type": "object", "minProperties": 1, "required": ["b"], "not": {"maxProperties": 9}}}}"#
        let first = try imported(text)
        for _ in 0..<5 {
            let next = try imported(text)
            #expect(next.validator == first.validator)
            #expect(next.notes == first.notes)
        }
    }

    @Test func aSchemaThatIsNestedTooDeepForMongoDBIsRefused() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: #"{"anyOf": [{"minLength": 1}, "#, count: levels) + "{\"maxLength\": 1}"
                + String(repeating: "]}", count: levels)
        }
        #expect(refusal(#"{"properties": {"x": \#(nested(60))}}"#) == nil)
        #expect(
            refusal(#"{"properties": {"x": \#(nested(95))}}"#)?.contains("nested deeper than MongoDB accepts") == true)
    }
}
