internal import ArgumentParser
internal import Backfill
internal import Privileges

/// The flag for the database that holds the state of jobs.
struct StateFlags: ParsableArguments {
    @Option(help: ArgumentHelp("The database that holds checkpoints and leases.", valueName: "name"))
    var stateDatabase = "shipshape"

    func validate() throws {
        guard Self.canHoldState(stateDatabase) else {
            throw ValidationError("--state-database: \"\(stateDatabase)\" cannot be the name of the state database")
        }
    }

    /// Whether a database of this name can hold the state of jobs.
    static func canHoldState(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 63 && !["admin", "local", "config"].contains(name)
            && !name.contains { "/\\. \"$".contains($0) }
    }

    /// Returns the registry of the jobs in the state database; it reads from the primary, because a secondary may lack
    /// the latest state.
    /// - Parameter command: the command that needs the registry; the user's privileges for it are checked first.
    func registry(_ connection: ConnectionFlags, for command: String) async throws -> JobRegistry {
        let pool = try connection.pool(readsFromPrimary: true)
        try await pool.requirePrivileges(for: command, on: WorkPlaces(state: stateDatabase))
        return JobRegistry(stateDatabase, on: pool)
    }
}
