import SchemaChange
import ServerSchema
import Testing

@Suite struct VerdictTests {
    /// A pair of schemas that differ in one way.
    struct Row: CustomTestStringConvertible {
        let code: SchemaChange.Code
        let server: SchemaChange.Verdict
        let client: SchemaChange.Verdict
        let old: String
        let new: String
        let says: String

        init(
            _ code: SchemaChange.Code, _ server: SchemaChange.Verdict, _ client: SchemaChange.Verdict, from old: String,
            to new: String, says: String
        ) {
            (self.code, self.server, self.client) = (code, server, client)
            (self.old, self.new, self.says) = (old, new, says)
        }

        var testDescription: String { "\(code.rawValue): \(says)" }
    }

    @Test(arguments: properties + types + collections + defaults)
    func eachRowHasItsVerdicts(_ row: Row) throws {
        let changes = SchemaDiff.changes(from: try schema(row.old), to: try schema(row.new))
        try #require(changes.count == 1, "\(changes.map(\.row))")
        #expect(changes[0].code == row.code)
        #expect(changes[0].server == row.server)
        #expect(changes[0].client == row.client)
        #expect(changes[0].description == row.says)
        #expect(changes[0].namespace == people)
        #expect(SchemaDiff.changes(from: try schema(row.old), to: try schema(row.old)) == [])
        #expect(SchemaDiff.changes(from: try schema(row.new), to: try schema(row.new)) == [])
    }

    static let properties: [Row] = [
        Row(
            .requiredAdded, .nonBreaking, .nonBreaking, from: type(""), to: x(string, required: true),
            says: "x is added as a required string"),
        Row(
            .optionalAdded, .nonBreaking, .nonBreaking, from: type(""), to: x(string),
            says: "x is added as an optional string"),
        Row(
            .optionalAdded, .nonBreaking, .nonBreaking, from: type(""), to: x(embedded("A", #""a": \#(int)"#)),
            says: "x is added as an optional embedded A"),
        Row(
            .propertyRemoved, .breaking, .nonBreaking, from: x(string, required: true), to: type(""),
            says: "x is removed"),
        Row(.propertyRemoved, .breaking, .nonBreaking, from: x(string), to: type(""), says: "x is removed"),
        Row(
            .optionalToRequired, .breaking, .breaking, from: x(string), to: x(string, required: true),
            says: "x becomes required"),
        Row(
            .requiredToOptional, .breaking, .breaking, from: x(string, required: true), to: x(string),
            says: "x becomes optional"),
        Row(.propertyTypeChanged, .breaking, .breaking, from: x(string), to: x(int), says: "x: string → int"),
        Row(.propertyTypeChanged, .breaking, .breaking, from: x(int), to: x(double), says: "x: int → double"),
        Row(.propertyTypeChanged, .breaking, .breaking, from: x(double), to: x(decimal), says: "x: double → decimal"),
        Row(.propertyTypeChanged, .breaking, .nonBreaking, from: x(int), to: x(long), says: "x: int → long"),
        Row(.propertyTypeChanged, .breaking, .nonBreaking, from: x(long), to: x(int), says: "x: long → int"),
        Row(
            .propertyTypeChanged, .breaking, .breaking, from: x(objectID), to: x(embedded("A", "")),
            says: "x: objectId → embedded A"),
        Row(
            .propertyTypeChanged, .breaking, .breaking, from: x(embedded("A", "")), to: x(dictionary(string)),
            says: "x: embedded A → dictionary of string"),
    ]

    static let types: [Row] = [
        Row(
            .typeRenamed, .breaking, .breaking, from: type("", title: "Person"), to: type("", title: "Human"),
            says: "type Person is renamed to Human"),
        Row(
            .typeRenamed, .breaking, .breaking, from: x(embedded("A", "")), to: x(embedded("B", "")),
            says: "x: type A is renamed to B"),
        Row(
            .typeAdded, .nonBreaking, .nonBreaking, from: type("", title: nil), to: type("", title: "Person"),
            says: "type Person is added"),
        Row(
            .typeRemoved, .breaking, .nonBreaking, from: type("", title: "Person"), to: type("", title: nil),
            says: "type Person is removed"),
        Row(
            .idTypeChanged, .breaking, .breaking, from: type(#""_id": \#(string)"#), to: type(#""_id": \#(objectID)"#),
            says: "_id: string → objectId"),
        Row(
            .idTypeChanged, .breaking, .breaking, from: type(#""_id": \#(int)"#), to: type(#""_id": \#(long)"#),
            says: "_id: int → long"),
    ]

    static let collections: [Row] = [
        Row(
            .cardinalityChanged, .breaking, .breaking, from: x(string), to: x(list(string)),
            says: "x: string → list of string"),
        Row(
            .cardinalityChanged, .breaking, .breaking, from: x(set(int)), to: x(int), says: "x: set of int → int"),
        Row(
            .cardinalityChanged, .breaking, .breaking, from: x(string), to: x(dictionary(string)),
            says: "x: string → dictionary of string"),
        Row(
            .listSetChanged, .breaking, .breaking, from: x(list(int)), to: x(set(int)),
            says: "x: list of int → set of int"),
        Row(
            .listSetChanged, .breaking, .breaking, from: x(set(int)), to: x(list(int)),
            says: "x: set of int → list of int"),
        Row(
            .elementTypeChanged, .breaking, .breaking, from: x(list(int)), to: x(list(string)),
            says: "x[]: int → string"),
        Row(.elementTypeChanged, .breaking, .breaking, from: x(set(int)), to: x(set(long)), says: "x[]: int → long"),
        Row(
            .elementTypeChanged, .breaking, .breaking, from: x(dictionary(int)), to: x(dictionary(string)),
            says: "x{}: int → string"),
        Row(
            .elementNullabilityChanged, .breaking, .breaking, from: x(list(string)),
            to: x(list(#"{"bsonType": ["string", "null"]}"#)),
            says: "x[]: string → string or null"),
    ]

    static let defaults: [Row] = [
        Row(
            .defaultAdded, .nonBreaking, .nonBreaking, from: x(string, required: true),
            to: x(#"{"bsonType": "string", "default": "a"}"#, required: true), says: "x gets a default"),
        Row(
            .defaultChanged, .nonBreaking, .nonBreaking, from: x(#"{"bsonType": "string", "default": "a"}"#),
            to: x(#"{"bsonType": "string", "default": "b"}"#), says: "x gets another default"),
        Row(
            .defaultRemoved, .nonBreaking, .nonBreaking, from: x(#"{"bsonType": "string", "default": "a"}"#),
            to: x(string), says: "x loses its default"),
    ]
}
