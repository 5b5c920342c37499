import BSON
import TestSupport
import Testing

/// Tests `check --databases`, which checks one schema in many databases with the same collections.
@Suite struct CheckDatabasesTests {
    /// Runs `body` with a pattern for the names of three databases.
    ///
    /// The second database has a document that does not fit, and the third lacks the collection.
    private func withTenants(
        _ body: (_ pattern: String, (@escaping ([String]) async throws -> ProgramRun)) async throws -> Void
    ) async throws {
        let mongod = try await Mongod.shared
        let prefix = "tenant_\(UInt32.random(in: 0 ... .max))"
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(CheckVerdictCase.schema("Pet", ["name!": "string"]), to: "v1/app.Pet.json")
        try await mongod.withDatabase(prefix) { first in
            try await mongod.withDatabase(prefix) { second in
                try await mongod.withDatabase(prefix) { third in
                    try await first.fill("Pet", [["_id": 1, "name": "Rex"]])
                    try await second.fill("Pet", [["_id": 1, "name": "Rex"], ["_id": 2, "name": 5]])
                    try await third.fill("Other", [["_id": 1]])
                    let uri = mongod.uri
                    try await body("\(prefix)_*") { more in
                        try await Program.run(
                            ["check", "v1", "--uri", uri, "SHIPSHAPE_LEDGER=none"] + more, in: folder.path)
                    }
                }
            }
        }
    }

    @Test func eachDatabaseHasARowAndAVerdict() async throws {
        try await withTenants { pattern, check in
            let run = try await check(["--databases", pattern, "-o", "json"])
            #expect(run.exitCode == 1, "\(run.errors)")
            let databases = try JSONValue(run.output)["databases"]?.elements ?? []
            #expect(databases.map { $0["fails"] }.filter { $0 == .bool(true) }.count == 1)
            let read = databases.map { $0["report"]?["collections"]?.elements.first?["documents_read"] }
            #expect(Set(read) == [.number(1), .number(2), nil])
            let text = try await check(["--databases", pattern])
            #expect(text.output.hasPrefix("1 of 3 databases fails the check.\n"), "\(text.output)")
            #expect(text.output.contains("type-mismatch"))
            #expect(text.output.split(separator: "\n").contains { $0.hasSuffix("empty") })
        }
    }

    @Test func flagsForOneDatabaseAreRefused() async throws {
        try await withTenants { pattern, check in
            for flags in [["--part", "1/2"], ["--map", "app=other"], ["--failures", "f.jsonl"]] {
                let run = try await check(["--databases", pattern] + flags)
                #expect(run.exitCode == 64, "\(flags)")
                #expect(run.errors.contains("--databases excludes \(flags[0])"))
            }
            let none = try await check(["--databases", "no-such-*"])
            #expect(none.exitCode == 65)
            #expect(none.errors.contains("no database that the user may see matches no-such-*: check --databases"))
        }
    }
}
