import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// What a test of `shipshape plan` has for itself: two versions of a schema, documents, and a folder for the jobs.
struct PlanCase: Sendable {
    let backfill: BackfillCase
    let name: String

    var database: TestDatabase { backfill.database }
    var folder: FilePath { backfill.folder }
    var old: String { folder.appending("old").string }
    var new: String { folder.appending("new").string }
    var jobs: FilePath { folder.appending("jobs") }
    var lateJobs: FilePath { jobs.appending("after-deploy") }

    /// The pairs of schemas with their documents.
    static var fixtures: FilePath {
        FilePath(#filePath).removingLastComponent().removingLastComponent().appending("PlanningTests/Fixtures")
    }

    /// The names of all pairs.
    static var pairs: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: fixtures.string)) ?? []).sorted()
    }

    /// Runs a test over a pair: its schemas are those of the test's database, which holds its documents.
    static func with<R>(_ name: String, _ body: (PlanCase) async throws -> R) async throws -> R {
        try await Mongod.shared.withBackfill { backfill in
            let plan = PlanCase(backfill: backfill, name: name)
            try plan.copySchemas()
            try await plan.fill()
            return try await body(plan)
        }
    }

    private func copySchemas() throws {
        let root = Self.fixtures.appending(name)
        for version in ["old", "new"] {
            let from = root.appending(version)
            for path in try FileManager.default.subpathsOfDirectory(atPath: from.string) where path.hasSuffix(".json") {
                let text = try String(contentsOfFile: from.appending(path).string, encoding: .utf8)
                let target = folder.appending(version).appending(database.name).pushing(FilePath(path))
                try FileManager.default.createDirectory(
                    atPath: target.removingLastComponent().string, withIntermediateDirectories: true)
                let own = text.replacingOccurrences(of: "DATABASE", with: database.name)
                try own.write(toFile: target.string, atomically: true, encoding: .utf8)
            }
        }
    }

    private func fill() async throws {
        let documents = Self.fixtures.appending(name).appending("documents")
        for file in try FileManager.default.contentsOfDirectory(atPath: documents.string) {
            let text = try String(contentsOfFile: documents.appending(file).string, encoding: .utf8)
            let lines = text.split(separator: "\n").map(String.init)
            try await database.fill(
                String(file.dropLast(".jsonl".count)), try lines.map { try BSONDocument(extendedJSON: $0) })
        }
    }

    /// Runs `shipshape plan` over both versions.
    func plan(_ flags: String..., to folder: FilePath? = nil) async throws -> ProgramRun {
        try await Program.run(["plan", old, new, "--out", (folder ?? jobs).string] + flags)
    }

    /// Runs the jobs of a folder, in the order of their names.
    /// - Returns: the runs.
    @discardableResult
    func run(_ folder: FilePath) async throws -> [ProgramRun] {
        var runs: [ProgramRun] = []
        for file in Self.files(in: folder) {
            runs.append(
                try await Program.run([
                    "backfill", folder.appending(file).string, "--yes", "--uri", backfill.uri, "--ledger", "none",
                    "--state-database", backfill.state.name, "--lease-ttl", "20s",
                ]))
        }
        return runs
    }

    /// Checks the documents by the newer schema beside the older.
    func check(_ flags: String...) async throws -> ProgramRun {
        try await Program.run(
            [
                "check", new, "--active", old, "--uri", backfill.uri, "--ledger", "none", "--threads", "1",
            ] + flags)
    }

    /// The job files of a folder.
    static func files(in folder: FilePath) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.string)) ?? []).filter { $0.hasSuffix(".yml") }
            .sorted()
    }

    /// The texts of all files below a folder, by their paths.
    static func texts(below folder: FilePath) throws -> [String: String] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.string).filter { $0.hasSuffix(".yml") }
        return try Dictionary(
            uniqueKeysWithValues: paths.map {
                ($0, try String(contentsOfFile: folder.appending($0).string, encoding: .utf8))
            })
    }
}
