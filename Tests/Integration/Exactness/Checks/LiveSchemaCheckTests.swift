import BSON
import SystemPackage
import TestSupport
import Testing

/// Tests the check of a schema that is live: it says what is, and judges no deploy.
@Suite struct LiveSchemaCheckTests {
    private static let schema =
        #"{"title": "Task", "bsonType": "object", "required": ["_id", "name"], "properties": {"#
        + #""_id": {"bsonType": "int"}, "name": {"bsonType": "string"}}}"#

    private func with(_ body: (BackfillCase, (String...) async throws -> ProgramRun) async throws -> Void) async throws
    {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("Task", count: 20) { number in
                BSONDocument([("_id", .int(Int32(number)))] + (number < 3 ? [] : [("name", "n")]))
            }
            let file = "\(test.database.name).Task.json"
            try test.write(file, Self.schema)
            try await body(test) { words in
                try await Program.run(
                    [
                        "check", file, "--collection", "\(test.database.name).Task", "--uri", test.uri,
                        "SHIPSHAPE_LEDGER=none",
                    ] + words, in: test.folder)
            }
        }
    }

    @Test func itSaysWhatDoesNotSync() async throws {
        try await with { test, check in
            let file = "\(test.database.name).Task.json"
            let live = try await check("--active", "./\(file)")
            #expect(live.exitCode == 1)
            #expect(live.output.hasPrefix("3 documents do not sync.\n"), "\(live.output)")
            #expect(!live.output.contains("\n  change "), "\(live.output)")
            try await test.database.run([
                "delete": "Task", "deletes": [["q": ["name": ["$exists": false]], "limit": 0]],
            ])
            let good = try await check("--active", file)
            #expect(good.exitCode == 0)
            #expect(good.output.hasPrefix("Safe: every document syncs.\n"), "\(good.output)")
        }
    }

    @Test func itSaysWhatIsNewSinceTheNightBefore() async throws {
        try await with { test, check in
            let file = "\(test.database.name).Task.json"
            let flags = ["--active", file, "--history", "nights"]
            #expect(
                try await check(flags[0], flags[1], flags[2], flags[3]).output.hasPrefix("3 documents do not sync.\n"))
            try await test.database.fill("Task", [["_id": 100], ["_id": 101]])
            let second = try await check(flags[0], flags[1], flags[2], flags[3])
            #expect(second.output.hasPrefix("5 documents do not sync, 2 more than at 20"), "\(second.output)")
            let third = try await check(flags[0], flags[1], flags[2], flags[3])
            #expect(third.output.hasPrefix("5 documents do not sync, as many as at 20"), "\(third.output)")
        }
    }
}
