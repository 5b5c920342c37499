import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// The fixture of a test of `shipshape ledger follow`: a database of people, a state database, and a folder.
struct WatchCase: Sendable {
    let mongod: Mongod
    let database: TestDatabase
    let state: TestDatabase
    let folder: CommandLineFolder

    /// Returns the arguments of `ledger follow` for the collection `person`.
    func arguments(_ flags: [String] = [], schema: String = CommandLineFolder.person) throws -> [String] {
        let file = try folder.write(schema, to: "person.json")
        return ["ledger", "follow", file, "--collection", "\(database.name).person", "--uri", uri]
            + ["SHIPSHAPE_STATE_DATABASE=\(state.name)", "SHIPSHAPE_LEASE_TTL=60s"] + flags
    }

    /// The connection string for the program, with an application name by which a test recognizes its commands.
    var uri: String { mongod.uri(appName: appName) }
    var appName: String { "\(database.name)_watch" }

    /// Runs `ledger follow --once`, which ends when the ledger has caught up.
    @discardableResult
    func once(_ flags: String..., schema: String = CommandLineFolder.person) async throws -> ProgramRun {
        try await Program.run(try arguments(["--once"] + flags, schema: schema))
    }

    /// Runs a watch while `body` runs, and then stops the watch with a signal, as an operator does.
    func watching(
        _ flags: String..., fault: String? = nil, _ body: (LiveProgram) async throws -> Void
    ) async throws -> ProgramRun {
        try await Program.run(try arguments(flags), fault: fault) { program in
            try await body(program)
            program.send(SIGTERM)
        }
    }

    /// Returns the entries of the ledger.
    func entries() async throws -> [BSONDocument] { try await state.documents("unsynced_documents") }

    /// Returns the `_id`s of the documents that the ledger records.
    func recorded() async throws -> Set<IDKey> {
        Set(try await entries().compactMap { $0["documentId"].map { IDKey($0) } })
    }

    /// Returns the `_id`s of the documents that fail in a full check.
    func failing() async throws -> Set<IDKey> {
        let failures = folder.path.appending("failures-\(UInt32.random(in: 0 ... .max)).jsonl").string
        let run = try await Program.run(
            try folder.check(database, on: mongod) + ["--failures", failures, "--quiet"])
        try #require([0, 1].contains(run.exitCode), "\(run.errors)")
        let lines = try String(contentsOfFile: failures, encoding: .utf8).split(separator: "\n")
        let documents = try lines.map { try BSONValue(extendedJSON: String($0)).document ?? [:] }
        return Set(documents.filter { $0["verdict"]?.text == "certain" }.compactMap { $0["_id"].map { IDKey($0) } })
    }

    /// Ends the lease of a watch that was killed.
    func endLease() async throws {
        try await state.run([
            "update": "streams",
            "updates": [["q": [:], "u": ["$set": ["lease.end": .date(milliseconds: 0)]], "multi": true]],
        ])
    }

    /// Waits until the ledger records these documents and no others.
    func waitUntilRecorded(_ ids: Set<IDKey>) async throws {
        try await waitUntil("the ledger records \(ids.count) documents") { try await recorded() == ids }
    }
}

extension Mongod {
    /// Runs a test of `shipshape ledger follow`, and then removes its databases and its folder.
    func withWatch(_ body: (WatchCase) async throws -> Void) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try await withDatabase { database in
            try await withDatabase { state in
                try await body(WatchCase(mongod: self, database: database, state: state, folder: folder))
            }
        }
    }
}

extension TestDatabase {
    /// Updates one document of a collection.
    func update(_ collection: String, _ filter: BSONDocument, _ update: BSONValue) async throws {
        try await run([
            "update": .string(collection), "updates": [["q": .object(filter), "u": update, "multi": false]],
        ])
    }

    /// Deletes the documents that match a filter.
    func delete(_ collection: String, _ filter: BSONDocument) async throws {
        try await run(["delete": .string(collection), "deletes": [["q": .object(filter), "limit": 0]]])
    }
}
