internal import Backfill
internal import Mongo
internal import Privileges

enum StateDatabase {
    static var name: String { Settings.current[Known.stateDatabase] }
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
