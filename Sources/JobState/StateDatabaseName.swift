/// The rule for the name of a database in which the program keeps its own documents.
package enum StateDatabaseName {
    /// Whether a database of this name can hold the state of jobs, or the history of checks.
    ///
    /// The databases of the server and of the sync service cannot, and neither can a name that the server refuses.
    package static func isValid(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 63 && !["admin", "local", "config"].contains(name)
            && !name.hasPrefix("__realm_sync") && !name.contains { "/\\. \"$".contains($0) }
    }
}
