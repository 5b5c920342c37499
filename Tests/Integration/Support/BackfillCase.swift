import BSON
import Foundation
import Mongo
import SystemPackage
import TestSupport
import Testing

/// The fixture of a test of `shipshape backfill`: a database, a state database, and a folder of jobs.
struct BackfillCase: Sendable {
    let mongod: Mongod
    let database: TestDatabase
    let state: TestDatabase
    let folder: FilePath

    /// The application name of the program's connections, for ``FailPoint/appName``.
    var appName: String { "\(database.name)_cli" }

    /// The connection string for the program.
    var uri: String { uri(appName: appName) }

    /// Returns the connection string with another application name, which distinguishes a second program from the
    /// first.
    func uri(appName: String) -> String { mongod.uri(appName: appName) }

    /// Waits until the program with this application name has tried to take the lease.
    ///
    /// - Precondition: the profiler of the state database is on.
    func waitForLeaseAttempt(by appName: String) async throws {
        try await waitUntil("\(appName) asks for the lease") {
            try await state.count(
                "system.profile", ["appName": .string(appName), "command.findAndModify": "ranges"]) > 0
        }
    }

    /// Writes a text to a file in the test's folder.
    func write(_ name: String, _ text: String) throws {
        let file = try FileDescriptor.open(
            folder.appending(name), .writeOnly, options: [.create, .truncate], permissions: .ownerReadWrite)
        try file.closeAfter { _ = try file.writeAll(text.utf8) }
    }

    /// Writes a job file for a collection of the database.
    ///
    /// - Parameters:
    ///   - steps: the entries of the list `steps`, as YAML.
    ///   - more: other top-level lines of the job file, such as `schema`.
    func job(
        _ name: String = "job", on collection: String = "people", steps: [String], limits: String? = nil,
        more: String = ""
    ) throws {
        let lines =
            ["job: \(name)", "collection: \(database.name).\(collection)", "steps:"] + steps.map { "  - \($0)" }
            + (limits.map { ["limits: \($0)"] } ?? []) + (more.isEmpty ? [] : [more])
        try write("\(name).yml", lines.joined(separator: "\n") + "\n")
    }

    /// Returns the path of the job file with this name.
    func path(_ job: String = "job") -> String { folder.appending("\(job).yml").string }

    /// Runs `shipshape backfill` without a terminal.
    ///
    /// If the flags do not contain `SHIPSHAPE_LEASE_TTL`, this function sets the duration of the lease, and ends the
    /// lease if the fault kills the program. The duration is usually 60 seconds, because each write must end within a
    /// quarter of it, also on a slow disk. It is 3 seconds if the fault only suspends the program.
    @discardableResult
    func backfill(
        _ job: String = "job", _ flags: String..., uri: String? = nil, yes: Bool = true, fault: String? = nil,
        held: Bool = false, during: (LiveProgram) async throws -> Void = { _ in }
    ) async throws -> ProgramRun {
        try await backfill(job, flags: flags, uri: uri, yes: yes, fault: fault, held: held, during: during)
    }

    /// Runs `shipshape backfill` like ``backfill(_:_:uri:yes:fault:held:during:)``, with a list of flags.
    @discardableResult
    func backfill(
        _ job: String = "job", flags: [String], uri: String? = nil, yes: Bool = true, fault: String? = nil,
        plant: String? = nil, held: Bool = false, during: (LiveProgram) async throws -> Void = { _ in }
    ) async throws -> ProgramRun {
        let given = ["backfill", path(job), "--uri", uri ?? self.uri, "SHIPSHAPE_STATE_DATABASE=\(state.name)"] + flags
        let lease = Self.lease(unlessIn: flags, fault)
        let added = (yes ? ["--yes"] : []) + lease
        let run = try await Program.run(given + added, fault: fault, plant: plant, held: held, during: during)
        if run.wasKilled, !lease.isEmpty { try await endLease(of: job) }
        return run
    }

    /// Returns the setting `SHIPSHAPE_LEASE_TTL` with a duration of 60 seconds; nothing if the flags contain it
    /// already.
    ///
    /// - Parameter fault: the fault of the run; if it suspends the program without killing it, the duration is 3
    ///   seconds.
    static func lease(unlessIn flags: [String], _ fault: String?) -> [String] {
        guard !flags.contains(where: { $0.hasPrefix("SHIPSHAPE_LEASE_TTL=") }) else { return [] }
        let sleeps = fault.map { $0.hasSuffix(":stop") || $0.hasPrefix("before-write") && !$0.hasSuffix(":kill") }
        return [sleeps == true ? "SHIPSHAPE_LEASE_TTL=3s" : "SHIPSHAPE_LEASE_TTL=60s"]
    }

    /// Ends the lease of a killed runner, so that the next runner need not wait.
    func endLease(of job: String) async throws {
        // The transaction of a killed runner locks the record of its lease.
        for record in try await state.documents("sessions") {
            guard let id = record["lsid"]?.document?["id"] else { continue }
            try await state.run(["killSessions": [["id": id]]])
        }
        try await state.run([
            "update": "ranges",
            "updates": [
                [
                    "q": ["_id.job": .string(job), "lease": ["$exists": true]],
                    "u": ["$set": ["lease.end": .date(milliseconds: 0)]],
                ]
            ],
        ])
    }

    /// Returns a job's checkpoint, or `nil` before the job's first start.
    func checkpoint(_ job: String = "job") async throws -> Checkpoint? {
        Checkpoint(try await state.documents("ranges", ["_id.job": .string(job)]))
    }

    /// Waits until no runner holds the job, so that no further write of a killed runner can arrive.
    func waitForLeaseEnd() async throws {
        try await waitUntil("the lease is over") {
            try await state.count("ranges", ["$expr": ["$gt": ["$lease.end", "$$NOW"]]]) == 0
        }
    }

    /// Waits until the job has written at least this many chunks.
    func waitForChunks(_ count: Int, of job: String = "job") async throws {
        try await waitUntil("\(count) chunks are done") {
            try await checkpoint(job).map { $0.chunks >= count } ?? false
        }
    }

    /// Runs a job until it has written two chunks, and then stops it with a signal, as an operator does.
    ///
    /// The program gets the signal before it writes the checkpoint of the second chunk, and the server delays that
    /// write. The program therefore handles the signal before a third chunk could begin.
    func stoppedHalfway(flags: [String] = []) async throws -> ProgramRun {
        let given = ["SHIPSHAPE_LEASE_TTL=60s"] + flags
        return try await backfill("job", flags: given, fault: "after-write:2:stop") { program in
            try await slowly(program) {
                program.send(SIGTERM)
                try await waitForChunks(2)
            }
        }
    }

    /// Runs `body` while the server delays each `update` of the program, so that the run lasts until `body` has acted.
    func slowly<R>(_ body: () async throws -> R) async throws -> R {
        var point = FailPoint("update", appName: appName)
        point.blockTime = .milliseconds(100)
        return try await mongod.failing(point, during: body)
    }

    /// Lets a stopped program continue, and runs `body` while the server delays each `update` of the program.
    ///
    /// Call it in the argument `during` of a run. A server can delay the updates of only one test at a time, so the
    /// program stays stopped until no other test delays its updates. After `body`, the delay ends.
    ///
    /// - Parameter program: a program that was stopped at its start.
    func slowly<R>(_ program: LiveProgram, _ body: () async throws -> R) async throws -> R {
        try await waitUntil("the program is held") { try program.isStopped }
        return try await slowly {
            program.send(SIGCONT)
            return try await body()
        }
    }

    /// Whether the state database exists.
    func hasState() async throws -> Bool {
        let reply = try await mongod.admin(["listDatabases": 1, "nameOnly": true])
        return reply["databases"]?.document?.values.contains { $0.document?["name"]?.text == state.name } ?? false
    }

    /// A job's checkpoint as stored in the state database.
    struct Checkpoint: Sendable {
        let chunks: Int
        let modified: Int
        let pass: Int
        let last: BSONValue?
        let upper: BSONValue?
        let state: String
        let holder: BSONDocument?

        /// Reads the records of the job's threads, of which the first is the job's own; `nil` if it is missing.
        init?(_ records: [BSONDocument]) {
            guard let document = records.first(where: { $0["_id"]?.document?["range"]?.integer == 0 }) else {
                return nil
            }
            chunks = records.reduce(0) { $0 + ($1["chunks"]?.integer ?? 0) }
            modified = records.reduce(0) { $0 + ($1["modified"]?.integer ?? 0) }
            pass = document["pass"]?.integer ?? 0
            last = document["last"]?.document?["v"]
            upper = document["upper"]?.document?["v"]
            state = document["state"]?.text ?? ""
            holder = document["lease"]?.document
        }

        /// Whether the pass has written its first chunk and has not ended.
        var isInside: Bool { last != nil && upper != nil }
    }
}

extension Mongod {
    /// Returns the connection string with this application name, by which fail points and the profiler find the client.
    func uri(appName: String) -> String {
        uri + (uri.contains("?") ? "&" : uri.dropFirst(10).contains("/") ? "?" : "/?") + "appName=\(appName)"
    }

    /// Runs a test of `shipshape backfill`, and then removes its databases and its folder.
    func withBackfill<R>(_ body: (BackfillCase) async throws -> R) async throws -> R {
        let path = "/tmp/shipshape-jobs-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let folder = FilePath(path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await withDatabase { database in
            try await withDatabase { state in
                try await body(BackfillCase(mongod: self, database: database, state: state, folder: folder))
            }
        }
    }
}

extension BackfillCase {
    /// Returns the report of a run, from the JSON on standard output.
    func report(_ run: ProgramRun) throws -> BSONDocument {
        try #require(run.output != "", "\(run.errors)")
        return try #require(try BSONValue(extendedJSON: run.output).document, "\(run.errors)")
    }
}
