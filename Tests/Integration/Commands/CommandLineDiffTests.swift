import Foundation
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// Tests `shipshape diff` as a user runs it, on the command line.
@Suite struct CommandLineDiffTests {
    private static let name = #""name": { "bsonType": "string" }"#
    private static let age = #""age": { "bsonType": "int" }"#

    /// Runs `diff` over two schemas of one collection.
    private func diff(
        _ old: String, _ new: String, _ more: [String] = [], configuration: String? = nil
    ) async throws -> ProgramRun {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(DiffFolder.schema(old), to: "v1/app.Person.json")
        try folder.write(DiffFolder.schema(new), to: "v2/app.Person.json")
        if let configuration { try folder.write(configuration, to: "shipshape.yml") }
        return try await Program.run(["diff", "v1", "v2"] + more, in: folder.path)
    }

    @Test(arguments: [
        [], ["-o", "github"], ["-o", "junit"], ["-o", "json"], ["-o", "jsonl"], ["-o", "markdown"], ["-o", "html"],
    ])
    func aBreakingPairEndsWith1AndAnAdditiveOneWith0(_ form: [String]) async throws {
        let both = "\(Self.name), \(Self.age)"
        let breaking = try await diff(both, Self.name, form)
        #expect(breaking.exitCode == 1)
        #expect(breaking.errors.isEmpty)
        let additive = try await diff(Self.name, both, form)
        #expect(additive.exitCode == 0, "\(additive.errors)")
        #expect(try await diff(both, both, form).exitCode == 0)
        switch form.last {
        case "github":
            #expect(breaking.output.hasPrefix("::error file=v2/app.Person.json,line=1,col=1,title=property-removed"))
            #expect(additive.output.hasPrefix("::notice file=v2/app.Person.json,line="))
        case "junit":
            #expect(breaking.output.contains(#"tests="1" failures="1""#))
            #expect(additive.output.contains(#"tests="1" failures="0""#))
        default: break
        }
    }

    @Test func failOnDecides() async throws {
        let both = "\(Self.name), \(Self.age)"
        #expect(try await diff(both, Self.name, ["--fail-on", "none"]).exitCode == 0)
        #expect(try await diff(Self.name, both, ["--fail-on", "any"]).exitCode == 1)
        #expect(try await diff(both, both, ["--fail-on", "any"]).exitCode == 0)
        let versioned = try await diff(both, Self.name, ["SHIPSHAPE_SCHEMA_VERSIONING=true"])
        #expect(versioned.exitCode == 0)
        #expect(versioned.output.hasPrefix("Versioned: 1 change "))
    }

    @Test func reportsAreWrittenInTheFormOfTheirEndings() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(DiffFolder.schema(Self.age), to: "v1/app.Person.json")
        try folder.write(DiffFolder.schema(Self.name), to: "v2/app.Person.json")
        let starts = [
            "r.txt": "Breaking: ", "r.json": "{\n", "r.jsonl": #"{"record":"header""#, "r.md": "### Schema changes",
            "r.html": "<!doctype html>", "r.xml": "<?xml ", "r.sarif": "{\n  \"$schema\"", "r.gitlab.json": "[\n",
        ]
        let run = try await Program.run(
            ["diff", "v1", "v2"] + starts.keys.flatMap { ["--report", $0] }, in: folder.path)
        #expect(run.exitCode == 1)
        for (file, start) in starts { #expect(folder.text(of: file)?.hasPrefix(start) == true, "\(file)") }
    }

    @Test func aRenameIsStatedOrHintedAt() async throws {
        let years = #""yearsSinceBirth": { "bsonType": "int" }"#
        let hinted = try await diff(Self.age, years)
        #expect(hinted.output.contains("  renames: [\"app.Person.age=yearsSinceBirth\"]\n"))
        #expect(hinted.output.contains("property-removed") && hinted.output.contains("optional-added"))
        let stated = try await diff(Self.age, years, ["SHIPSHAPE_RENAMES=Person.age=yearsSinceBirth"])
        #expect(stated.output.contains("age is renamed to yearsSinceBirth"))
        #expect(!stated.output.contains("property-removed") && !stated.output.contains("renames:"))
        let kept = try await diff(Self.age, years, configuration: "renames:\n  - Person.age=yearsSinceBirth\n")
        #expect(kept.output == stated.output)
        let elsewhere = try await diff(
            Self.age, years, ["--config", "shipshape.yml"], configuration: "renames: [app.Person.age=yearsSinceBirth]")
        #expect(elsewhere.output == stated.output)
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(DiffFolder.schema(Self.age), to: "v1/app.Person.json")
        try folder.write(DiffFolder.schema(years), to: "v2/app.Person.json")
        let file = try folder.write("renames: [Person.age=yearsSinceBirth]", to: "elsewhere.yml")
        let named = try await Program.run(
            ["diff", "v1", "v2"], environment: ["SHIPSHAPE_CONFIG": file], in: folder.path)
        #expect(named.output == stated.output)
        // If both schemas have the new name, a rename in the configuration file is ignored, but the same rename in
        // the flag `--rename` is refused.
        let done = try await diff(years, years, configuration: "renames:\n  - Person.age=yearsSinceBirth\n")
        #expect(done.exitCode == 0)
        #expect(try await diff(years, years, ["SHIPSHAPE_RENAMES=Person.age=yearsSinceBirth"]).exitCode == 64)
    }

    @Test(arguments: [
        ("rename: []", 78, #"shipshape.yml:1:1: the configuration has no key "rename" (did you mean "renames"?)"#),
        ("renames:\n  - Person.age", 78, "shipshape.yml:2:5: a rename is OLD=NEW, such as "),
        (
            "renames:\n  - Person.aeg=name", 78,
            #"shipshape.yml:2:5: rename "Person.aeg=name": Person has no property "aeg""#
        ),
        ("renames: {}", 78, #"shipshape.yml:1:10: "renames" must be a list"#),
        ("a: [", 78, "shipshape.yml:2:1: not YAML"),
    ])
    func aBadConfigurationIsNamedWithItsPlace(_ text: String, _ code: Int32, _ message: String) async throws {
        let run = try await diff(Self.age, Self.age, configuration: text)
        #expect(run.exitCode == code)
        #expect(run.errors.hasPrefix("shipshape: \(message)"), "\(run.errors)")
    }

    @Test(arguments: [
        (["SHIPSHAPE_RENAMES=Persn.age=x"], 64, #"no such type or collection (did you mean "Person"?)"#),
        (["SHIPSHAPE_RENAMES=age"], 78, "a rename is OLD=NEW"),
        (["SHIPSHAPE_RENAMES=Person.age=_id"], 64, "the primary key is always named _id"),
        (["--fail-on", "all"], 64, "'--fail-on"),
        (["-o", "xml"], 64, "'-o"),
        (
            ["--report", "a.pdf"], 64,
            "the ending must be .txt, .json, .jsonl, .md, .html, .xml, .sarif or .gitlab.json"
        ),
        (["--config", "nowhere.yml"], 78, "nowhere.yml: there is no such file"),
        (["--collection", "app.Persn"], 64, #"neither v1 nor v2 has it (did you mean "app.Person"?)"#),
    ])
    func badInputsAreNamed(_ arguments: [String], _ code: Int32, _ message: String) async throws {
        let run = try await diff(Self.age, Self.age, arguments)
        #expect(run.exitCode == code, "\(run.errors)")
        #expect(run.errors.contains(message), "\(run.errors)")
        #expect(run.output.isEmpty)
    }

    @Test func onlySchemasOfOneKindAreCompared() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let app = try folder.write(DiffFolder.schema(Self.age), to: "app.json")
        let validator = try folder.write(#"{"$jsonSchema": {"properties": {}}}"#, to: "validator.json")
        let run = try await Program.run(["diff", app, validator, "--collection", "app.Person"])
        #expect(run.exitCode == 64)
        #expect(run.errors.contains("only schemas of the same kind can be compared"))
        #expect(try await Program.run(["diff", "live", "live"]).exitCode == 64)
        #expect(try await Program.run(["diff", app, folder.path.string + "/none.json"]).exitCode == 65)
    }

    @Test func aCollectionOfOneFolderIsAChange() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(DiffFolder.schema(Self.age), to: "v1/app.Person.json")
        try folder.write(DiffFolder.schema(Self.age), to: "v2/app.Person.json")
        try folder.write(DiffFolder.schema(Self.age, title: "Pet"), to: "v2/app.Pet.json")
        let run = try await Program.run(["diff", "v1", "v2", "--collection", "app.Pet"], in: folder.path)
        #expect(run.exitCode == 0)
        #expect(run.output.contains("type Pet is added"))
        let other = try await Program.run(["diff", "v1", "v2", "--collection", "app.Person"], in: folder.path)
        #expect(other.output == "Nothing changed from v1 to v2.\n")
    }
}

/// Builds the schemas for the tests of `diff`.
enum DiffFolder {
    /// Returns the text of a schema with `_id` and the given properties.
    static func schema(_ properties: String, title: String = "Person") -> String {
        """
        { "title": "\(title)", "required": ["_id"],
          "properties": { "_id": { "bsonType": "objectId" }, \(properties) } }
        """
    }
}
