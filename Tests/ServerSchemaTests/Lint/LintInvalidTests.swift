import BSON
import ServerSchema
import Testing

/// Tests that lint continues after a part that it cannot read, so that one run shows all findings.
@Suite struct LintInvalidTests {
    private static func lines(_ app: AppFolder) throws -> [String] {
        SchemaLint.findings(in: try app.readForLint()).map { app.below($0.description) }
    }

    private static func pet(_ name: String) -> String { "data_sources/main/shop/\(name)/schema.json" }

    @Test func everyFindingOfEveryFileIsShown() throws {
        let app = try AppFolder([
            Self.pet("Cat"): Lint.pet(
                #""a": {"bsonType": "strng"}, "b": {"bsonType": "itn"}, "c": 5, "$d": {"bsonType": "int"}"#,
                required: ["a", "e"], title: "Cat"),
            Self.pet("Cow"): #"{"title": "Cow", "bsonType": "object","#,
            Self.pet("Dog"): Lint.pet(
                #""n": {"bsonType": "object", "title": "Toy", "properties": {"m": {"bsonType": "flaot"}}}"#,
                title: "Dog"),
            "data_sources/main/shop/Dog/relationships.json": "[]",
            Self.pet("Hen"): #"{"title": "Hen", "bsonType": "array"}"#,
            "sync/config.json": #"{"type": "flexibel"}"#,
        ])
        let found = SchemaLint.findings(in: try app.readForLint()).map { finding in
            let file = finding.location.file.split(separator: "/").suffix(2).joined(separator: "/")
            return "\(file):\(finding.location.line) \(finding.code) \(finding.path) \(finding.remedy ?? "")"
        }
        #expect(
            found == [
                "Cat/schema.json:1 required-undefined (root) did you mean \"a\"?",
                "Cat/schema.json:2 schema-invalid a did you mean \"string\"?",
                "Cat/schema.json:2 schema-invalid b did you mean \"int\"?", "Cat/schema.json:2 schema-invalid c ",
                "Cat/schema.json:2 property-name-dollar $d rename it", "Cow/schema.json:1 schema-invalid (root) ",
                "Dog/relationships.json:1 schema-invalid (root) ", "Dog/schema.json:2 schema-invalid n.m ",
                "Hen/schema.json:1 schema-invalid (root) write bsonType \"object\"",
                "sync/config.json:1 schema-invalid (root) did you mean \"flexible\"?",
            ])
    }

    /// If no schema can be read at all, lint ends with an error instead of findings.
    @Test(arguments: ["{", "[]"]) func ifNoSchemaIsReadableTheFirstErrorEndsTheRun(_ text: String) throws {
        let app = try AppFolder([Self.pet("Cat"): text])
        #expect(throws: SchemaError.self) { try app.readForLint() }
    }

    @Test func nothingElseReadsPastAnError() throws {
        let app = try AppFolder([Self.pet("Cat"): Lint.pet(#""a": {"bsonType": "strng"}"#)])
        #expect(app.failure()?.contains("unknown bsonType") == true)
    }

    /// If lint cannot read a part of a schema, it reports no errors that follow from this.
    ///
    /// For example, a property that cannot be read is not reported as missing.
    @Test(arguments: [
        (#"{"title": 5, "properties": {"_id": {"bsonType": "int"}}, "required": ["_id"]}"#, 1),
        (#"{"title": "T", "properties": [], "required": ["_id", "a"]}"#, 1),
        (#"{"title": "T", "properties": {"_id": {"bsonType": "int"}}, "required": "_id"}"#, 1),
        (#"{"title": "T", "properties": {"_id": {"bsonType": "nit"}}, "required": ["_id"]}"#, 1),
        (Lint.pet(#""a": {"bsonType": "array", "items": 5}, "b": {"bsonType": "object", "title": 6}"#), 2),
        (Lint.pet(#""a": {"bsonType": "int", "bsonType": "int", "minimum": "1", "maxLength": -1}"#), 3),
    ]) func onlyTheErrorsAreShown(_ text: String, _ count: Int) throws {
        let codes = try AppFolder([Self.pet("Cat"): text]).codes()
        #expect(codes.count { $0.hasPrefix("schema-invalid error") } == count, "\(codes)")
        #expect(codes.allSatisfy { $0.hasPrefix("schema-invalid error") || $0.hasPrefix("keyword-") }, "\(codes)")
    }

    @Test func everyErrorOfAValidatorIsShown() throws {
        let app = try AppFolder([
            Self.pet("Cat"): #"""
            {"$jsonSchema": {"bsonTyp": "object", "required": ["a", "z"], "properties": {
              "a": {"bsonType": "strng"}, "b": {"minimum": "1"}, "c": 5, "d": {"items": {"bsonType": "itn"}}}}}
            """#,
            Self.pet("Dog"): #"{"$jsonSchema": {"required": ["y"], "properties": {"x": {"bsonType": "int"}}}}"#,
        ])
        let (codes, lines) = (try app.codes(), try Self.lines(app))
        #expect(codes.count { $0 == "schema-invalid error (root)" } == 5, "\(lines)")
        #expect(codes.count { $0 == "required-undefined info (root)" } == 1, "\(lines)")
        #expect(codes.count == 6)
    }
}
