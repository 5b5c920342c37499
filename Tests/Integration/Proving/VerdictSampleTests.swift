import BSON
import TestSupport
import Testing

/// Tests `check --prove`, which compares verdicts on a validator with the server's own.
@Suite struct VerdictSampleTests {
    private static let validator = #"""
        { "$jsonSchema": { "required": ["name"], "properties": {
            "name": { "bsonType": "string" }, "place": { "properties": { "x": { "bsonType": "int" } } } } } }
        """#

    /// The fixture of a test: a database with a validator of its collection `person` in a file.
    private struct Case {
        let database: TestDatabase
        let folder: CommandLineFolder
        let uri: String

        /// Runs `check --prove` on the validator.
        func check(
            _ more: String..., plant: String? = nil, during: (LiveProgram) async throws -> Void = { _ in }
        ) async throws -> ProgramRun {
            try await Program.run(
                ["check", "person.json", "--collection", "\(database.name).person", "--prove", "--uri", uri] + more,
                in: folder.path, plant: plant, during: during)
        }

        /// Runs `check --prove`, and returns the comparison in its report.
        func comparison(_ more: String...) async throws -> JSONValue {
            let run = try await Program.run(
                ["check", "person.json", "--collection", "\(database.name).person", "--prove", "--uri", uri]
                    + ["--output", "json"] + more, in: folder.path)
            #expect([0, 1].contains(run.exitCode), "\(run.output) \(run.errors)")
            return try #require(try JSONValue(run.output)["collections"]?.elements.first?["server_verdicts"])
        }
    }

    private func withPeople(
        _ documents: [BSONDocument], schema: String = Self.validator, _ body: (Case) async throws -> Void
    ) async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            if !documents.isEmpty { try await database.fill("person", documents) }
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            try folder.write(schema, to: "person.json")
            try await body(Case(database: database, folder: folder, uri: mongod.uri))
        }
    }

    private static let people: [BSONDocument] = (0..<400).map {
        $0 % 10 == 0 ? ["_id": .integer($0)] : ["_id": .integer($0), "name": "Ada"]
    }

    @Test func agreementIsInEveryForm() async throws {
        try await withPeople(Self.people) { test in
            let run = try await test.check("--report", "r.md", "--report", "r.html", "--report", "r.json")
            let sentence = "400 verdicts compared with the server's: no difference."
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(run.output.contains(sentence), "\(run.output)")
            #expect(try #require(test.folder.text(of: "r.md")).contains("400 verdicts compared with the server"))
            #expect(try #require(test.folder.text(of: "r.html")).contains("400 verdicts compared with the server"))
            let json = try JSONValue(try #require(test.folder.text(of: "r.json")))
            let comparison = try #require(json["collections"]?.elements.first?["server_verdicts"])
            #expect(comparison["compared"] == .number(400))
            #expect(comparison["different"] == .number(0))
            #expect(comparison["not_compared"] == .null)
        }
    }

    @Test func withoutTheFlagNothingIsAskedOfATestedServer() async throws {
        try await withPeople(Self.people) { test in
            let run = try await Program.run(
                ["check", "person.json", "--collection", "\(test.database.name).person", "--uri", test.uri],
                in: test.folder.path)
            #expect(!run.output.contains("compared"), "\(run.output)")
        }
    }

    @Test func aWrongVerdictEndsWithSeventy() async throws {
        try await withPeople([["_id": "no-name"], ["_id": 2, "name": "Ada"]]) { test in
            let run = try await test.check("--report", "r.json", plant: "check:required")
            #expect(run.exitCode == 70, "\(run.output) \(run.errors)")
            #expect(run.output.hasPrefix("This result is wrong: the server judges 1 document differently."))
            #expect(run.output.contains("2 verdicts compared with the server's: 1 differs."), "\(run.output)")
            #expect(run.output.contains("it refuses the documents with _id \"no-name\""), "\(run.output)")
            let json = try JSONValue(try #require(test.folder.text(of: "r.json")))
            let comparison = try #require(json["collections"]?.elements.first?["server_verdicts"])
            #expect(comparison["server_refuses"]?.elements == [.string("no-name")])
            #expect(json["verdict"]?["safe"] == .bool(false))
        }
    }

    @Test func oddIDsAreCompared() async throws {
        let ids = CheckScanTests.mixedIDs + [["": 1], ["a": ["": 2]], ["a": .null, "b": [1, .null]]]
        // One batch of the comparison has 500 documents.
        for half in [ids.prefix(450), ids.dropFirst(450)] {
            let documents = half.enumerated().map { number, id -> BSONDocument in
                number % 3 == 0 ? ["_id": id] : ["_id": id, "name": "Ada"]
            }
            try await withPeople(documents) { test in
                let comparison = try await test.comparison()
                #expect(comparison["compared"] == .number(Double(documents.count)), "\(comparison)")
                #expect(comparison["not_compared"] == .null, "\(comparison)")
            }
        }
    }

    @Test func underACollationOnlyTheDocumentItselfIsCompared() async throws {
        try await withPeople([]) { test in
            try await test.database.run(["create": "person", "collation": ["locale": "en", "strength": 1]])
            try await test.database.fill("person", [["_id": "ADA", "name": "Ada"], ["_id": "bob"]])
            let comparison = try await test.comparison()
            #expect(comparison["compared"] == .number(2), "\(comparison)")
        }
    }

    @Test func repeatedNamesAreJudgedAlike() async throws {
        let documents: [BSONDocument] = [
            BSONDocument([("_id", 1), ("name", "Ada"), ("name", 5)]),
            BSONDocument([("_id", 2), ("name", 5), ("name", "Ada")]),
            ["_id": 3, "name": "Ada", "place": .object(BSONDocument([("x", 1), ("x", "one")]))],
            ["_id": 4, "name": "Ada", "place": .object(BSONDocument([("x", "one"), ("x", 1)]))],
        ]
        try await withPeople(documents) { test in
            let comparison = try await test.comparison()
            #expect(comparison["compared"] == .number(4), "\(comparison)")
        }
    }

    @Test func writesInTheMeantimeAreNoDifference() async throws {
        try await withPeople((0..<20_000).map { ["_id": .integer($0), "name": "Ada"] }) { test in
            let database = test.database
            let run = try await test.check(
                "--report", "r.json",
                during: { program in
                    var isUnset = true
                    while !program.hasEnded {
                        let change: BSONValue = isUnset ? ["$unset": ["name": 1]] : ["$set": ["name": "Ada"]]
                        try await database.run([
                            "update": "person",
                            "updates": [["q": ["_id": ["$mod": [2, 0]]], "u": change, "multi": true]],
                        ])
                        isUnset.toggle()
                    }
                })
            #expect([0, 1].contains(run.exitCode), "\(run.output) \(run.errors)")
        }
    }

    @Test func aPropertyWithoutANameIsNotCompared() async throws {
        let schema = #"{ "$jsonSchema": { "properties": { "": { "bsonType": "object" } } } }"#
        try await withPeople(Self.people, schema: schema) { test in
            let comparison = try await test.comparison()
            #expect(comparison["compared"] == .number(0))
            #expect(comparison["not_compared"]?.text?.contains("known to judge") == true, "\(comparison)")
        }
    }

    @Test func joinedPartsKeepTheComparison() async throws {
        try await withPeople(Self.people) { test in
            try await Mongod.shared.withDatabase { state in
                for part in ["1/2", "2/2"] {
                    let run = try await test.check(
                        "--part", part, "--report", "part\(part.prefix(1)).json",
                        "SHIPSHAPE_STATE_DATABASE=\(state.name)", plant: "check:required")
                    #expect(run.exitCode == 70, "\(run.output) \(run.errors)")
                }
            }
            let joined = try await Program.run(["check", "--join", "part1.json", "part2.json"], in: test.folder.path)
            #expect(joined.exitCode == 70, "\(joined.output) \(joined.errors)")
            #expect(joined.output.contains("400 verdicts compared with the server's: 40 differ."), "\(joined.output)")
        }
    }

    @Test func withoutAServersVerdictTheFlagIsRefused() async throws {
        try await withPeople(Self.people) { test in
            try test.folder.write(CommandLineFolder.person, to: "sync.json")
            let collection = ["--collection", "\(test.database.name).person", "--prove"]
            let sync = try await Program.run(
                ["check", "sync.json", "--uri", test.uri] + collection, in: test.folder.path)
            #expect(sync.exitCode == 64)
            #expect(sync.errors.contains("--prove needs a MongoDB validator"), "\(sync.errors)")
            let dump = try await Program.run(
                ["check", "person.json", "--source", "person.bson"] + collection, in: test.folder.path)
            #expect(dump.exitCode == 64)
            #expect(dump.errors.contains("--source excludes --prove"), "\(dump.errors)")
        }
    }
}
