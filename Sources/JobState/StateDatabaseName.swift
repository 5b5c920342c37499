/// The rule for the name of a database in which the program keeps its own documents.
package enum StateDatabaseName {
    /// Returns why no database of this name can hold the state of jobs or the history of checks; `nil` if one can.
    package static func refusal(of name: String) -> String? {
        if name.hasPrefix("__realm_sync") { return "it belongs to the sync engine, where nothing else must write" }
        if ["admin", "local", "config"].contains(name) { return "it belongs to the server" }
        guard name.isEmpty || name.utf8.count > 63 || name.contains(where: { "/\\. \"$".contains($0) }) else {
            return nil
        }
        return "the name of a database has 1 to 63 bytes, and none of / \\ . \" $ or a blank"
    }
}
