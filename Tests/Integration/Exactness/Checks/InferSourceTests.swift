import BSON
import DemoData
import TestSupport
import Testing

/// Tests that `schema infer` gives the same schema for a dump as for the deployment.
@Suite struct InferSourceTests {
    private static let demo = DemoData.collections(documents: 1_000)[0]
    private static let people = (0..<demo.count).map(demo.document)

    @Test(arguments: SourceForm.allCases.filter(\.keepsTypes), ["appservices", "jsonschema"])
    func everyFormGivesTheSchemaOfTheDeployment(_ form: SourceForm, _ dialect: String) async throws {
        try await InferCase.with { test in
            let namespace = test.database.namespace("Person")
            try await test.database.fill("Person", Self.people)
            let options = ["--as", dialect, "--cover", "99.5%"]
            let live = try await Program.run(
                ["schema", "infer", "--collection", "\(namespace)", "--uri", test.uri] + options)
            #expect(live.exitCode == 0, "\(live.errors)")
            let source = try form.write([(namespace, Self.people)], to: test.folder)
            // The command names no collection, because a folder and an archive name the collections that they contain.
            let dump = try await Program.run(["schema", "infer", "--source", source] + options)
            #expect(dump.exitCode == 0, "\(dump.errors)")
            #expect(dump.output == live.output)
            #expect(Self.table(dump.errors) == Self.table(live.errors))
        }
    }

    /// Returns the report without the line that names the source and the time.
    private static func table(_ report: String) -> [Substring] {
        report.split(separator: "\n").filter { !$0.contains(" read in ") }
    }

    @Test func theFileOfOneCollectionNeedsItsName() async throws {
        try await InferCase.with { test in
            let file = try test.folder.write(Self.people.flatMap(\.bytes), to: "people.bson")
            let unnamed = try await test.run("schema", "infer", "--source", file)
            #expect(unnamed.exitCode == 64 && unnamed.output == "")
            #expect(
                unnamed.errors.contains("does not say which collection it holds: name it with --collection DB.COLL"))
            let named = try await test.run("schema", "infer", "--source", file, "--collection", "app.Person")
            #expect(named.exitCode == 0)
            #expect(named.output.contains(#""title": "Person""#))
        }
    }

    @Test func aPipeIsReadOnce() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let file = try folder.write(Self.people.flatMap(\.bytes), to: "people.bson")
        let all = try await Program.shell(#""$0" schema infer --source - --collection app.Person <"$1""#, [file])
        #expect(all.exitCode == 64)
        #expect(all.errors.contains("standard input can be read only once, and schema infer reads twice"))
        let some = try await Program.shell(
            #""$0" schema infer --source - --collection app.Person --sample 100 <"$1""#, [file])
        #expect(some.exitCode == 0, "\(some.errors)")
        #expect(some.output.contains(#""title": "Person""#))
    }

    @Test func aDamagedDumpIsRefused() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let file = try folder.write(Self.people.flatMap(\.bytes).dropLast(3), to: "people.bson")
        let run = try await Program.run([
            "schema", "infer", "--source", file, "--collection", "app.Person", "--out", "x.json",
        ])
        #expect(run.exitCode == 65 && run.output == "")
        #expect(folder.names == ["people.bson"])
    }
}
