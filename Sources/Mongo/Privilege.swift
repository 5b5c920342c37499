/// A resource, and actions on it that need permission.
package struct Privilege: Hashable, Sendable {
    /// The actions under the names that roles use, such as "find".
    package let actions: [String]
    /// The resource in words; a collection is written `database.collection`.
    package let resource: String

    /// Reads the missing privilege from mongod's refusal, such as `not authorized on app to execute command { find:
    /// "Person", … }`; `nil` if the message does not show it.
    init?(refusal message: String) {
        guard
            let found = message.firstMatch(
                of: #/not authorized on (.+?) to execute command \{ (?:explain: \{ )?(\w+): /#)
        else { return nil }
        let (database, command) = (String(found.output.1), String(found.output.2))
        guard let actions = Self.actions[command] else { return nil }
        self.actions = actions
        let rest = message[found.range.upperBound...]
        let named = command == "getMore" ? rest.firstRange(of: "collection: ").map { rest[$0.upperBound...] } : rest
        if let named, named.first == "\"", let end = named.firstRange(of: #/", |" \}/#) {
            resource = "\(database).\(named[..<end.lowerBound].dropFirst())"
        } else {
            resource = Self.ofDatabase.contains(command) ? "the database \(database)" : "the cluster"
        }
    }

    /// The actions that each command requires, on its collection, its database or the cluster.
    private static let actions: [String: [String]] = [
        "find": ["find"], "aggregate": ["find"], "count": ["find"], "distinct": ["find"], "getMore": ["find"],
        "insert": ["insert"], "update": ["update"], "delete": ["remove"],
        "findAndModify": ["find", "update", "insert"],
        "createIndexes": ["createIndex"], "create": ["createCollection"], "drop": ["dropCollection"],
        "collMod": ["collMod"], "collStats": ["collStats"], "listIndexes": ["listIndexes"],
        "listCollections": ["listCollections"], "dbStats": ["dbStats"], "listDatabases": ["listDatabases"],
        "serverStatus": ["serverStatus"], "replSetGetStatus": ["replSetGetStatus"], "currentOp": ["inprog"],
        "getParameter": ["getParameter"],
    ]

    private static let ofDatabase: Set = ["listCollections", "dbStats"]
}
