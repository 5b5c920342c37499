import BSON
import TestSupport
import Testing

/// The fixture of the tests of `backfill --databases`.
///
/// It has a job whose file names one database. The tests run the job in other databases with the same collections.
struct DatabasesCase: Sendable {
    /// The database that the job file names, the state database, and the folder of jobs.
    ///
    /// ``pattern`` matches neither of these databases.
    let test: BackfillCase
    /// The databases that ``pattern`` matches, sorted by name.
    let others: [TestDatabase]
    /// The value of `--databases`.
    let pattern: String

    /// Runs `body` with this many empty databases that ``pattern`` matches.
    static func with(_ count: Int, _ body: (DatabasesCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            let prefix = "tenant_\(UInt32.random(in: 0 ... .max))"
            try await test.mongod.withDatabases(count, prefix, []) { others in
                try await body(
                    DatabasesCase(test: test, others: others.sorted { $0.name < $1.name }, pattern: "\(prefix)_*"))
            }
        }
    }

    /// Runs `body` with sixty people in each database, and a job with one step and chunks of twenty documents.
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
    /// The people of each database after the job has run.
    static let converted = (0..<60).map { BSONDocument([("_id", .integer($0)), ("age", .string("\($0)"))]) }

    /// Returns the name under which a job runs in the database of ``others`` with this index.
    func job(_ index: Int, _ job: String = "job") -> String { "\(job).in-\(others[index].name)" }

    /// Runs the backfill in all databases of ``others``.
    ///
    /// If the run was killed, the function ends the run's leases, so that the next run need not wait for them.
    @discardableResult
    func backfill(
        _ flags: String..., yes: Bool = true, fault: String? = nil,
        during: (LiveProgram) async throws -> Void = { _ in }
    ) async throws -> ProgramRun {
        let run = try await test.backfill(
            flags: ["--databases", pattern] + flags, yes: yes, fault: fault, during: during)
        if run.wasKilled { for index in others.indices { try await test.endLease(of: job(index)) } }
        return run
    }

    /// Returns the rows of a run's JSON report, and expects one row for each database of ``others``, in order.
    func rows(_ run: ProgramRun) throws -> [JSONValue] {
        let rows = try JSONValue(run.output)["databases"]?.elements ?? []
        #expect(rows.map { $0["database"]?.text } == others.map(\.name), "\(run.output)\(run.errors)")
        return rows
    }

    /// Returns the state of the job in each database of ``others``, from a run's JSON report.
    func states(_ run: ProgramRun) throws -> [String] { try rows(run).compactMap { $0["state"]?.text } }

    /// Returns the documents of `people` in each database of ``others``.
    func people() async throws -> [[BSONDocument]] {
        var all: [[BSONDocument]] = []
        for database in others { all.append(try await database.documents("people")) }
        return all
    }

    /// Expects that the people in the database that the job file names are unchanged.
    func expectOwnUntouched() async throws {
        #expect(try await test.database.documents("people") == Self.people)
    }
}

extension Mongod {
    /// Runs a test with `count` new databases, whose names begin with the prefix.
    ///
    /// - Parameter made: the databases that were made so far.
    fileprivate func withDatabases(
        _ count: Int, _ prefix: String, _ made: [TestDatabase], _ body: ([TestDatabase]) async throws -> Void
    ) async throws {
        guard made.count < count else { return try await body(made) }
        try await withDatabase(prefix) { try await withDatabases(count, prefix, made + [$0], body) }
    }
}
