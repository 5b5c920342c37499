internal import ArgumentParser
internal import Backfill

/// Where jobs keep their state.
struct StateFlags: ParsableArguments {
    @Option(help: ArgumentHelp("The database that holds checkpoints and leases.", valueName: "name"))
    var stateDatabase = "shipshape"

    func validate() throws {
        guard !stateDatabase.isEmpty, stateDatabase.utf8.count <= 63,
            !["admin", "local", "config"].contains(stateDatabase),
            !stateDatabase.contains(where: { "/\\. \"$".contains($0) })
        else {
            throw ValidationError("--state-database: \"\(stateDatabase)\" cannot be the name of a database for state")
        }
    }

    /// The jobs that are kept there, which are steered by what the primary says.
    func registry(_ connection: ConnectionFlags) throws -> JobRegistry {
        JobRegistry(stateDatabase, on: try connection.pool(readsFromPrimary: true))
    }
}
