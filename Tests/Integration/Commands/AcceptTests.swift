import BSON
import TestSupport
import Testing

/// Tests that `--accept` writes findings to the file of exceptions, and that later runs read them there.
@Suite struct AcceptTests {
    private static let words = ["--accept", "imported: 2019", "SHIPSHAPE_OWNER=ada"]
    private static let accepting = words + ["--expires", "2999-12-31"]

    private func withPeople(
        _ body: (TestDatabase, CommandLineFolder, @escaping ([String]) async throws -> ProgramRun) async throws -> Void
    ) async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", [["_id": 1], ["_id": 2, "name": "Ada", "age": "7"], ["_id": 3]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let arguments = try folder.check(database, on: mongod)
            try await body(database, folder) { try await Program.run(arguments + $0, in: folder.path) }
        }
    }

    @Test func acceptedFindingsNoLongerFail() async throws {
        try await withPeople { database, folder, check in
            let first = try await check(Self.accepting)
            #expect(first.exitCode == 1, "\(first.errors)")
            #expect(
                first.errors.hasSuffix("accepted 2 findings until 2999-12-31 in shipshape.exceptions.yml\n"),
                "\(first.errors)")
            let file = try #require(folder.text(of: "shipshape.exceptions.yml"))
            #expect(
                file.contains(
                    """
                    - collection: "\(database.name).person"
                      path: "age"
                      rule: type-mismatch
                      fingerprint: "
                    """), "\(file)")
            #expect(file.contains("\"  # expected int, found string\n  reason: \"imported: 2019\"\n"), "\(file)")
            let second = try await check(["-o", "json"])
            #expect(second.exitCode == 0, "\(second.errors)\(second.output)")
            let matched = try JSONValue(second.output)["exceptions"]?["matched"]?.elements
            #expect(matched?.count == 2 && matched?.allSatisfy { $0["fingerprint"]?.text?.count == 16 } == true)
            let again = try await check(Self.accepting)
            #expect(again.exitCode == 0 && again.errors.contains("nothing to accept"), "\(again.errors)")
            #expect(folder.text(of: "shipshape.exceptions.yml") == file)
        }
    }

    /// The accepted finding is a string in the field `age`, which must be an int.
    ///
    /// A date in this field is a different finding, so it still fails the check.
    @Test func anotherWrongTypeAtThePathIsNotAccepted() async throws {
        try await withPeople { database, folder, check in
            _ = try await check(Self.accepting)
            try await database.fill("person", [["_id": 4, "name": "Ada", "age": .date(milliseconds: 0)]])
            let run = try await check([])
            #expect(run.exitCode == 1, "\(run.output)")
            #expect(run.output.contains("type-mismatch     age   int       date"), "\(run.output)")
            #expect(run.output.contains("excepted until 2999-12-31: imported: 2019 (ada, "), "\(run.output)")
            // If the exception has no fingerprint, it covers every wrong type.
            let file = try #require(folder.text(of: "shipshape.exceptions.yml"))
            let lines = file.split(separator: "\n").filter { !$0.contains("fingerprint:") }
            try folder.write(lines.joined(separator: "\n") + "\n", to: "shipshape.exceptions.yml")
            let whole = try await check([])
            #expect(whole.exitCode == 0, "\(whole.output)")
        }
    }

    @Test(arguments: ["\n", "\r\n"]) func theOtherLinesOfTheFileStay(_ lineEnd: String) async throws {
        try await withPeople { database, folder, check in
            let entry = """
                # Known since March.
                - collection: \(database.name).person
                  path: tags
                  rule: array-not-array
                  reason: none yet
                  owner: bob
                """
            let expired = """
                - collection: \(database.name).person
                  path: name
                  rule: required-missing
                  reason: for a while
                  owner: bob
                  expires: 2020-01-01
                """
            let text = entry + "\n" + expired + "\n\n# The end.\n"
            try folder.write(text.replacing("\n", with: lineEnd), to: "e.yml")
            let run = try await check(["SHIPSHAPE_EXCEPTIONS=e.yml"] + Self.accepting)
            #expect(run.exitCode == 1, "\(run.errors)")
            let file = try #require(folder.text(of: "e.yml"))
            // The expired exception is replaced, because two entries for one finding would be an error.
            let kept = (entry + "\n\n# The end.\n").replacing("\n", with: lineEnd)
            #expect(file.hasPrefix(kept + "- collection: "), "\(file)")
            #expect(!file.contains("for a while") && file.contains("path: \"name\""), "\(file)")
            let next = try await check(["SHIPSHAPE_EXCEPTIONS=e.yml"])
            #expect(next.exitCode == 0, "\(next.output)")
        }
    }

    @Test(arguments: ["[]\n", "# Nothing yet.\n[]\n", "", "# Nothing yet.\n"])
    func anEmptyFileIsFilled(_ text: String) async throws {
        try await withPeople { _, folder, check in
            try folder.write(text, to: "shipshape.exceptions.yml")
            #expect(try await check(Self.accepting).exitCode == 1)
            let next = try await check([])
            #expect(next.exitCode == 0, "\(next.errors)\(next.output)")
            #expect(folder.text(of: "shipshape.exceptions.yml")?.hasPrefix("# Nothing") == text.hasPrefix("#"))
        }
    }

    @Test func aFileInAnotherNotationStaysAsItIs() async throws {
        try await withPeople { database, folder, check in
            let text = """
                [{collection: \(database.name).person, path: tags, rule: array-not-array, reason: r, owner: o}]

                """
            try folder.write(text, to: "e.yml")
            let run = try await check(["SHIPSHAPE_EXCEPTIONS=e.yml"] + Self.accepting)
            #expect(run.exitCode == 64 && run.errors.contains("e.yml: its entries are not a list of lines"))
            #expect(folder.text(of: "e.yml") == text)
        }
    }

    @Test(arguments: [
        (["--accept", "r"], "--accept needs --expires: "),
        (["--expires", "never"], "--expires needs --accept: "),
        (words + ["--expires", "2027-02-29"], "--expires 2027-02-29: it must be a day such as 2027-01-31, or never"),
        (words + ["--expires", "2020-01-01"], "--expires 2020-01-01 has passed: name a later day"),
        (accepting + ["SHIPSHAPE_EXCEPTIONS=none"], "exceptions"),
        (accepting + ["--part", "1/2"], "--part excludes --accept: "),
    ])
    func badUsesAreNamed(_ flags: [String], _ message: String) async throws {
        try await withPeople { _, folder, check in
            let run = try await check(flags)
            #expect(run.exitCode == 64 && run.errors.contains(message), "\(run.errors)")
            #expect(folder.names == ["person.json"] && run.output.isEmpty)
        }
    }

    @Test func aFileThatCannotBeWrittenIsReportedBeforeTheCheck() async throws {
        try await withPeople { _, _, check in
            let run = try await check(["SHIPSHAPE_EXCEPTIONS=nowhere/e.yml"] + Self.accepting)
            #expect(run.exitCode == 73 && run.output.isEmpty, "\(run.errors)")
            #expect(run.errors.contains("cannot write the exceptions nowhere/e.yml"), "\(run.errors)")
        }
    }

    /// A check with an active schema also fails because of a breaking change, so `check --accept` accepts the change,
    /// as `diff --accept` does.
    @Test func aCheckAcceptsTheChangeOfTheSchema() async throws {
        try await CheckVerdictCase.with { test in
            try await test.database.fill("Person", [["_id": 1, "a": "x"]])
            try test.write("v1", ["Person": CheckVerdictCase.schema("Person", ["a": "string", "b": "string"])])
            try test.write("v2", ["Person": CheckVerdictCase.schema("Person", ["a": "string"])])
            let first = try await test.check(Self.accepting)
            #expect(first.exitCode == 1, "\(first.errors)")
            #expect(
                first.errors.hasSuffix("accepted 1 finding until 2999-12-31 in shipshape.exceptions.yml\n"),
                "\(first.errors)")
            let second = try await test.check()
            #expect(second.exitCode == 0, "\(second.errors)\(second.output)")
            #expect(
                second.output.contains(
                    "b is removed (property-removed). Accepted until 2999-12-31: imported: 2019 (ada, "
                        + "shipshape.exceptions.yml:1:3)\n"), "\(second.output)")
            // The change is accepted, but its severity is the same as before.
            let change = try await test.verdict()["parts"]?.document?["change"]?.document
            #expect(change?["severity"] == "harmful" && change?["breaking"] == 1 && change?["unaccepted"] == 0)
            #expect(try await test.diff().exitCode == 0)
            #expect(try await test.check("SHIPSHAPE_EXCEPTIONS=none").exitCode == 1)
        }
    }

    /// One file of exceptions can hold accepted changes of the schema for `diff`, and accepted findings for `check`.
    @Test func aChangeIsAcceptedToo() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        func write(_ type: String, _ version: String) throws {
            try folder.write(
                DiffFolder.schema(#""name": { "bsonType": "\#(type)" }"#), to: "\(version)/app.Person.json")
        }
        try write("string", "v1")
        try write("int", "v2")
        func diff(_ flags: [String] = []) async throws -> ProgramRun {
            try await Program.run(["diff", "v1", "v2"] + flags, in: folder.path)
        }
        let first = try await diff(Self.words + ["--expires", "never"])
        #expect(first.exitCode == 1)
        #expect(first.errors == "accepted 1 finding in shipshape.exceptions.yml\n")
        let file = try #require(folder.text(of: "shipshape.exceptions.yml"))
        #expect(file.contains("  rule: property-type-changed\n") && file.contains("# name: string → int\n"), "\(file)")
        #expect(!file.contains("expires"))
        let second = try await diff()
        #expect(second.exitCode == 0, "\(second.output)")
        #expect(second.output.hasPrefix("Breaking: 1 of 1 change from v1 to v2 (1 accepted). "), "\(second.output)")
        #expect(second.output.contains("Accepted: imported: 2019 (ada, shipshape.exceptions.yml:1:3)."))
        let json = try JSONValue(try await diff(["-o", "json"]).output)
        #expect(json["changes"]?.elements.first?["exception"]?["owner"] == .string("ada"))
        #expect(json["verdict"]?["accepted"] == .number(1) && json["verdict"]?["failed"] == .bool(false))
        #expect(try await diff(["SHIPSHAPE_EXCEPTIONS=none"]).exitCode == 1)
        // The acceptance does not cover a different change of the same property.
        try write("date", "v2")
        #expect(try await diff().exitCode == 1)
        // After the day that `expires` names, the acceptance no longer counts: the change fails again, and the expired
        // acceptance is shown.
        try write("int", "v2")
        try folder.write(file + "  expires: 2020-01-01\n", to: "shipshape.exceptions.yml")
        let expired = try await diff()
        #expect(expired.exitCode == 1)
        #expect(expired.output.contains("The acceptance expired on 2020-01-01: imported: 2019"), "\(expired.output)")
    }
}
