internal import ArgumentParser
internal import Backfill
internal import Privileges

/// Where jobs keep their state.
struct StateFlags: ParsableArguments {
    @Option(help: ArgumentHelp("The database that holds checkpoints and leases.", valueName: "name"))
    var stateDatabase = "shipshape"

    func validate() throws {
        guard Self.canHoldState(stateDatabase) else {
            throw ValidationError("--state-database: \"\(stateDatabase)\" cannot be the name of a database for state")
        }
    }

    /// Whether it is a name for a database of ours.
    static func canHoldState(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 63 && !["admin", "local", "config"].contains(name)
            && !name.contains { "/\\. \"$".contains($0) }
    }

    /// The jobs that are kept there, which are steered by what the primary says.
    /// - Parameter command: the command that steers them, whose privileges are looked at first.
    func registry(_ connection: ConnectionFlags, for command: String) async throws -> JobRegistry {
        let pool = try connection.pool(readsFromPrimary: true)
        try await pool.requirePrivileges(for: command, on: WorkPlaces(state: stateDatabase))
        return JobRegistry(stateDatabase, on: pool)
    }
}
