import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// A test of Prisma schemas: two versions of a schema, documents of the older one, and a folder for the jobs.
struct PrismaCase: Sendable {
    let backfill: BackfillCase
    let name: String

    static var fixtures: FilePath { Repository.path("Tests/Integration/Prisma/Fixtures") }

    /// The names of all fixtures, sorted.
    static var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: fixtures.string)) ?? []).sorted()
    }

    private var root: FilePath { Self.fixtures.appending(name) }
    var old: String { root.appending("old").string }
    var new: String { root.appending("new").string }
    var jobs: FilePath { backfill.folder.appending("jobs") }

    /// Inserts the documents of a fixture into an empty database, and then runs a test with them.
    static func with<R>(_ name: String, _ body: (PrismaCase) async throws -> R) async throws -> R {
        try await Mongod.shared.withBackfill { backfill in
            let prisma = PrismaCase(backfill: backfill, name: name)
            let documents = prisma.root.appending("documents")
            for file in try FileManager.default.contentsOfDirectory(atPath: documents.string) {
                let text = try String(contentsOfFile: documents.appending(file).string, encoding: .utf8)
                try await backfill.database.fill(
                    String(file.dropLast(".jsonl".count)),
                    try text.split(separator: "\n").map { try BSONDocument(extendedJSON: String($0)) })
            }
            return try await body(prisma)
        }
    }

    /// Runs a command with the connection and the database of the test.
    func run(_ arguments: String...) async throws -> ProgramRun { try await run(arguments) }

    func run(_ arguments: [String]) async throws -> ProgramRun {
        try await Program.run(arguments + ["--uri", backfill.uri, "SHIPSHAPE_DATABASE=\(backfill.database.name)"])
    }

    /// Plans the jobs from the older schema to the newer one, with the flags in the fixture's file `flags`.
    func plan() async throws -> ProgramRun {
        let flags = try String(contentsOfFile: root.appending("flags").string, encoding: .utf8)
        return try await run(
            ["plan", old, new, "--out", jobs.string]
                + flags.split(separator: "\n").map(String.init))
    }

    /// Runs all jobs of a folder.
    func runJobs(_ folder: FilePath, _ flags: String...) async throws {
        for file in PlanCase.files(in: folder) {
            let run = try await Program.run(
                [
                    "backfill", folder.appending(file).string, "--yes", "--reviewed", "--uri", backfill.uri,
                    "SHIPSHAPE_STATE_DATABASE=\(backfill.state.name)", "SHIPSHAPE_LEASE_TTL=20s",
                ] + flags)
            // A job that runs before the newer schema is deployed ends with 1 if its collection still has documents
            // that the newer schema cannot read. The jobs that run after the deployment repair these documents.
            #expect([0, 1].contains(run.exitCode), "\(file): \(run.output)\(run.errors)")
            #expect(!run.output.contains("sync"), "\(run.output)")
        }
    }
}
