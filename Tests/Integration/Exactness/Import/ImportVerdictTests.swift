import BSON
import SystemPackage
import TestSupport
import Testing

/// Tests that an imported validator accepts a document if and only if the JSON Schema accepts the same document as
/// JSON.
///
/// mongod judges the documents, and the Python package jsonschema judges the JSON values. If BSON stores a JSON string
/// as another type, such as a date, the document has that type.
@Suite struct ImportVerdictTests {
    /// A file of `Tests/ImportingTests/Fixtures`, and the name of the schema in it.
    struct Fixture: CustomTestStringConvertible {
        let file: String
        var schema = ""
        var testDescription: String { file }

        var path: String { Repository.path("Tests/ImportingTests/Fixtures/\(file)").string }
    }

    static let fixtures = [
        Fixture(file: "pydantic-user.json"), Fixture(file: "pydantic-order.json"),
        Fixture(file: "pydantic-recursive.json"), Fixture(file: "beanie-shop.json"),
        Fixture(file: "fastapi-openapi.json", schema: "Product"), Fixture(file: "zod-user.json"),
        Fixture(file: "zod-event.json"), Fixture(file: "zod-registry.json", schema: "Author"),
        Fixture(file: "typebox-device.json"), Fixture(file: "openapi-3.0.json", schema: "Pet"),
        Fixture(file: "draft-7.json"),
    ]

    @Test(arguments: fixtures) func mongodJudgesDocumentsAsTheSchemaJudgesTheirValues(_ fixture: Fixture) async throws {
        let names = fixture.schema.isEmpty ? [] : ["--schema", fixture.schema]
        let run = try await Program.run(["schema", "import", fixture.path] + names)
        try #require(run.exitCode == 0, "\(run.errors)")
        let validator = try BSONDocument(extendedJSON: run.output)
        let verdicts = try await Self.verdicts(on: fixture, count: 1_000)
        try await Mongod.shared.withDatabase { database in
            try await database.run(["create": "strict", "validator": .object(validator)])
            try await database.run(["create": "all"])
            try await database.run(["collMod": "all", "validator": .object(validator), "validationLevel": "off"])
            try await database.fill("all", verdicts.map(\.document))
            let fitting = try Set(await database.documents("all", validator).map { try $0.id })
            for (document, isValid) in verdicts where try fitting.contains(document.id) != isValid {
                let judged = isValid ? "refuses" : "accepts"
                Issue.record("mongod \(judged) \(try document.extendedJSON(.relaxed)), and the schema does not")
            }
            // If mongod accepted or refused nearly all documents, its agreement with jsonschema would prove little.
            #expect((100...975).contains(fitting.count), "\(fitting.count) of 1,000 documents fit")
        }
    }

    private static func verdicts(
        on fixture: Fixture, count: Int
    ) async throws -> [(document: BSONDocument, isValid: Bool)] {
        let script = Repository.path("Tests/ImportingTests/Fixtures/judge.py").string
        let run = try await Program.shell(
            #"PYTHONPATH="$1" exec python3 "${@:2}""#,
            [try Mongod.jsonschemaFolder(), script, fixture.path, fixture.schema, "\(count)", "1"])
        try #require(run.exitCode == 0, "\(run.errors)")
        return try run.output.split(separator: "\n").map { line in
            let verdict = try BSONDocument(extendedJSON: String(line))
            return (try #require(verdict["document"]?.document), try #require(verdict["valid"]?.isTrue as Bool?))
        }
    }
}

extension BSONDocument {
    /// The `_id` as text.
    fileprivate var id: String { get throws { try #require(self["_id"]).extendedJSON() } }
}
