import BSON
import Concurrency
import Files
internal import Glibc
import JobState
import Jobs
package import Mongo

/// A shell pattern such as `tenant_*`, which selects the databases of `--databases` by name.
package struct DatabasePattern {
    /// The pattern as the operator wrote it.
    package let text: String
    /// The database that holds the state of jobs; it never counts as a match of the pattern.
    package let stateDatabase: String

    package init(text: String, stateDatabase: String) {
        self.text = text
        self.stateDatabase = stateDatabase
    }

    /// Returns the names of the existing databases that match, sorted; empty if there is none.
    ///
    /// The databases of the server and of the sync service, and the state database, never match.
    package func matches(on pool: ClientPool) async throws -> [String] {
        let all = try await onOwnedThread(name: "databases") { () throws in try pool.client().databaseNames() }
        return all.filter { name in
            let isMatch = unsafe fnmatch(text, name, 0) == 0
            return isMatch && Namespace.refusal(of: name, stateDatabase: stateDatabase) == nil
        }.sorted()
    }

    /// Returns the names of the existing databases that match, sorted.
    /// - Throws: ``InputError`` if there is none; ``MongoError``.
    package func names(on pool: ClientPool) async throws -> [String] {
        let names = try await matches(on: pool)
        guard !names.isEmpty else {
            throw InputError("no database that the user may see matches \(text): check --databases")
        }
        return names
    }
}
