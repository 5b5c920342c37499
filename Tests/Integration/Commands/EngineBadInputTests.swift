import Checking
import Conformance
import Proving
import TestSupport
import Testing

/// Tests that bad input to `--engine` and to `explain` names the problem, the place and the remedy.
@Suite struct EngineBadInputTests {
    /// Runs the program in a folder with a few files, and returns the first line of its error.
    private func refusal(_ arguments: [String], status: Int32) async throws -> String {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(CommandLineFolder.person, to: "person.json")
        try folder.write("Task:\n  age: intger\n", to: "columns.yml")
        try folder.write("Task:\n  age: integer\n", to: "good.yml")
        try folder.write("Task:\n  age: integer\n  home.city: text\n", to: "dotted.yml")
        try folder.write("{\n  \"modelVersion\": 5,\n  \"entities\": [ { \"name\": 7 } ]\n}\n", to: "model.json")
        try folder.write("{\n  \"modelVersion\": 5,\n", to: "cut.json")
        try folder.write(EngineCase.modelText, to: "objectbox-model.json")
        let run = try await Program.run(arguments, in: folder.path)
        #expect(run.exitCode == status, "\(run.errors)")
        #expect(run.output == "")
        return run.errorLines.first.map { String($0) } ?? ""
    }

    private static let nowhere = ["--uri", "mongodb://127.0.0.1:1/"]

    @Test func anUnknownEngine() async throws {
        let line = try await refusal(["check", "--engine", "powersink", "--collection", "a.b"], status: 64)
        #expect(line.contains("did you mean \"powersync\"?"), "\(line)")
        for engine in Engine.allCases { #expect(line.contains(engine.rawValue), "\(line)") }
    }

    @Test(arguments: [
        (["check", "--engine", "device-sync", "--collection", "a.b"], "needs an App Services schema"),
        (["check", "--collection", "a.b"], "name a schema, or the sync engine with --engine"),
        (["check", "--engine", "powersync"], "name what to check: --collection DATABASE.COLLECTION"),
        (
            ["check", "--engine", "powersync", "--collection", "a.b", "--active", "person.json"],
            "--active needs a schema"
        ),
        (
            ["check", "objectbox-model.json", "--engine", "objectbox"],
            "name it in the connection string, or set database"
        ),
    ])
    func flagsThatDoNotGoTogether(_ arguments: [String], _ message: String) async throws {
        let line = try await refusal(arguments + Self.nowhere, status: 64)
        #expect(line.contains(message), "\(line)")
    }

    @Test(arguments: [
        (["--engine", "powersync", "SHIPSHAPE_COLUMNS=columns.yml"], "columns.yml:2:8: ", "did you mean \"integer\"?"),
        (
            ["--engine", "powersync", "SHIPSHAPE_COLUMNS=columns.yml"], "columns.yml:2:8: ",
            "text, integer or real, not"
        ),
        (["--engine", "powersync", "SHIPSHAPE_COLUMNS=dotted.yml"], "dotted.yml:3:3: ", "state \"home\" as text"),
        (["--engine", "objectbox", "SHIPSHAPE_ENGINE_MODEL=model.json"], "model.json:3:27: ", "name must be a string"),
        (["--engine", "objectbox", "SHIPSHAPE_ENGINE_MODEL=cut.json"], "cut.json:", ""),
        (
            ["--engine", "objectbox", "SHIPSHAPE_ENGINE_MODEL=person.json"], "person.json:1:1: ",
            "this is no model of ObjectBox"
        ),
    ])
    func aFileThatCannotBeRead(_ flags: [String], _ place: String, _ message: String) async throws {
        let line = try await refusal(["check", "--collection", "a.Task"] + flags + Self.nowhere, status: 65)
        #expect(line.contains(place) && line.contains(message), "\(line)")
    }

    @Test func anUnknownCode() async throws {
        let line = try await refusal(["explain", "powersync-dept"], status: 64)
        #expect(line.hasPrefix("shipshape: there is no code \"powersync-dept\" (did you mean powersync-depth"))
        #expect(line.hasSuffix("shipshape explain lists all codes"), "\(line)")
    }
}

/// Tests `explain` as a user calls it.
@Suite struct ExplainTests {
    @Test func aCodeIsExplainedWithoutADeployment() async throws {
        let run = try await Program.run(["explain", "powersync-depth"])
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.output.hasPrefix("powersync-depth: a rule of PowerSync\n"))
        for part in ["outcome", "example", "remedy", "source", "NESTED_DEPTH_LIMIT", "powersync-service 1.25.0"] {
            #expect(run.output.contains(part), "\(run.output)")
        }
    }

    @Test func allCodesAreListed() async throws {
        let run = try await Program.run(["explain", "rules"])
        #expect(run.exitCode == 0)
        for code in ["required-missing", "too-long", "rxdb-id", "id-type", "type-renamed", "rare-type", "veto", "75"] {
            #expect(run.output.contains("  \(code)\n"), "\(code)")
        }
    }

    /// The JSON of `explain` fits `docs/reference/json/explain.schema.json`, against which `Program.run` checks it.
    @Test func programsReadIt() async throws {
        let one = try await Program.run(["explain", "any-year", "-o", "json"])
        #expect(one.output.contains("\"kind\": \"a rule for any sync engine\""), "\(one.output)")
        let all = try await Program.run(["explain", "-o", "json"])
        #expect(all.exitCode == 0 && all.output.contains("\"code\": \"75\""))
    }
}
