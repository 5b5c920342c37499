internal import BSON
internal import Checking
internal import Mongo
internal import Privileges
internal import Scanning
internal import ServerSchema

/// A check of several databases that have the same collections.
///
/// The check reads one database after the other, so that its load is never more than the load of a single check.
struct DatabasesCheck {
    /// The pattern that the databases' names match.
    let pattern: DatabasePattern
    /// The check of the database that the schema names.
    let run: CheckRun
    /// The database that the schema names.
    let own: String

    /// Creates the check of all databases that match a pattern.
    /// - Parameter run: the check of the database that the schema names.
    /// - Throws: ``UsageError`` for a schema of several databases.
    init(_ run: CheckRun, matching pattern: String, of schema: ServerSchema) throws {
        let databases = Set(schema.collections.map(\.namespace.database)).sorted()
        guard databases.count == 1, let own = databases.first else {
            throw UsageError(
                "--databases needs a schema of one database, and this one is of \(databases.joined(separator: ", "))")
        }
        (self.run, self.own) = (run, own)
        self.pattern = DatabasePattern(text: pattern, stateDatabase: run.stateDatabase)
    }

    /// Returns the collections and databases on which the user needs privileges to check the databases `names`.
    func places(of names: [String]) throws -> WorkPlaces {
        let collections = run.schema.collections.map(\.namespace)
        let all = names.flatMap { name in collections.map { $0.moved(from: own, to: name) } }
        return WorkPlaces(
            reading: all, state: run.stateDatabase, ledger: run.ledger.location, apps: run.ledger.apps.ids)
    }

    /// Returns the report of a database's check; `nil` if the database has no collection of the schema.
    func report(of name: String, on pool: ClientPool) async throws -> CheckReport? {
        let run = try run.moved(from: own, to: name)
        let targets = try await run.find(run.schema.collections.map(\.namespace), on: pool)
        return targets.contains(where: \.exists) ? try await run.check(live: pool) : nil
    }
}
