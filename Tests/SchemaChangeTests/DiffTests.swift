import BSON
import SchemaChange
import ServerSchema
import Testing

@Suite struct DiffTests {
    /// Two schemas may differ in 20,000 places, and lists of changes are copied.
    @Test func aChangeIsSmall() { #expect(MemoryLayout<SchemaChange>.stride <= 256) }

    @Test func collectionsComeAndGoByNamespace() throws {
        let pets = Namespace(database: "app", collection: "Pet")
        let cars = Namespace(database: "app", collection: "Car")
        let old = ServerSchema(
            dialect: .appServices,
            collections: [
                try schema(type("", title: "Person")), try schema(type("", title: "Pet"), of: pets),
            ])
        let new = ServerSchema(
            dialect: .appServices,
            collections: [
                try schema(type("", title: nil), of: cars), try schema(type("", title: "Human")),
            ])
        let changes = SchemaDiff.changes(from: old, to: new)
        #expect(changes.map(\.namespace) == [cars, people, pets])
        #expect(
            changes.map(\.row) == [
                "type-added (root): non-breaking non-breaking, the type of app.Car is added",
                "type-renamed (root): breaking breaking, type Person is renamed to Human",
                "type-removed (root): breaking non-breaking, type Pet is removed",
            ])
        #expect(changes.map { $0.old == nil } == [true, false, false])
        #expect(changes.map { $0.new == nil } == [false, false, true])
        #expect(SchemaDiff.changes(from: new, to: new) == [])
    }

    @Test func removalsComeFirstThenTheNewOrder() throws {
        let old = type(#""d": \#(int), "a": \#(int), "b": \#(int), "c": \#(int)"#)
        let new = type(#""z": \#(int), "c": \#(string), "y": \#(int), "a": \#(long)"#)
        #expect(
            SchemaDiff.changes(from: try schema(old), to: try schema(new)).map { "\($0.code) \($0.path)" } == [
                "property-removed d", "property-removed b", "optional-added z", "property-type-changed c",
                "optional-added y", "property-type-changed a",
            ])
    }

    @Test func aRenameIsNeverGuessed() throws {
        #expect(
            try changes(type(#""mail": \#(string)"#), type(#""email": \#(string)"#)) == [
                "property-removed mail: breaking non-breaking, mail is removed",
                "optional-added email: non-breaking non-breaking, email is added as an optional string",
            ])
    }

    @Test func locationsPointIntoBothFiles() throws {
        let old = try schema(x(string), file: "v1")
        let new = try schema("\n\(x(int))", file: "v2")
        let change = try #require(SchemaDiff.changes(from: old, to: new).first)
        #expect(change.old?.location == old.root.property("x")?.location)
        #expect(change.new?.location == new.root.property("x")?.location)
        #expect(change.new?.location.line == 2)
        let added = try #require(SchemaDiff.changes(from: try schema(type("")), to: new).first)
        #expect(added.old == nil)
        #expect(added.new?.location == new.root.property("x")?.location)
    }

    @Test func severalChangesOfOnePropertyAreDistinguished() throws {
        #expect(
            try changes(x(string), x(#"{"bsonType": "int", "default": 0}"#, required: true)) == [
                "property-type-changed x: breaking breaking, x: string → int",
                "optional-to-required x: breaking breaking, x becomes required",
                "default-added x: non-breaking non-breaking, x gets a default",
            ])
    }

    @Test func aChangeThatClientsDoNotSeeIsNoChange() throws {
        let old = type(#""a": \#(int), "x": {"bsonType": ["int", "null"], "description": "a"}"#, required: #""a", "x""#)
        let new = type(
            #""x": {"bsonType": ["null", "int"], "title": "X"}, "a": \#(int)"#, required: #""x", "a""#)
        #expect(try changes(old, new) == [])
        #expect(try changes(x(dictionary("true")), x(dictionary(#"{"bsonType": "mixed"}"#))) == [])
        #expect(
            try changes(x(list(int)), x(list(int).replacing("{\"bsonType\": \"array\"", with: "{\"type\": \"array\"")))
                == [])
    }

    @Test func aFieldThatOnlyRequiredNamesIsAFieldOfAnyType() throws {
        let bare = type("", required: #""x""#)
        #expect(
            try changes(type(""), bare) == [
                "required-added x: non-breaking non-breaking, x is added as a required field of any type"
            ])
        #expect(
            try changes(bare, x(string, required: true)) == [
                "property-type-changed x: breaking breaking, x: any value → string"
            ])
    }

    @Test func aNumbersDefaultGoesWithItsType() throws {
        func number(_ type: String, _ value: String) -> String {
            x(#"{"bsonType": "\#(type)", "default": \#(value)}"#, required: true)
        }
        #expect(try changes(number("int", "0"), number("double", "0")).count == 1)
        #expect(
            try changes(number("int", "0"), number("long", "1")).map { $0.prefix(21) }
                == ["property-type-changed", "default-changed x: no"])
        #expect(try changes(number("mixed", "0"), number("mixed", #"{"$numberDouble": "0"}"#)).count == 1)
        let nan = number("double", #"{"$numberDouble": "NaN"}"#)
        #expect(try changes(nan, nan) == [])
    }

    @Test func anEmbeddedTypeWithoutATitleHasAGeneratedName() throws {
        let untitled = #"{"bsonType": "object", "properties": {}}"#
        #expect(
            try changes(x(untitled), x(embedded("A", ""))) == [
                "type-renamed x: breaking breaking, x: the type without a title is named A"
            ])
        #expect(
            try changes(x(embedded("A", "")), x(untitled)) == [
                "type-renamed x: breaking breaking, x: type A loses its title"
            ])
    }
}
