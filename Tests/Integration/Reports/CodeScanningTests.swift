import BSON
import SystemPackage
import TestSupport
import Testing

/// Tests that SARIF logs conform to the SARIF standard whatever names they contain, and that findings have a position
/// in a file.
@Suite struct CodeScanningTests {
    private static let script = """
        import json, sys
        from jsonschema import Draft4Validator
        schema = json.load(open(sys.argv[1]))
        log = json.load(open(sys.argv[2]))
        for error in Draft4Validator(schema).iter_errors(log):
            print(list(error.path), error.message[:200])
        """

    /// Returns the errors that a validation of a SARIF log against the JSON Schema of OASIS finds; empty if it is
    /// valid.
    private func defects(_ log: String, in folder: CommandLineFolder) async throws -> String {
        let file = try folder.write(log, to: "log.sarif")
        let schema = Repository.path("Tests/Integration/Reports/Fixtures/sarif-schema-2.1.0.json").string
        let run = try await Program.shell(
            #"PYTHONPATH="$1" exec python3 -c "${@:2}""#, [try Mongod.jsonschemaFolder(), Self.script, schema, file])
        return run.output + run.errors
    }

    @Test func aSARIFLogFitsTheStandard() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            let name = "a b\u{202E}](x)\n%{0}"
            try await database.fill("person", [["_id": 1], ["_id": 2, "name": 5, name: 1]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let namespace = "\(database.name).person"
            let check = try folder.check(database, on: mongod)
            try folder.write(
                CommandLineFolder.person.replacing(
                    #""name": { "bsonType": "string" }"#, with: #""näme #1": { "bsonType": "int" }"#),
                to: "next é.json")
            try folder.write(
                """
                - {collection: \(namespace), path: name, rule: type-mismatch, reason: "a](b)", owner: ada}
                """, to: "e.yml")
            for command in [
                check + ["--info", "SHIPSHAPE_EXCEPTIONS=e.yml"],
                ["diff", "person.json", "next é.json", "--collection", namespace],
                ["lint", "next é.json", "--collection", namespace],
                ["schema", "infer", "--uri", mongod.uri, "--out", "inferred.json"] + check[2...3],
            ] {
                let run = try await Program.run(command + ["-o", "sarif"], in: folder.path)
                #expect([0, 1].contains(run.exitCode), "\(command[0]): \(run.errors)")
                #expect(try await defects(run.output, in: folder) == "", "\(command[0]): \(run.output)")
            }
        }
    }

    /// The position of a finding is the part of the schema that the documents do not fit, so that a pull request shows
    /// the finding next to that part.
    @Test func aCheckIsShownNextToTheSchema() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", [["_id": 1], ["_id": 2, "name": 5]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            _ = try folder.check(database, on: mongod)
            let check = [
                "check", "person.json", "--collection", "\(database.name).person", "--uri", mongod.uri,
                "SHIPSHAPE_LEDGER=none",
            ]
            let files = ["--report", "r.sarif", "--report", "r.gitlab.json"]
            let run = try await Program.run(check + ["-o", "github"] + files, in: folder.path)
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(
                run.output.contains("::error file=person.json,line=6,col=17,title=required-missing name::"),
                "\(run.output)")
            let log = try JSONValue(try #require(folder.text(of: "r.sarif")))
            let results = try #require(log["runs"]?.elements.first?["results"]?.elements)
            let places = results.compactMap { $0["locations"]?.elements.first?["physicalLocation"] }
            // The first result is the verdict on the documents. It applies to the whole schema, so it has no line.
            #expect(
                places.map { $0["region"]?["startLine"] ?? .null } == [.null, .number(6), .number(6)], "\(places)")
            #expect(places.allSatisfy { $0["artifactLocation"]?["uri"] == .string("person.json") })
            let issues = try JSONValue(try #require(folder.text(of: "r.gitlab.json"))).elements
            let names = issues.compactMap { $0["check_name"]?.text }
            #expect(names.sorted() == ["documents", "required-missing", "type-mismatch"], "\(issues)")
        }
    }
}
