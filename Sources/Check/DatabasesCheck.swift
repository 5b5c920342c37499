import BSON
package import Checking
import Files
package import Mongo
import Privileges
import Scanning
package import ServerSchema

/// A check of several databases that have the same collections.
///
/// The check reads one database after the other, so that its load is never more than the load of a single check.
package struct DatabasesCheck {
    package let pattern: DatabasePattern
    package let run: CheckRun
    package let own: String

    /// Creates the check of all databases that match a pattern.
    /// - Parameter run: the check of the database that the schema names.
    /// - Throws: ``UsageError`` for a schema of several databases.
    package init(_ run: CheckRun, matching pattern: String, of schema: ServerSchema) throws {
        let databases = Set(schema.collections.map(\.namespace.database)).sorted()
        guard databases.count == 1, let own = databases.first else {
            throw UsageError(
                "--databases needs a schema of one database, and this one is of \(databases.joined(separator: ", "))")
        }
        (self.run, self.own) = (run, own)
        self.pattern = DatabasePattern(text: pattern, stateDatabase: run.stateDatabase)
    }

    /// Returns the report of a database's check; `nil` if the database has no collection of the schema.
    package func report(of name: String, on pool: ClientPool) async throws -> CheckReport? {
        let run = try run.moved(from: own, to: name)
        let targets = try await run.find(run.schema.collections.map(\.namespace), on: pool)
        return targets.contains(where: \.exists) ? try await run.check(live: pool) : nil
    }
}
