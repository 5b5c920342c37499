import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// The fixture of a test of `shipshape plan`: two versions of a schema, documents, and a folder for the jobs.
///
/// Most tests take the schemas and documents from a folder in ``fixtures``.
struct PlanCase: Sendable {
    let backfill: BackfillCase
    let name: String

    var database: TestDatabase { backfill.database }
    var folder: FilePath { backfill.folder }
    var old: String { folder.appending("old").string }
    var new: String { folder.appending("new").string }
    var jobs: FilePath { folder.appending("jobs") }
    var lateJobs: FilePath { jobs.appending("after-deploy") }

    /// The flags of `plan` that the fixture's file `flags` lists, one for each line; empty if there is no such file.
    private var stated: [String] {
        let path = Self.fixtures.appending(name).appending("flags").string
        let text = ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").replacing(
            "DATABASE", with: database.name)
        return text.split(separator: "\n").map(String.init)
    }

    /// The folder of all fixtures.
    ///
    /// Each has an older schema, a newer schema, and documents.
    static var fixtures: FilePath { Repository.path("Tests/PlanningTests/Fixtures") }

    /// The names of all fixtures, sorted.
    static var pairs: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: fixtures.string)) ?? []).sorted()
    }

    /// Runs a test with a fixture.
    ///
    /// The documents are in the test's database, and the schemas name that database.
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
                try write(
                    text.replacing("DATABASE", with: database.name), to: "\(version)/\(database.name)/\(path)")
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

    /// Writes a file into the test's folder.
    func write(_ text: String, to name: String) throws {
        let file = folder.pushing(FilePath(name))
        try FileManager.default.createDirectory(
            atPath: file.removingLastComponent().string, withIntermediateDirectories: true)
        try text.write(toFile: file.string, atomically: true, encoding: .utf8)
    }

    /// Copies the older and the newer schemas of the demo app, with the test's database in place of `app`.
    func copyDemo() throws {
        for (version, name) in [("v1", "old"), ("v2", "new")] {
            let from = DemoApp.folder.appending(version)
            for path in try FileManager.default.subpathsOfDirectory(atPath: from.string) where path.hasSuffix(".json") {
                let text = try String(contentsOfFile: from.appending(path).string, encoding: .utf8)
                try write(
                    text.replacing("mongodb-atlas/app/", with: "mongodb-atlas/\(database.name)/"),
                    to: "\(name)/\(path.replacing("mongodb-atlas/app/", with: "mongodb-atlas/\(database.name)/"))")
            }
        }
    }

    /// Returns the documents that certainly fail a version of the schema, each with its line of the failures file.
    ///
    /// The key is the collection and the `_id`, separated by a space. Empty if every document fits.
    func failing(_ version: String) async throws -> [String: String] {
        let file = folder.appending("failures.jsonl").string
        let run = try await Program.run([
            "check", version, "--uri", backfill.uri, "SHIPSHAPE_LEDGER=none", "SHIPSHAPE_THREADS=1", "--failures", file,
        ])
        #expect(run.exitCode == 0 || run.exitCode == 1, "\(run.errors)")
        var failing: [String: String] = [:]
        for line in try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n") {
            let record = try BSONDocument(extendedJSON: String(line))
            guard record["verdict"] == "certain", let id = record["_id"] else { continue }
            failing["\(record["collection"]?.text ?? "") \(id)"] = String(line)
        }
        return failing
    }

    /// Runs `shipshape plan` from the older version to the newer one.
    ///
    /// - Parameter folder: the folder for the jobs; `nil` uses ``jobs``.
    func plan(_ flags: String..., to folder: FilePath? = nil) async throws -> ProgramRun {
        try await Program.run(
            ["plan", old, new, "--out", (folder ?? jobs).string] + stated + flags)
    }

    /// Runs the jobs of a folder, in the order of their names.
    ///
    /// - Returns: the run of each job.
    @discardableResult
    func run(_ folder: FilePath, _ flags: String...) async throws -> [ProgramRun] {
        var runs: [ProgramRun] = []
        for file in Self.files(in: folder) {
            runs.append(
                try await Program.run(
                    [
                        "backfill", folder.appending(file).string, "--yes", "--reviewed", "--uri", backfill.uri,
                        "SHIPSHAPE_LEDGER=none",
                        "SHIPSHAPE_STATE_DATABASE=\(backfill.state.name)", "SHIPSHAPE_LEASE_TTL=20s",
                    ] + flags))
        }
        return runs
    }

    /// Runs `shipshape check` with the newer schema, and the older one as the active schema.
    func check(_ flags: String...) async throws -> ProgramRun {
        try await Program.run(
            [
                "check", new, "--active", old, "--uri", backfill.uri, "SHIPSHAPE_LEDGER=none", "SHIPSHAPE_THREADS=1",
            ] + flags)
    }

    /// Returns the names of the job files in a folder, sorted.
    static func files(in folder: FilePath) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.string)) ?? []).filter { $0.hasSuffix(".yml") }
            .sorted()
    }

    /// Returns the texts of all job files below a folder, by their paths in it.
    static func texts(below folder: FilePath) throws -> [String: String] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.string).filter { $0.hasSuffix(".yml") }
        return try Dictionary(
            uniqueKeysWithValues: paths.map {
                ($0, try String(contentsOfFile: folder.appending($0).string, encoding: .utf8))
            })
    }
}
