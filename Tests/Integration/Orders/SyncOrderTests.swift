import BSON
import SystemPackage
import TestSupport
import Testing

/// Executes the orders of work for a change of an App Services schema, with a small sync service between two steps.
///
/// The service is written from the sync engine's documentation alone (`docs/reference/semantics.md`, sections 5 to 7):
/// a document that does not fit the server's schema does not reach any client, and a required property that an older
/// client does not upload gets its type's zero value.
@Suite struct SyncOrderTests {
    private struct Service {
        let database: TestDatabase
        /// The properties of the server's schema, all of them required ints.
        var properties: [String]
        private var next = 100

        init(_ database: TestDatabase, _ properties: [String]) {
            (self.database, self.properties) = (database, properties)
        }

        /// Stores what a client with the given properties uploads.
        mutating func upload(_ own: [String]) async throws {
            let fields = properties.map { ($0, own.contains($0) ? BSONValue.int(7) : .int(0)) }
            try await insert(fields)
        }

        /// Inserts a document as a program does that does not sync.
        mutating func insert(_ fields: [(String, BSONValue)]) async throws {
            try await database.fill("Row", [BSONDocument([("_id", .int(Int32(next)))] + fields)])
            next += 1
        }

        /// The number of documents that do not reach the clients.
        var unsynced: Int {
            get async throws {
                try await database.documents("Row").count { document in
                    !properties.allSatisfy { if case .int? = document[$0] { true } else { false } }
                }
            }
        }
    }

    private static func schema(_ properties: [String]) -> String {
        let fields = properties.map { #""\#($0)": {"bsonType": "int"}"# }.joined(separator: ", ")
        let names = (["_id"] + properties).map { "\"\($0)\"" }.joined(separator: ", ")
        return #"{"title": "Row", "bsonType": "object", "required": [\#(names)], "#
            + #""properties": {"_id": {"bsonType": "int"}"# + (fields.isEmpty ? "" : ", \(fields)") + "}}"
    }

    private func with(
        _ old: [String], _ new: [String], _ renames: String = "",
        _ body: (BackfillCase, (String...) async throws -> ProgramRun) async throws -> Void
    ) async throws {
        try await Mongod.shared.withBackfill { test in
            try test.write("old.json", Self.schema(old))
            try test.write("new.json", Self.schema(new))
            let place = "\(test.database.name).Row"
            try test.write(
                "shipshape.yml", "ledger: none\n" + (renames.isEmpty ? "" : "renames: [\(place).\(renames)]\n"))
            try await body(test) { words in
                try await Program.run(
                    words + (words[0] == "plan" ? ["--collection", place] : [])
                        + ["--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)"], in: test.folder)
            }
        }
    }

    /// The order `sync-fill`: a job before the deploy and again after it.
    @Test func whatClientsUploadSyncsThroughout() async throws {
        try await with(["a"], ["a", "b"]) { test, run in
            var service = Service(test.database, ["a"])
            for _ in 0..<5 { try await service.upload(["a"]) }
            let plan = try await run("plan", "old.json", "new.json", "--out", "jobs")
            #expect(plan.exitCode == 0, "\(plan.output)\(plan.errors)")
            let filled = try await run("backfill", "jobs", "--yes", "--reviewed")
            #expect(filled.exitCode == 0, "\(filled.errors)")
            #expect(try await service.unsynced == 0)

            service.properties = ["a", "b"]
            #expect(try await service.unsynced == 0)
            try await service.upload(["a"])
            try await service.upload(["a", "b"])
            #expect(try await service.unsynced == 0)
            // A program that does not sync is the one case that the order names.
            try await service.insert([("a", .int(1))])
            #expect(try await service.unsynced == 1)
            let deployed = try await run("job", "deployed", "jobs/\(test.database.name).Row.yml", "--yes")
            #expect(deployed.exitCode == 0, "\(deployed.errors)")
            let again = try await run("backfill", "jobs", "--yes", "--reviewed")
            #expect(again.exitCode == 0, "\(again.errors)")
            #expect(try await service.unsynced == 0)
        }
    }

    /// The order `sync-terminate`: the job before the deploy keeps every document syncing, and the plan says that every
    /// client starts from scratch.
    @Test func beforeABreakingChangeEveryDocumentStillSyncs() async throws {
        try await with(["a"], ["c"], "a=c") { test, run in
            var service = Service(test.database, ["a"])
            for _ in 0..<5 { try await service.upload(["a"]) }
            let plan = try await run("plan", "old.json", "new.json", "--out", "jobs")
            #expect(plan.output.contains("with sync terminated"), "\(plan.output)")
            let copied = try await run("backfill", "jobs", "--yes", "--reviewed")
            #expect(copied.exitCode == 0, "\(copied.output)\(copied.errors)")
            #expect(try await service.unsynced == 0)
            service.properties = ["c"]
            #expect(try await service.unsynced == 0)
        }
    }
}
