import BSON
import SystemPackage
import TestSupport
import Testing

/// Tests `shipshape lint` as a user runs it, on the command line.
@Suite struct CommandLineLintTests {
    private static let good = """
        { "title": "Pet", "bsonType": "object", "required": ["_id"], "properties": { "_id": { "bsonType": "int" } } }
        """
    private static let warned = #"{ "title": "Pet", "properties": { "_id": { "bsonType": "int" } } }"#
    private static let bad = #"{ "title": "Pet", "properties": {} }"#

    private func lint(_ schema: String, _ more: [String] = []) async throws -> ProgramRun {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let file = try folder.write(schema, to: "pet.json")
        return try await Program.run(["lint", file, "--collection", "shop.Pet"] + more)
    }

    @Test(arguments: [(good, 0, 0), (warned, 0, 1), (bad, 1, 1), ("{", 65, 65), ("{}", 65, 65)])
    func theExitCodeIsTheWorst(_ schema: String, _ code: Int32, _ strictCode: Int32) async throws {
        let run = try await lint(schema)
        #expect(run.exitCode == code, "\(run.output)")
        #expect(run.errors.isEmpty == (code != 65))
        #expect(run.output.isEmpty == (code == 65))
        #expect(try await lint(schema, ["--strict"]).exitCode == strictCode)
    }

    @Test func aTypeThatIsUnknownIsAFinding() async throws {
        let run = try await lint(
            Self.good.replacing(
                #""properties": {"#, with: #""properties": { "a": { "bsonType": "strng" }, "b": { "bsonType": "itn" },"#
            ))
        #expect(run.exitCode == 1, "\(run.errors)")
        #expect(
            run.output.contains(#"schema-invalid  a     unknown bsonType "strng"  did you mean "string"?"#),
            "\(run.output)")
        #expect(run.output.contains(#"schema-invalid  b     unknown bsonType "itn""#))
    }

    @Test func theTextNamesFilePlaceRuleAndRemedy() async throws {
        let run = try await lint(Self.bad)
        #expect(run.output.hasPrefix("1 error in 1 schema of "))
        #expect(
            run.output.hasSuffix(
                """
                /pet.json (shop.Pet)
                  place  level  rule        path  finding                                      what to do
                  1:1    error  id-missing        properties do not name _id, the primary key  \
                define _id, and require it

                """))
    }

    @Test func ofAnAppOneCollectionCanBeReported() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write("{}", to: "root_config.json")
        try folder.write(Self.bad, to: "data_sources/main/shop/Dog/schema.json")
        try folder.write(Self.good, to: "data_sources/main/shop/Cat/schema.json")
        let all = try await Program.run(["lint", folder.path.string])
        #expect(all.exitCode == 1)
        #expect(all.output.contains("title-duplicate"))
        let cat = try await Program.run(["lint", folder.path.string, "--collection", "shop.Cat", "-o", "json"])
        #expect(cat.exitCode == 0)
        #expect(cat.output.contains("\"findings\": []"))
        let typo = try await Program.run(["lint", folder.path.string, "--collection", "shop.Cta"])
        #expect(typo.exitCode == 65)
        #expect(typo.errors.hasSuffix("there is no schema of shop.Cta here (did you mean \"shop.Cat\"?)\n"))
    }

    private func lint(
        on mongod: Mongod, prepare: (TestDatabase) async throws -> Void
    ) async throws -> ProgramRun {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        return try await mongod.withDatabase { database in
            try await prepare(database)
            let file = try folder.write(Self.good, to: "pet.json")
            let name = database.namespace("Pet").description
            return try await Program.run(["lint", file, "--collection", name, "--uri", mongod.uri])
        }
    }

    @Test(.server(from: 5, for: "time series")) func aTimeSeriesIsAnError() async throws {
        let series = try await lint(on: Mongod.shared) { database in
            try await database.run(["create": "Pet", "timeseries": ["timeField": "at"]])
        }
        #expect(series.exitCode == 1)
        #expect(series.output.contains("  time-series  "))
        #expect(series.output.contains("  it is a time series"))
    }

    @Test func aNamedDeploymentIsJudged() async throws {
        let mongod = try await Mongod.shared
        #expect(try await lint(on: mongod) { _ in }.exitCode == 0)
        let validator: BSONDocument = ["$jsonSchema": ["properties": ["a": ["required": ["b"]]]]]
        let validated = try await lint(on: mongod) { database in
            try await database.run(["create": "Pet", "validator": .object(validator)])
        }
        #expect(validated.exitCode == 0)
        #expect(validated.output.contains("refuses documents"))
        #expect(validated.output.contains("requires fields inside embedded objects"))
        let warning = try await lint(on: mongod) { database in
            try await database.run(["create": "Pet", "validator": ["a": 1], "validationAction": "warn"])
        }
        #expect(warning.output.hasPrefix("Nothing found"))
        let index = try await lint(on: mongod) { database in
            let indexes: [BSONDocument] = [
                ["key": ["email": 1], "name": "by email", "unique": true], ["key": ["n": 1], "name": "n_1"],
            ]
            try await database.run(["createIndexes": "Pet", "indexes": .array(of: indexes.map { .object($0) })])
        }
        #expect(index.exitCode == 0)
        #expect(index.output.contains("clients do not know the unique index by email"))
        #expect(!index.output.contains("n_1"))
    }

    @Test func aDeploymentThatIsNotThereIsNamed() async throws {
        let run = try await lint(
            Self.good, ["--uri", "mongodb://u:secret@127.0.0.1:1/?serverSelectionTimeoutMS=500"])
        #expect(run.exitCode == 69)
        #expect(!run.errors.contains("secret"))
    }
}
