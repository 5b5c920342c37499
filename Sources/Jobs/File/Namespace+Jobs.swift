package import BSON

extension Namespace {
    /// Returns the reason, as a clause, why commands must not write documents of the collection or change its
    /// validator; `nil` if commands are allowed to do so.
    /// - Parameter stateDatabase: The database that holds the state of jobs; `nil` before it is known.
    package func refusal(stateDatabase: String? = nil) -> String? {
        if let reason = Self.refusal(of: database, stateDatabase: stateDatabase) { return reason }
        if collection.hasPrefix("system.") { return "the collection belongs to the server" }
        if collection.utf8.contains(0) { return "a name cannot hold a NUL" }
        if collection.contains("$") || collection.hasPrefix(".") {
            return "a collection's name cannot hold a $ or begin with a dot"
        }
        return database.utf8.count > 63 || description.utf8.count > 255 ? "the name is too long for a server" : nil
    }

    /// Returns the reason, as a clause, why commands must not write documents of a database; `nil` if commands are
    /// allowed to do so.
    package static func refusal(of database: String, stateDatabase: String? = nil) -> String? {
        switch database {
        case "admin", "config", "local": "the database belongs to the server"
        case _ where database == "__realm_sync" || database.hasPrefix("__realm_sync_"):
            "the database belongs to the sync service"
        // The server allows no second database whose name differs in upper and lower case only.
        case _ where database.lowercased() == stateDatabase?.lowercased():
            "the database holds the state of jobs (state-database names it)"
        default: nil
        }
    }
}
