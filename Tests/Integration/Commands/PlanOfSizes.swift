import BSON
import Foundation
import SystemPackage
import TestSupport

/// Collections with a validator that requires an int `age`, and one of three texts as `size` and in the list `tags`.
struct PlanOfSizes {
    let backfill: BackfillCase
    let schema: String
    let jobs: FilePath

    private static let validator = """
        {"$jsonSchema": {"bsonType": "object", "required": ["_id", "age"], "properties": {
         "age": {"bsonType": "int"}, "size": {"enum": ["S", "M", "L"]},
         "tags": {"bsonType": "array", "items": {"enum": ["S", "M", "L"]}}}}}
        """

    /// Fills the collections with documents, and runs a test.
    static func with(
        _ documents: [String: [BSONDocument]], _ body: (PlanOfSizes) async throws -> Void
    ) async throws {
        try await Mongod.shared.withBackfill { backfill in
            let schema = backfill.folder.appending("schema")
            try FileManager.default.createDirectory(atPath: schema.string, withIntermediateDirectories: true)
            for (name, documents) in documents {
                let path = schema.appending("\(backfill.database.name).\(name).json").string
                try Self.validator.write(toFile: path, atomically: true, encoding: .utf8)
                try await backfill.database.fill(name, documents)
            }
            let jobs = backfill.folder.appending("jobs")
            try await body(PlanOfSizes(backfill: backfill, schema: schema.string, jobs: jobs))
        }
    }

    func plan(_ flags: String...) async throws -> ProgramRun {
        try await Program.run(["plan", schema, "--out", jobs.string, "--force", "--uri", backfill.uri] + flags)
    }

    /// Runs the only planned job.
    func run() async throws -> ProgramRun {
        try await Program.run(
            ["backfill"] + PlanCase.files(in: jobs).map { jobs.appending($0).string } + [
                "--yes", "--reviewed", "--uri", backfill.uri, "SHIPSHAPE_LEDGER=none",
                "SHIPSHAPE_STATE_DATABASE=\(backfill.state.name)",
            ])
    }
}
