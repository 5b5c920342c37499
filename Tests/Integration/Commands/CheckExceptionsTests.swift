import BSON
import TestSupport
import Testing

/// Tests the exceptions file, in which the operator lists accepted findings.
@Suite struct CheckExceptionsTests {
    private func withPeople(
        schema: String = CommandLineFolder.person,
        _ body: (TestDatabase, CommandLineFolder, (@escaping ([String]) async throws -> ProgramRun)) async throws ->
            Void
    ) async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill(
                "person", [["_id": 1], ["_id": 2], ["_id": 3, "name": 5], ["_id": 4, "name": "Ada"]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let arguments = try folder.check(database, on: mongod, schema: schema)
            try await body(database, folder) { try await Program.run(arguments + $0, in: folder.path) }
        }
    }

    private func entry(
        _ database: TestDatabase, path: String = "name", rule: String = "required-missing", expires: String? = nil
    ) -> String {
        """
        - collection: \(database.name).person
          path: \(path)
          rule: \(rule)
          reason: imported in 2019
          owner: ada

        """ + (expires.map { "  expires: \($0)\n" } ?? "")
    }

    @Test func anExceptedFindingIsShownAndDoesNotFail() async throws {
        try await withPeople { database, folder, check in
            try folder.write(entry(database), to: "e.yml")
            let some = try await check(["SHIPSHAPE_EXCEPTIONS=e.yml"])
            #expect(some.exitCode == 1)
            #expect(some.output.hasPrefix("3 documents would stop syncing (2 excepted).\n"))
            #expect(some.output.contains("excepted: imported in 2019 (ada, e.yml:1:3)"), "\(some.output)")
            try folder.write(entry(database) + entry(database, rule: "type-mismatch"), to: "e.yml")
            let all = try await check(["SHIPSHAPE_EXCEPTIONS=e.yml"])
            #expect(all.exitCode == 0, "\(all.output)")
            let json = try await check(["SHIPSHAPE_EXCEPTIONS=e.yml", "-o", "json"])
            #expect(json.output.contains("\"projected\": 3"), "\(json.output)")
            #expect(all.output.contains("the documents still count in the projection"))
        }
    }

    @Test func theStandardFileIsReadWhenItIsThere() async throws {
        try await withPeople { database, folder, check in
            try folder.write(entry(database) + entry(database, rule: "type-mismatch"), to: "shipshape.exceptions.yml")
            #expect(try await check([]).exitCode == 0)
            #expect(try await check(["SHIPSHAPE_EXCEPTIONS=none"]).exitCode == 1)
        }
    }

    @Test func anExpiredOneIsAFinding() async throws {
        try await withPeople { database, folder, check in
            let valid = entry(database) + entry(database, rule: "type-mismatch", expires: "2999-12-31")
            try folder.write(valid, to: "e.yml")
            #expect(try await check(["SHIPSHAPE_EXCEPTIONS=e.yml"]).exitCode == 0)
            try folder.write(
                entry(database, path: "age", rule: "type-mismatch", expires: "2020-02-29") + valid, to: "e.yml")
            let run = try await check(["SHIPSHAPE_EXCEPTIONS=e.yml"])
            #expect(run.exitCode == 1)
            #expect(
                run.output.contains(
                    "Expired on 2020-02-29: the exception for type-mismatch of age in \(database.name).person"))
        }
    }

    @Test func aFindingOfAConstraintCanBeExcepted() async throws {
        try await withPeople { database, folder, check in
            try folder.write(entry(database, rule: "constraint-too-short"), to: "e.yml")
            let run = try await check(["SHIPSHAPE_EXCEPTIONS=e.yml"])
            #expect(
                run.output.contains("Matched nothing: the exception for constraint-too-short of name"),
                "\(run.errors)\(run.output)")
        }
        let schema = CommandLineFolder.person.replacing(
            #""name": { "bsonType": "string" }"#, with: #""name": { "bsonType": "string", "minLength": 4 }"#)
        try await withPeople(schema: schema) { database, folder, check in
            try folder.write(entry(database, rule: "constraint-too-short"), to: "e.yml")
            let run = try await check(["SHIPSHAPE_EXCEPTIONS=e.yml"])
            #expect(run.output.contains("excepted: imported in 2019 (ada, e.yml:1:3)"), "\(run.errors)\(run.output)")
        }
    }

    @Test(arguments: ["constraint-additional-property", "constraint-null-id", "constraint-geo-point"])
    func aCodeThatNoConstraintHasIsRefused(_ rule: String) async throws {
        try await withPeople { database, folder, check in
            try folder.write(entry(database, rule: rule), to: "e.yml")
            let run = try await check(["SHIPSHAPE_EXCEPTIONS=e.yml"])
            #expect(run.exitCode == 65)
            #expect(run.errors.contains("e.yml:3:9: there is no rule \"\(rule)\""), "\(run.errors)")
        }
    }

    @Test func oneThatMatchesNothingIsNoted() async throws {
        try await withPeople { database, folder, check in
            try folder.write(entry(database, path: "'tags[]'", rule: "array-item-type"), to: "e.yml")
            let run = try await check(["SHIPSHAPE_EXCEPTIONS=e.yml"])
            #expect(
                run.output.contains("Matched nothing: the exception for array-item-type of tags[]"), "\(run.output)")
        }
    }

    @Test(arguments: [
        (
            "rule: required-mising",
            "e.yml:3:9: there is no rule \"required-mising\" (did you mean \"required-missing\"?)"
        ),
        ("path: nmae", "e.yml:2:9: the schema of DB.person has no \"nmae\" (did you mean \"name\"?)"),
        ("ownr: ada", "e.yml:5:3: an exception has no key \"ownr\" (did you mean \"owner\"?)"),
        ("collection: person", "e.yml:1:15: \"collection\" must be DATABASE.COLLECTION"),
        ("expires: 2027-02-29", "e.yml:6:12: \"expires\" must be a day such as 2027-01-31"),
    ])
    func slipsAreReportedWithTheirPlace(_ line: String, _ message: String) async throws {
        try await withPeople { database, folder, check in
            let key = line.prefix { $0 != ":" }
            let wanted = key == "ownr" ? "owner" : key
            var lines = entry(database, expires: "2027-01-31").split(separator: "\n").map(String.init)
            let index = try #require(lines.firstIndex { $0.dropFirst(2).hasPrefix("\(wanted):") })
            lines[index] = lines[index].prefix(2) + line
            try folder.write(lines.joined(separator: "\n"), to: "e.yml")
            let run = try await check(["SHIPSHAPE_EXCEPTIONS=e.yml"])
            #expect(run.exitCode == 65)
            #expect(run.errors.contains(message.replacing("DB.", with: "\(database.name).")), "\(run.errors)")
        }
    }

    @Test func aMissingFileIsAnErrorWhenItIsNamed() async throws {
        try await withPeople { _, _, check in
            let run = try await check(["SHIPSHAPE_EXCEPTIONS=nothing.yml"])
            #expect(run.exitCode == 65)
            #expect(run.errors.contains("nothing.yml: there is no such file or folder"))
        }
    }
}
