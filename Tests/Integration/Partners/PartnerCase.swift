import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// The fixture of a test of `shipshape partner`: a database of tasks, a state database, and a folder.
struct PartnerCase: Sendable {
    let mongod: Mongod
    let database: TestDatabase
    let state: TestDatabase
    let folder: CommandLineFolder

    /// The connection string for the program, with an application name by which a test recognizes its commands.
    var uri: String { mongod.uri(appName: appName) }
    var appName: String { "\(database.name)_partner" }

    /// The example of the documentation: it changes the type of `_id`, renames a field, and changes the types of
    /// other fields.
    static let documented = """
        id: {from: objectId, to: string}
        forward:
          - rename: {from: title, to: name}
          - convert: {field: priority, to: string}
          - convert: {field: parent, to: string}
        reverse:
          - rename: {from: name, to: title}
          - convert: {field: priority, to: int}
          - convert: {field: parent, to: objectId}
        only: {source: [legacy], target: [note]}
        """

    /// Writes the job file: the names of the partner and its collections, and then the given lines.
    @discardableResult
    func job(_ body: String = documented) throws -> String {
        try folder.write(
            """
            partner: tasks
            source: \(database.name).Task
            target: \(database.name).TaskV2
            \(body)

            """, to: "tasks.yml")
    }

    /// Runs `partner COMMAND`, or `status`, with the job file that was written last.
    func run(
        _ command: String, _ flags: String..., uri: String? = nil, fault: String? = nil,
        during: (LiveProgram) async throws -> Void = { _ in }
    ) async throws -> ProgramRun {
        try await run(command, flags: flags, uri: uri, fault: fault, during: during)
    }

    /// Runs `partner COMMAND` like ``run(_:_:uri:fault:during:)``, with a list of flags.
    func run(
        _ command: String, flags: [String], uri: String? = nil, fault: String? = nil,
        during: (LiveProgram) async throws -> Void = { _ in }
    ) async throws -> ProgramRun {
        let isLeased = ["init", "mirror"].contains(command) && !flags.contains { $0.hasPrefix("SHIPSHAPE_LEASE_TTL=") }
        let arguments =
            (command == "status" ? [command] : ["partner", command])
            + [folder.path.appending("tasks.yml").string, "--uri", uri ?? self.uri]
            + ["SHIPSHAPE_STATE_DATABASE=\(state.name)"] + (isLeased ? ["SHIPSHAPE_LEASE_TTL=60s"] : [])
            + (command == "init" && !flags.contains("--dry-run") ? ["--yes"] : [])
        return try await Program.run(arguments + flags, fault: fault, during: during)
    }

    /// Returns the `_id` of a task in the original collection, by the task's number.
    static func id(_ number: Int) -> ObjectID { ObjectID(high: 0x6400_0000_0000_0000 + UInt64(number), low: 7) }

    /// Returns a task's document for the original collection, by the task's number; each task is a little different.
    static func task(_ number: Int) -> BSONDocument {
        var builder = BSONBuilder()
        builder.append("_id", .objectID(id(number)))
        builder.append("title", .string("task \(number)"))
        if number % 3 != 0 { builder.append("priority", .int(Int32(number % 5))) }
        if number % 4 == 0 { builder.append("parent", .objectID(id(number / 4))) }
        if number % 6 == 0 { builder.append("legacy", .string("old \(number)")) }
        builder.append("tags", ["a", .integer(number)])
        return builder.finish()
    }

    /// Returns a filter for a task's document in the original collection, by its `_id`.
    static func source(_ number: Int) -> BSONDocument { ["_id": .objectID(id(number))] }
    /// Returns a filter for a task's document in the partner collection, by its `_id`.
    static func target(_ number: Int) -> BSONDocument { ["_id": .string("\(id(number))")] }

    /// The lines of a job file that rename `title` to `name` in the partner, and back in the original.
    static let renaming = """
        forward: [{rename: {from: title, to: name}}]
        reverse: [{rename: {from: name, to: title}}]
        """

    /// Inserts this many tasks into the original collection.
    func load(_ count: Int) async throws { try await database.fill("Task", count: count, Self.task) }

    /// Returns the partner's documents in the order of their `_id`s.
    func partners() async throws -> [BSONDocument] { try await database.documents("TaskV2") }

    /// Ends the lease of a killed runner, so that the next runner need not wait.
    func endLease() async throws {
        try await state.endDeadTransactions()
        try await state.run([
            "update": "streams",
            "updates": [["q": [:], "u": ["$set": ["lease.end": .date(milliseconds: 0)]], "multi": true]],
        ])
    }

    /// Runs a mirror until all changes so far are carried over, and returns its report.
    func mirrored() async throws -> BSONDocument {
        let run = try await run("mirror", "--once", "-o", "json")
        #expect(run.exitCode == 0, "\(run.errors)")
        return try #require(try BSONValue(extendedJSON: run.output).document, "\(run.errors)")
    }

    /// Returns the lag of the running mirror in seconds, or `nil` if none runs or it has recorded nothing yet.
    func lagSeconds() async throws -> Int? {
        let run = try await run("status", "-o", "json")
        let status = try #require(try BSONValue(extendedJSON: run.output).document, "\(run.errors)")
        return status["at_work"] == true ? status["behind_seconds"]?.integer : nil
    }

    /// Compares the original with the partner by `partner verify`, and returns the report.
    func differences(_ flags: String...) async throws -> BSONDocument {
        let run = try await Program.run(
            [
                "partner", "verify", folder.path.appending("tasks.yml").string, "--uri", uri,
                "SHIPSHAPE_STATE_DATABASE=\(state.name)", "-o", "json",
            ] + flags)
        try #require([0, 1].contains(run.exitCode), "\(run.errors)")
        return try #require(try BSONValue(extendedJSON: run.output).document)
    }
}

extension TestDatabase {
    /// Ends the transactions of killed mirrors, which would otherwise lock the lease's document for a minute.
    func endDeadTransactions() async throws {
        for record in try await documents("streams") {
            let sessions = (record["sessions"]?.document?.values ?? []).compactMap { $0.document?["lsid"] }
            guard !sessions.isEmpty else { continue }
            try await run(["killSessions": .array(of: sessions)])
        }
    }
}

extension PartnerCase {
    /// Runs a test after `partner init` has copied the original collection.
    /// - Parameter load: inserts the original documents; without it, the test inserts `count` tasks.
    static func withCopy(
        _ job: String = documented, count: Int = 5, load: ((PartnerCase) async throws -> Void)? = nil,
        _ body: (PartnerCase) async throws -> Void
    ) async throws {
        try await Mongod.shared.withPartner { test in
            try test.job(job)
            if let load { try await load(test) } else { try await test.load(count) }
            let made = try await test.run("init")
            try #require(made.exitCode == 0, "\(made.errors)")
            try await body(test)
        }
    }

    /// Runs a test after a mirror has carried over all changes, and `partner verify` has compared both collections.
    static func withVerified(_ count: Int = 5, _ body: (PartnerCase) async throws -> Void) async throws {
        try await withCopy(count: count) { test in
            #expect(try await test.run("mirror", "--once").exitCode == 0)
            #expect(try await test.run("verify").exitCode == 0)
            try await body(test)
        }
    }
}

extension Mongod {
    /// Runs a test of `shipshape partner`, and then removes its databases and its folder.
    func withPartner(_ body: (PartnerCase) async throws -> Void) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try await withDatabase { database in
            try await withDatabase { state in
                try await body(PartnerCase(mongod: self, database: database, state: state, folder: folder))
            }
        }
    }
}
