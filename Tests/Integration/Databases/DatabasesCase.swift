import BSON
import TestSupport
import Testing

/// The fixture of the tests of `backfill --databases`: a job whose file names one database, and others of its shape.
struct DatabasesCase: Sendable {
    /// The case with the job's own database, which the pattern does not match, the state database and the folder.
    let test: BackfillCase
    /// The databases that the pattern matches, by name.
    let others: [TestDatabase]
    let pattern: String

    /// Runs `body` with this many databases.
    static func with(_ count: Int, _ body: (DatabasesCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            let prefix = "tenant_\(UInt32.random(in: 0 ... .max))"
            try await test.mongod.withDatabases(count, prefix, []) { others in
                try await body(
                    DatabasesCase(test: test, others: others.sorted { $0.name < $1.name }, pattern: "\(prefix)_*"))
            }
        }
    }

    /// Runs `body` with sixty people in each database, and a job of one step in chunks of twenty.
    static func withPeople(in count: Int = 3, _ body: (DatabasesCase) async throws -> Void) async throws {
        try await with(count) { databases in
            for database in databases.others { try await database.fill("people", people) }
            try await databases.test.database.fill("people", people)
            try databases.test.job(
                steps: ["convert: {field: age, to: string}"], limits: "{chunk: {documents: 20}, concurrency: 1}")
            try await body(databases)
        }
    }

    static let people = (0..<60).map { BSONDocument([("_id", .integer($0)), ("age", .integer($0))]) }
    /// The same people as the job leaves them.
    static let converted = (0..<60).map { BSONDocument([("_id", .integer($0)), ("age", .string("\($0)"))]) }

    /// Returns the name of the job in one database.
    func job(_ index: Int, _ job: String = "job") -> String { "\(job).in-\(others[index].name)" }

    /// Runs the backfill in all matching databases.
    @discardableResult
    func backfill(
        _ flags: String..., yes: Bool = true, fault: String? = nil,
        meanwhile: (LiveProgram) async throws -> Void = { _ in }
    ) async throws -> ProgramRun {
        let run = try await test.backfill(
            flags: ["--databases", pattern] + flags, yes: yes, fault: fault, meanwhile: meanwhile)
        if run.wasKilled { for index in others.indices { try await test.endLease(of: job(index)) } }
        return run
    }

    /// Returns the rows of a run's JSON, and expects one for each database, in order of the names.
    func rows(_ run: ProgramRun) throws -> [JSONValue] {
        let rows = try JSONValue(run.output)["databases"]?.elements ?? []
        #expect(rows.map { $0["database"]?.text } == others.map(\.name), "\(run.output)\(run.errors)")
        return rows
    }

    /// Returns the state of the job in each row.
    func states(_ run: ProgramRun) throws -> [String] { try rows(run).compactMap { $0["state"]?.text } }

    /// Returns the people of each database.
    func people() async throws -> [[BSONDocument]] {
        var all: [[BSONDocument]] = []
        for database in others { all.append(try await database.documents("people")) }
        return all
    }

    /// Expects that the people of the job's own database are unchanged.
    func expectOwnUntouched() async throws {
        #expect(try await test.database.documents("people") == Self.people)
    }
}

extension Mongod {
    /// Runs a test with several databases of its own.
    fileprivate func withDatabases(
        _ count: Int, _ prefix: String, _ made: [TestDatabase], _ body: ([TestDatabase]) async throws -> Void
    ) async throws {
        guard made.count < count else { return try await body(made) }
        try await withDatabase(prefix) { try await withDatabases(count, prefix, made + [$0], body) }
    }
}
