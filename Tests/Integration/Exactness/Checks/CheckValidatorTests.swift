import BSON
import TestSupport
import Testing

/// Tests `check` with MongoDB validators as schemas, as a user runs it.
@Suite struct CheckValidatorTests {
    private static let validator = #"""
        { "$jsonSchema": { "required": ["name"], "properties": { "name": { "bsonType": "string" } } } }
        """#
    private static let person = #"{ "bsonType": "object", "properties": { "name": { "bsonType": "string" } } }"#

    private func withPeople(
        _ body: (TestDatabase, CommandLineFolder, (@escaping ([String]) async throws -> ProgramRun)) async throws ->
            Void
    ) async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill(
                "person", [["_id": "secret-id", "name": 5], ["_id": 2, "name": "Ada"], ["_id": 3]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            try folder.write(Self.validator, to: "v1/\(database.name).person.json")
            try folder.write(Self.validator, to: "v2/\(database.name).person.json")
            try folder.write(Self.person, to: "app/\(database.name).person.json")
            let uri = mongod.uri
            try await body(database, folder) { try await Program.run($0 + ["--uri", uri], in: folder.path) }
        }
    }

    @Test func nothingIsSaidOfSync() async throws {
        try await withPeople { database, folder, run in
            try await database.fill("pet", [["_id": 1]])
            try folder.write(Self.validator, to: "v1/\(database.name).pet.json")
            let check = try await run(["check", "v2", "--active", "v1", "--report", "report.json"])
            #expect(check.exitCode == 0, "\(check.output) \(check.errors)")
            #expect(check.output.hasPrefix("Safe to deploy: no document newly fails, 2 fail already.\n"))
            #expect(check.output.contains("\(database.name).pet: only in v1; not checked"))
            #expect(!check.output.contains("sync"), "\(check.output)")
            let report = try BSONDocument(extendedJSON: try #require(folder.text(of: "report.json")))
            #expect(report["verdict"]?.document?["band"] == "safe")
            let all = try await run(["check", "v2", "--failures", "failures.jsonl"])
            #expect(all.exitCode == 1)
            let last = try #require(folder.text(of: "failures.jsonl")?.split(separator: "\n").last)
            let result = try BSONDocument(extendedJSON: String(last))
            #expect(result["band"] == "documents_do_not_fit")
            #expect(result["dialect"] == "jsonschema")
        }
    }

    @Test func theServerHoldsBackWhatFits() async throws {
        try await withPeople { database, _, run in
            let check = try await run(["check", "v2", "SHIPSHAPE_PREFILTER=true"])
            #expect(check.exitCode == 1)
            #expect(check.output.hasPrefix("2 documents do not fit.\n"), "\(check.output)")
            #expect(check.output.contains("About 1 document was not read: the prefilter proves that it fits."))
        }
    }

    @Test func findingsCanBeExcepted() async throws {
        try await withPeople { database, folder, run in
            try folder.write(
                ["type-mismatch", "required-missing"].map { rule in
                    """
                    - { collection: \(database.name).person, path: name, rule: \(rule), reason: old, owner: ops }

                    """
                }.joined(), to: "accepted.yml")
            let check = try await run(["check", "v2", "SHIPSHAPE_EXCEPTIONS=accepted.yml"])
            #expect(check.exitCode == 0, "\(check.output) \(check.errors)")
            #expect(check.output.contains("excepted: old (ops, accepted.yml:1"), "\(check.output)")
        }
    }

    @Test func flagsOfAppsAreNamedAsIdle() async throws {
        try await withPeople { _, _, run in
            let check = try await run(["check", "v2", "--info", "--follow-links"])
            #expect(
                check.output.contains(
                    "Note: --info, --follow-links have no effect: the schema is a MongoDB validator\n"))
        }
    }

    @Test func schemasOfTwoKindsAreNotCompared() async throws {
        try await withPeople { database, _, run in
            let check = try await run(["check", "app", "--active", "v1"])
            #expect(check.exitCode == 64)
            #expect(check.errors.contains("--active v1 is a MongoDB validator, but SCHEMA is an App Services"))
        }
    }

    @Test func unsyncedTakesLiveValidators() async throws {
        try await withPeople { database, _, run in
            let ledger = ["SHIPSHAPE_LEDGER=\(database.name).ledger", "--collection", "\(database.name).person"]
            try await database.fill(
                "ledger",
                [
                    [
                        "_id": 1, "appId": "a", "documentId": 3, "reason": "invalid schema",
                        "ns": ["db": .string(database.name), "coll": "person"],
                    ]
                ])
            let without = try await run(["ledger", "show", "live"] + ledger)
            #expect(without.exitCode == 65)
            #expect(without.errors.contains("has no validator with a $jsonSchema"), "\(without.errors)")
            try await database.run([
                "collMod": "person", "validator": .object(try BSONDocument(extendedJSON: Self.validator)),
            ])
            let explained = try await run(["ledger", "show", "live"] + ledger)
            #expect(explained.exitCode == 1)
            #expect(explained.output.contains("1 still fail, 0 might fail"), "\(explained.output) \(explained.errors)")
        }
    }

    @Test func aLedgerEntryOfAnUncoveredCollectionIsAFinding() async throws {
        try await withPeople { database, folder, run in
            try await database.fill(
                "ledger",
                [
                    [
                        "_id": 1, "appId": "a", "documentId": 3, "reason": "invalid schema",
                        "ns": ["db": .string(database.name), "coll": "elsewhere"],
                    ]
                ])
            let ledger = ["SHIPSHAPE_LEDGER=\(database.name).ledger"]
            let whole = try await run(["ledger", "show", "app"] + ledger)
            #expect(whole.exitCode == 1)
            #expect(whole.output.contains("; 1 not checked, because the schema does not cover them.\n"))
            let one = try await run(["ledger", "show", "app", "--collection", "\(database.name).person"] + ledger)
            #expect(one.exitCode == 0, "\(one.output)")
        }
    }
}
