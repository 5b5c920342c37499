import Foundation
import Testing

/// Tests `diff` over all versions of a schema that clients may still use.
@Suite struct DiffVersionsTests {
    private static let name = #""name": { "bsonType": "string" }"#
    private static let age = #""age": { "bsonType": "int" }"#
    private static let oldAge = #""age": { "bsonType": "string" }"#

    /// Writes versions of one collection's schema, and runs `diff` in their folder.
    private func diff(
        _ versions: [String: String], _ arguments: [String], configuration: String? = nil
    ) async throws -> ProgramRun {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        for (version, properties) in versions {
            try folder.write(DiffFolder.schema(properties), to: "\(version)/app.Person.json")
        }
        if let configuration { try folder.write(configuration, to: "shipshape.yml") }
        return try await Program.run(["diff"] + arguments, in: folder.path)
    }

    /// The change from v2 to v3 is additive, but v3 breaks clients that still have v1, in which `age` has another type.
    @Test func compatibilityIsTransitive() async throws {
        let versions = [
            "all/v1": "\(Self.name), \(Self.oldAge)", "all/v2": Self.name, "v3": "\(Self.name), \(Self.age)",
        ]
        #expect(try await diff(versions, ["all/v2", "v3"]).exitCode == 0)
        let all = ["v3", "--against", "all/v1", "--against", "all/v2"]
        let run = try await diff(versions, all)
        #expect(run.exitCode == 1, "\(run.errors)")
        #expect(run.output.hasPrefix("Not compatible: v3 fails 1 of 2 versions: all/v1.\n"), "\(run.output)")
        #expect(run.output.contains("  all/v1   breaking        1         1         0"), "\(run.output)")
        #expect(run.output.contains("  all/v2   additive        1         0         0"), "\(run.output)")
        #expect(run.output.contains("age: string → int"), "\(run.output)")
        let json = try JSONValue(try await diff(versions, all + ["-o", "json"]).output)
        #expect(json["verdict"]?["failing"]?.elements == [.string("all/v1")])
        #expect(json["versions"]?.elements.map { $0["fails"] } == [.bool(true), .bool(false)])
        #expect(
            json["versions"]?.elements.first?["report"]?["changes"]?.elements.first?["code"]
                == .string("property-type-changed"))
        let lines = try await diff(versions, all + ["-o", "jsonl"]).output.split(separator: "\n")
        #expect(lines.count { $0.hasPrefix(#"{"record":"version","version":"all/v"#) } == 2, "\(lines)")
        let fits = try await diff(versions, ["v3", "--against", "all/v2"])
        #expect(fits.exitCode == 0)
        #expect(fits.output.hasPrefix("Compatible: v3 fails none of 1 version.\n"), "\(fits.output)")
        #expect(try await diff(versions, ["v3", "--against", "all/v2", "--fail-on", "any"]).exitCode == 1)
        #expect(try await diff(versions, ["v3", "--against", "all/v1", "--fail-on", "none"]).exitCode == 0)
    }

    /// The setting `renames` has the old and the new name of a field that only some of the older versions have.
    ///
    /// For the versions that have this field, `diff` reports a rename. For the other versions, it reports the new field
    /// as an added one.
    @Test func aRenameCountsForTheVersionsThatShowIt() async throws {
        let years = #""years": { "bsonType": "int" }"#
        let versions = ["v1": Self.name, "v2": Self.age, "v3": years, "new": "\(years), \(Self.name)"]
        let all = ["new", "--against", "v1", "--against", "v2", "--against", "v3"]
        for flags in [["SHIPSHAPE_RENAMES=Person.age=years"], []] {
            let run = try await diff(
                versions, all + flags + ["-o", "json"],
                configuration: flags.isEmpty ? "renames: [Person.age=years]\n" : nil)
            #expect(run.exitCode == 1, "\(run.errors)")
            let changes = try JSONValue(run.output)["versions"]?.elements.map { version in
                version["report"]?["changes"]?.elements.compactMap { $0["code"]?.text } ?? []
            }
            #expect(changes == [["optional-added"], ["property-renamed", "optional-added"], ["optional-added"]])
        }
        let none = try await diff(versions, all + ["SHIPSHAPE_RENAMES=Person.aeg=years"])
        #expect(none.exitCode == 64 && none.output.isEmpty)
        #expect(none.errors.contains("none of the versions and new show the rename Person.aeg=…"), "\(none.errors)")
    }

    @Test(arguments: [
        (["v1"], 64, "Missing expected argument '<new>': name OLD and NEW, or NEW with --against OLD"),
        ([], 64, "Missing expected argument '<old>': name OLD and NEW, or NEW with --against OLD"),
        (["v1", "v2", "--against", "v1"], 64, "--against names the older schemas"),
        (["--against", "v1"], 64, "--against names the older schemas"),
        (["v2", "--against", "nowhere"], 65, "nowhere: "),
        (["v2", "--against", "v1", "--uri", "mongodb://127.0.0.1:1/"], 64, "it does not go with several versions"),
    ])
    func badUsesAreNamed(_ arguments: [String], _ code: Int32, _ message: String) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(DiffFolder.schema(Self.name), to: "v1/app.Person.json")
        try folder.write(DiffFolder.schema(Self.age), to: "v2/app.Person.json")
        let run = try await Program.run(["diff"] + arguments, in: folder.path)
        #expect(run.exitCode == code && run.errors.contains(message), "\(run.status) \(run.errors)")
    }

    @Test(arguments: [("2999-12-31", "removed-before-day", Int32(1)), ("2020-01-01", "property-removed", 1)])
    func aPropertyMayBeRemovedAfterItsDay(_ day: String, _ code: String, _ status: Int32) async throws {
        let old = #""age": { "bsonType": "int", "description": "@deprecated \#(day): use born" }"#
        let run = try await diff(["v1": "\(Self.name), \(old)", "v2": Self.name], ["v1", "v2", "-o", "json"])
        #expect(run.exitCode == status, "\(run.errors)")
        let codes = try JSONValue(run.output)["changes"]?.elements.compactMap { $0["code"]?.text } ?? []
        #expect(codes.contains(code) && codes.contains("removed-before-day") == (day > "2026"), "\(codes)")
        let text = try await diff(["v1": "\(Self.name), \(old)", "v2": Self.name], ["v1", "v2"]).output
        #expect(text.contains("age is removed, but clients may use it until \(day)") == (day > "2026"), "\(text)")
    }

    /// A document without the removed property still fits a validator.
    ///
    /// The removal is a finding only until the day that `@deprecated` names, because clients may use the property until
    /// then.
    @Test func theDayCountsForValidators() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        for (file, day) in [("early.json", "2999-12-31"), ("late.json", "2020-01-01")] {
            try folder.write(
                #"{"$jsonSchema": {"properties": {"age": {"description": "@deprecated \#(day)", "bsonType": "int"}}}}"#,
                to: file)
        }
        try folder.write(#"{"$jsonSchema": {"bsonType": "object"}}"#, to: "new.json")
        for (file, status) in [("early.json", Int32(1)), ("late.json", 0)] {
            let run = try await Program.run(
                ["diff", file, "new.json", "--collection", "a.b", "-o", "json"], in: folder.path)
            #expect(run.exitCode == status, "\(file): \(run.errors)\(run.output)")
            #expect(run.output.contains("\"removed-before-day\"") == (status == 1), "\(file): \(run.output)")
        }
        let text = try await Program.run(["diff", "early.json", "new.json", "--collection", "a.b"], in: folder.path)
        #expect(text.output.hasPrefix("Breaking: 1 of "), "\(text.output)")
        #expect(text.output.contains(". Clients may still use what is removed.\n"), "\(text.output)")
    }
}
