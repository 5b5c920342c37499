import BSON
import SystemPackage
import TestSupport
import Testing

/// What `check`, `diff` and `plan` make of a change that a partner serves.
@Suite(.fencedDeletes) struct PartnerVerdictTests {
    private static func schema(_ key: String, tags: String = "mixed") -> String {
        """
        { "title": "Task", "bsonType": "object", "required": ["_id", "title"], "properties": {
          "_id": { "bsonType": "\(key)" }, "title": { "bsonType": "string" },
          "priority": { "bsonType": "\(key == "string" ? "string" : "int")" }, "parent": { "bsonType": "\(key)" },
          "legacy": { "bsonType": "string" }, "tags": { "bsonType": "array", "items": { "bsonType": "\(tags)" } } } }
        """
    }

    /// A partner that is copied, and not compared yet, and the schemas of its original.
    private func withPartner(_ body: (PartnerCase) async throws -> Void) async throws {
        try await Mongod.shared.withPartner { test in
            try test.job()
            try test.folder.write(Self.schema("objectId"), to: "v1.json")
            try test.folder.write(Self.schema("string"), to: "v2.json")
            try test.folder.write(Self.schema("string", tags: "string"), to: "v3.json")
            try await test.load(30)
            try #require(try await test.run("init").exitCode == 0)
            try await body(test)
        }
    }

    /// Runs a command on two of the schemas.
    private func run(
        _ command: String, _ test: PartnerCase, to next: String = "v2.json", _ flags: String...
    ) async throws -> ProgramRun {
        let (old, new) = (test.folder.path.appending("v1.json").string, test.folder.path.appending(next).string)
        let schemas = command == "check" ? [new, "--active", old, "--ledger", "none"] : [old, new]
        return try await Program.run(
            [command] + schemas + ["--collection", "\(test.database.name).Task", "--uri", test.uri]
                + ["--state-database", test.state.name] + flags)
    }

    /// The comparison of the sides, as if it had been made so long ago.
    private func verify(_ test: PartnerCase, hoursAgo: Int64 = 0) async throws {
        try #require(try await test.run("verify").exitCode == 0)
        try await test.state.run([
            "update": "streams",
            "updates": [
                [
                    "q": [:],
                    "u": [["$set": ["verified.at": ["$subtract": ["$verified.at", .long(hoursAgo * 3_600_000)]]]]],
                ]
            ],
        ])
    }

    private static let commands = ["check", "diff", "plan"]

    @Test(arguments: commands) func aChangeThatAVerifiedPartnerServesBreaksNothing(_ command: String) async throws {
        try await withPartner { test in
            try await verify(test)
            let found = try await run(command, test)
            #expect(found.exitCode == 0, "\(found.output)\(found.errors)")
            #expect(found.output.contains("\(test.database.name).TaskV2"), "\(found.output)")
            switch command {
            case "check":
                #expect(found.output.contains("compared at 20"), "\(found.output)")
                #expect(found.output.contains("keeps its schema beside its partner"), "\(found.output)")
            case "diff":
                #expect(found.output.contains("compared at 20"), "\(found.output)")
                #expect(found.output.contains("Partner collections serve 3 of them"), "\(found.output)")
            default: #expect(found.output.contains("serves the change (job tasks)"), "\(found.output)")
            }
        }
    }

    @Test(arguments: commands) func aPartnerThatWasNotComparedServesNothing(_ command: String) async throws {
        try await withPartner { test in
            let found = try await run(command, test)
            #expect(found.exitCode == 1)
            let text = found.output + found.errors
            #expect(text.contains("serves no change yet: it was never compared: run partner verify"), "\(text)")
        }
    }

    @Test(arguments: commands) func aComparisonOfTheDayBeforeYesterdayServesNothing(_ command: String) async throws {
        try await withPartner { test in
            try await verify(test, hoursAgo: 48)
            let found = try await run(command, test)
            #expect(found.exitCode == 1)
            let text = found.output + found.errors
            #expect(text.contains("the last comparison is older than 24h"), "\(text)")
        }
    }

    @Test(arguments: commands) func aPartnerThatDiffersServesNothing(_ command: String) async throws {
        try await withPartner { test in
            try await test.database.delete("TaskV2", ["_id": .string("\(PartnerCase.id(3))")])
            try #require(try await test.run("verify", "--settle", "0s").exitCode == 1)
            let found = try await run(command, test)
            #expect(found.exitCode == 1)
            let text = found.output + found.errors
            #expect(text.contains("the last comparison found 1 difference"), "\(text)")
        }
    }

    @Test(arguments: commands) func aPartnerOfAnotherCollectionServesNothing(_ command: String) async throws {
        try await withPartner { test in
            try await verify(test)
            try await test.state.run([
                "update": "streams", "updates": [["q": [:], "u": ["$set": ["source": "app.Other"]]]],
            ])
            let found = try await run(command, test)
            #expect(found.exitCode == 1)
            #expect(!(found.output + found.errors).contains("the partner"), "\(found.output)\(found.errors)")
        }
    }

    /// The partner's steps say nothing of the tags: that change breaks as before, and with it the collection's documents count.
    @Test(arguments: commands) func aChangeThatThePartnerDoesNotCarryStaysBreaking(_ command: String) async throws {
        try await withPartner { test in
            try await verify(test)
            let found = try await run(command, test, to: "v3.json")
            #expect(found.exitCode == 1)
            let text = found.output + found.errors
            #expect(text.contains("does not serve the change of tags[]: its steps do not carry that over"), "\(text)")
            #expect(!text.contains("keeps its schema beside its partner"), "\(text)")
        }
    }

    @Test func aPartnerThatIsCutOverGoesOnServing() async throws {
        try await withPartner { test in
            try #require(try await test.run("mirror", "--once").exitCode == 0)
            try await verify(test)
            try #require(try await test.run("cutover", "--yes", "--quiet-for", "0s").exitCode == 0)
            try await verify(test, hoursAgo: 48)
            let found = try await run("check", test)
            #expect(found.exitCode == 0, "\(found.output)\(found.errors)")
            #expect(found.output.contains("cut over at 20"), "\(found.output)")
        }
    }

    @Test func machinesAreToldWhichPartnerServes() async throws {
        try await withPartner { test in
            try await verify(test)
            let diff = try #require(
                try BSONValue(extendedJSON: try await run("diff", test, "-o", "json").output).document)
            let change = try #require(diff["changes"]?.document?.values.first?.document)
            #expect(change["verdict"] == "served" && change["fails"] == false)
            let partner = try #require(change["partner"]?.document)
            #expect(partner["job"] == "tasks" && partner["target"] == .string("\(test.database.name).TaskV2"))
            let check = try #require(
                try BSONValue(extendedJSON: try await run("check", test, "-o", "json").output).document)
            let parts = try #require(check["verdict"]?.document?["parts"]?.document)
            #expect(parts["change"]?.document?["worst"] == "served", "\(parts)")
            #expect(check["collections"]?.document?.values.first?.document?["in_verdict"] == false)
        }
    }
}
