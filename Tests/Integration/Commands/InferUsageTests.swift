import BSON
import TestSupport
import Testing

/// Tests that `schema infer` refuses wrong usage, and replaces a file only with `--force`.
@Suite struct InferUsageTests {
    @Test(arguments: [
        (["schema", "infer"], "name what to read: --collection DB.COLL, --source PATH, or a database"),
        (["schema", "infer", "--collection", "person"], "\"person\" is not DATABASE.COLLECTION"),
        (
            ["schema", "infer", "--collection", "a.b", "--collection", "a.b"],
            "--collection names the same collection twice"
        ),
        (
            ["schema", "infer", "--collection", "a.b", "--cover", "0%"],
            "The value '0%' is invalid for '--cover <percent>'"
        ),
        (["schema", "infer", "--collection", "a.b", "--cover", "0.999"], "The value '0.999' is invalid"),
        (["schema", "infer", "--collection", "a.b", "--cover", "101"], "The value '101' is invalid"),
        (["schema", "infer", "--collection", "a.b", "--as", "avro"], "The value 'avro' is invalid for '--as"),
        (["schema", "infer", "--collection", "a.b", "--sample", "0"], "--sample must be at least 1"),
        (["schema", "infer", "--collection", "a.b", "--force"], "--force needs --out"),
        (["schema", "infer", "--source", "x", "--where", "{}"], "--source excludes --where: "),
        (["schema", "infer", "--collection", "a.b", "--where", "{"], "it is not one object of extended JSON"),
    ]) func wrongUsageIsNamed(_ arguments: [String], _ message: String) async throws {
        let run = try await Program.run(arguments)
        #expect(run.exitCode == 64)
        #expect(run.output == "")
        #expect(run.errors.contains(message), "\(run.errors)")
    }

    @Test func aMissingSourceIsNamed() async throws {
        try await InferCase.with { test in
            let name = test.database.name
            try await test.database.run(["create": "empty"])
            let cases: [([String], Int32, String)] = [
                (
                    ["--collection", "\(name).none"], 65,
                    "\(name).none does not exist in the deployment: check its name"
                ),
                (["--collection", "\(name).empty"], 65, "no schema can be inferred: no documents"),
                (
                    ["SHIPSHAPE_DATABASE=\(name)_none"], 65,
                    "the database \(name)_none has no collection that the user can see"
                ),
                (["--source", "nowhere"], 65, "nowhere: there is no such file or folder"),
                (["--source", ".", "SHIPSHAPE_DATABASE=x"], 64, "does not say which collection it holds"),
                (
                    ["--collection", "\(name).empty", "--where", #"{"$nope": 1}"#], 64,
                    "the server refuses the filter"
                ),
            ]
            for (arguments, status, message) in cases {
                let run = try await test.run(["schema", "infer"] + arguments)
                #expect(run.exitCode == status, "\(arguments): \(run.errors)")
                #expect(run.output == "")
                #expect(run.errors.contains(message), "\(run.errors)")
            }
        }
    }

    @Test func aFileInThePlaceOfAFolderIsReportedBeforeTheReading() async throws {
        try await InferCase.with { test in
            try await test.database.fill("a", count: 10)
            try test.folder.write("mine", to: "file")
            for place in ["file/schema.json", "file/further"] {
                let run = try await test.run([
                    "schema", "infer", "--collection", "\(test.database.name).a", "--out", place,
                ])
                #expect(run.exitCode == 73)
                #expect(run.errors.contains("file is not a folder"), "\(run.errors)")
                #expect(run.output.isEmpty)
            }
            #expect(test.folder.text(of: "file") == "mine")
        }
    }

    @Test func filesThatAreThereAreKept() async throws {
        try await InferCase.with { test in
            try await test.database.fill("a", count: 10)
            let arguments = ["schema", "infer", "--collection", "\(test.database.name).a", "--out", "schema.json"]
            func run(_ more: String...) async throws -> ProgramRun {
                try await test.run(arguments + more)
            }
            try test.folder.write("mine", to: "schema.json")
            let refused = try await run()
            #expect(refused.exitCode == 73)
            #expect(
                refused.errors.contains("schema.json exists already: name another place, or replace it with --force"))
            #expect(test.folder.text(of: "schema.json") == "mine")
            let forced = try await run("--force")
            #expect(forced.exitCode == 0, "\(forced.errors)")
            #expect(test.folder.text(of: "schema.json")?.contains(#""bsonType": "object""#) == true)
            #expect(forced.output.contains("10 documents read, all fit the schema"))
            #expect(test.folder.names == ["schema.json"])
        }
    }

    @Test func severalSchemasNeedAFolder() async throws {
        try await InferCase.with { test in
            try await test.database.fill("a", count: 10)
            try await test.database.fill("b", count: 10)
            let screen = try await test.run("schema", "infer", "SHIPSHAPE_DATABASE=\(test.database.name)")
            #expect(screen.exitCode == 64 && screen.errors.contains("standard output takes only one: give --out DIR"))
            let file = try await test.run(
                "schema", "infer", "SHIPSHAPE_DATABASE=\(test.database.name)", "--out", "all.json")
            #expect(file.exitCode == 64 && file.errors.contains("--out all.json is one file, and there are 2"))
            let json = try await test.run(
                "schema", "infer", "SHIPSHAPE_DATABASE=\(test.database.name)", "--output", "json")
            #expect(json.exitCode == 0)
            let report = try BSONDocument(extendedJSON: json.output)
            #expect(report["schema_version"] == 1)
            let schemas = report["collections"]?.document?.values.compactMap { $0.document?["schema"]?.document }
            #expect(schemas?.compactMap { $0["title"]?.text } == ["a", "b"])
        }
    }
}
