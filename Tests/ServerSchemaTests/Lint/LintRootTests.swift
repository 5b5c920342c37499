import BSON
import ServerSchema
import Testing

/// Tests the lint rules for whole schemas: titles and primary keys.
@Suite struct LintRootTests {
    private static let long = String(repeating: "T", count: 58)

    @Test(arguments: [
        ("title-missing error (root)", "", "Pet"),
        ("title-too-long error (root)", long, String(long.dropLast())),
        ("title-charset warning (root)", "my pet", "my_pet"),
        ("title-charset warning (root)", "_Pet", "Pet_"),
    ]) func titles(_ finding: String, _ bad: String, _ good: String) throws {
        #expect(try Lint.codes(Lint.pet(title: bad)) == [finding])
        #expect(try Lint.codes(Lint.pet(title: good)) == [])
    }

    /// The limit on the length of a title may be in characters or in bytes, so a title with too many bytes causes only
    /// a warning.
    @Test func aTitleOfTooManyBytesIsAWarning() throws {
        let title = String(repeating: "é", count: 29)
        #expect(try Lint.codes(Lint.pet(title: title)).contains("title-too-long warning (root)"))
        #expect(try !Lint.codes(Lint.pet(title: String(title.dropLast()))).contains { $0.hasPrefix("title-too-long") })
    }

    @Test(arguments: ["string", "int", "long", "objectId", "uuid"]) func keysOfClients(_ type: String) throws {
        #expect(try Lint.codes(Lint.pet(id: #"{"bsonType": "\#(type)"}"#)) == [])
    }

    @Test(arguments: ["double", "date", "bool", "decimal", "mixed"]) func otherKeys(_ type: String) throws {
        #expect(try Lint.codes(Lint.pet(id: #"{"bsonType": "\#(type)"}"#)).first == "id-type error _id")
    }

    @Test func thePrimaryKey() throws {
        #expect(try Lint.codes(#"{"title": "Pet", "properties": {}}"#) == ["id-missing error (root)"])
        #expect(
            try Lint.codes(#"{"title": "Pet", "properties": {"_id": {"bsonType": "int"}}}"#)
                == ["id-not-required warning _id"])
    }

    @Test func aRootOfAnotherTypeIsRefused() {
        let error = #expect(throws: SchemaError.self) { try Lint.schema(#"{"bsonType": "array"}"#) }
        #expect(error?.code == .rootNotObject)
        #expect(error?.code.rawValue == "root-not-object")
    }

    private func app(_ first: String, _ second: String, secondService: String = "main") throws -> AppFolder {
        try AppFolder([
            "data_sources/main/shop/Pet/schema.json": first,
            "data_sources/\(secondService)/store/Pet/schema.json": second,
        ])
    }

    @Test func titlesAreUniqueOverDatabases() throws {
        #expect(try app(Lint.pet(), Lint.pet()).codes() == ["title-duplicate error (root)"])
        #expect(try app(Lint.pet(), Lint.pet(title: "Other")).codes() == [])
        #expect(try app(Lint.pet(), Lint.pet(), secondService: "other").codes() == [])
    }

    @Test func oneEmbeddedTitleIsOneShape() throws {
        func toy(_ type: String, _ title: String = "Toy") -> String {
            #""toy": {"bsonType": "object", "title": "\#(title)", "properties": {"a": {"bsonType": "\#(type)"}}}"#
        }
        let other = Lint.pet(toy("string"), title: "Other")
        #expect(
            try app(Lint.pet(toy("int")), other).findings(.titleConflictEmbedded) == [
                "data_sources/main/store/Pet/schema.json:2:57: warning title-conflict-embedded: toy: the embedded type "
                    + "Toy differs from the one at toy of shop.Pet (make them the same, or rename one)"
            ])
        #expect(try app(Lint.pet(toy("string")), other).codes() == [])
        #expect(
            try app(Lint.pet(toy("int", "Other")), Lint.pet(title: "Other")).codes()
                == ["title-conflict-embedded warning toy"])
    }

    @Test func placeholdersAreSchemasToWrite() throws {
        #expect(try app(Lint.pet(), "{}").codes() == ["schema-missing info (root)"])
        #expect(try app(Lint.pet(), "{}").findings(.schemaMissing).first?.contains("store/Pet/schema.json:1:1") == true)
    }
}
