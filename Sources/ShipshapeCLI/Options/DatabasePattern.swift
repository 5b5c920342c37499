internal import BSON
internal import Concurrency
internal import Glibc
internal import Jobs
internal import Mongo

/// The databases that `--databases` means: those of the deployment whose names match, as a shell matches files.
struct DatabasePattern {
    /// As the operator wrote it.
    let text: String
    /// The database that holds the state of jobs, which is never meant.
    let stateDatabase: String

    /// The names that match now, in their order.
    func matches(on pool: ClientPool) async throws -> [String] {
        let all = try await onOwnedThread(name: "databases") { () throws in try pool.client().databaseNames() }
        return all.filter { name in
            let isMatch = unsafe fnmatch(text, name, 0) == 0
            return isMatch && Namespace.refusal(of: name, stateDatabase: stateDatabase) == nil
        }.sorted()
    }

    /// The names that match now.
    /// - Throws: ``InputError`` when there is none.
    func names(on pool: ClientPool) async throws -> [String] {
        let names = try await matches(on: pool)
        guard !names.isEmpty else {
            throw InputError("no database that the user may see matches \(text): check --databases")
        }
        return names
    }
}
