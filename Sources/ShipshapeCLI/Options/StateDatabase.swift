internal import Backfill
internal import Mongo
internal import Privileges

/// The database that holds the state of jobs.
enum StateDatabase {
    /// The name of the database in this run.
    static var name: String { Settings.current[Known.stateDatabase] }

    /// Whether a database of this name can hold the state of jobs.
    static func canBe(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 63 && !["admin", "local", "config"].contains(name)
            && !name.contains { "/\\. \"$".contains($0) }
    }
}

extension Frame {
    /// Returns the registry of the jobs in the state database; it reads from the primary, because a secondary may lack
    /// the latest state.
    /// - Parameter needs: the command that needs the registry; the user's privileges for it are checked first.
    func registry(for needs: String) async throws -> JobRegistry {
        let pool = try await pool(for: needs, on: WorkPlaces(state: StateDatabase.name), readsFromPrimary: true)
        return JobRegistry(StateDatabase.name, on: pool)
    }
}
