import BSON
import TestSupport
import Testing

/// Tests how `check --active` counts documents that newly fail, already fail or are fixed, and with which code it
/// exits.
@Suite struct CheckActiveTests {
    private static let old = #"""
        { "bsonType": "object", "required": ["name"],
          "properties": { "_id": { "bsonType": "int" }, "name": { "bsonType": "string" } } }
        """#
    /// The old schema with two changes: the name is optional, and an `age` of type int is required.
    private static let new = #"""
        { "bsonType": "object", "required": ["age"],
          "properties": { "_id": { "bsonType": "int" }, "name": { "bsonType": "string" }, "age": { "bsonType": "int" } } }
        """#

    private func withPeople(
        _ documents: [BSONDocument],
        _ body: (TestDatabase, CommandLineFolder, (@escaping ([String]) async throws -> ProgramRun)) async throws ->
            Void
    ) async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", documents)
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            for (name, schema) in [("v1", Self.old), ("v2", Self.new)] {
                try folder.write(schema, to: "\(name)/\(database.name).person.json")
            }
            let uri = mongod.uri
            try await body(database, folder) { more in
                try await Program.run(["check", "v2", "--uri", uri, "SHIPSHAPE_LEDGER=none"] + more, in: folder.path)
            }
        }
    }

    @Test func newlyFailingDocumentsAreDistinguishedFromTheRest() async throws {
        let documents: [BSONDocument] = [
            ["_id": 1, "name": "Ada", "age": 36], ["_id": 2, "name": "Bob"], ["_id": 3, "name": 5],
            ["_id": 4, "age": 1], ["_id": 5, "name": "Eve", "age": .long(7)],
        ]
        try await withPeople(documents) { database, _, check in
            let run = try await check(["--active", "v1"])
            #expect(run.exitCode == 1)
            #expect(
                run.output.hasPrefix("1 document would stop syncing.\n"), "\(run.output)")
            let row = run.output.split(separator: "\n").first { $0.hasPrefix("  \(database.name).person ") }
            #expect(row?.split(separator: " ").dropFirst() == ["1", "1", "1", "1", "0", "0"])
        }
    }

    @Test func documentsThatFailAlreadyEndWith1OnlyOnRequest() async throws {
        try await withPeople([["_id": 3, "name": 5], ["_id": 5, "name": "Eve", "age": .long(7)]]) { _, _, check in
            for (arguments, status) in [
                (["--active", "v1"], Int32(0)), (["--active", "v1", "--fail-on", "new"], 0),
                (["--active", "v1", "--fail-on", "any"], 1), ([], 1),
                (["--active", "v1", "--strict"], 1),
                (["--fail-on", "new"], 64), (["--fail-on", "old"], 64), (["--active", "v7"], 65),
            ] {
                let run = try await check(arguments)
                #expect(run.exitCode == status, "\(arguments): \(run.output) \(run.errors)")
            }
        }
    }

    /// A schema in a single file does not name its collection, so the check uses the only collection of the new schema.
    @Test func theActiveSchemaMayBeOneFile() async throws {
        try await withPeople([["_id": 1, "name": "Ada"]]) { database, folder, check in
            try folder.write(Self.old, to: "old.json")
            let run = try await check(["--active", "old.json"])
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(run.output.contains("Not breaking: 2 changes from old.json to v2."), "\(run.output)")
        }
    }

    @Test func aCollectionThatLosesItsSchemaIsNamed() async throws {
        try await withPeople([["_id": 1, "name": "Ada", "age": 36]]) { database, folder, check in
            try await database.fill("pet", [["_id": 1], ["_id": 2]])
            for name in ["pet", "ghost"] { try folder.write(Self.old, to: "v1/\(database.name).\(name).json") }
            let run = try await check(["--active", "v1"])
            #expect(run.exitCode == 1)
            #expect(run.output.hasPrefix("1 collection would stop syncing: the schema is removed.\n"), "\(run.output)")
            #expect(
                run.output.contains("\(database.name).pet: only in v1; none of its about 2 documents syncs any more\n"))
            #expect(run.output.contains("\(database.name).ghost: only in v1; it holds no documents\n"))
            let one = try await check(["--active", "v1", "--collection", "\(database.name).person"])
            #expect(one.exitCode == 0, "\(one.output)")
        }
    }

    @Test func aCollectionThatTheActiveSchemaDoesNotCoverFailsAgain() async throws {
        try await withPeople([["_id": 1, "name": "Ada", "age": 36]]) { database, folder, check in
            try await database.fill("pet", [["_id": 1], ["_id": 2]])
            try folder.write(Self.new, to: "v2/\(database.name).pet.json")
            let run = try await check(["--active", "v1", "--fail-on", "new"])
            #expect(run.exitCode == 1)
            #expect(run.output.contains("\(database.name).pet (not in v1): 2 documents read"))
            #expect(run.output.hasPrefix("2 documents would stop syncing.\n"))
        }
    }
}
