package import BSON
package import Mongo

/// Finds the ledgers of unsynced documents; never writes.
///
/// Source: `semantics.md` section 7: the ledger is in `__realm_sync`, or per app in `__realm_sync_<app id>`.
package enum LedgerFinder {
    /// The name of the database with the ledger that apps share, and the prefix of the names of single apps' databases.
    package static var database: String { "__realm_sync" }
    /// The name of a ledger's collection in its database.
    package static var collection: String { "unsynced_documents" }

    /// The ledger of all apps that have no ledger database of their own.
    package static var standard: Namespace { Namespace(database: database, collection: collection) }

    /// The ledger of an app that has a ledger database of its own.
    package static func ledger(of app: String) -> Namespace {
        Namespace(database: "\(database)_\(app)", collection: collection)
    }

    /// Returns the ledgers that exist; empty if there are none.
    /// - Parameters:
    ///   - location: The collection that the operator names as the ledger, or the choice of all known databases.
    ///   - apps: The apps whose ledger databases are searched even if databases cannot be listed.
    /// - Throws: ``MongoError`` if it cannot be determined which ledgers exist, for example for lack of a privilege.
    package static func find(
        _ location: LedgerLocation, apps: [String], on client: borrowing Client
    ) throws(MongoError) -> [Namespace] {
        switch location {
        case .none: return []
        case .named(let ledger): return try client.readableCollection(ledger) == nil ? [] : [ledger]
        case .standard: break
        }
        var databases = Set(apps.map { "\(database)_\($0)" })
        databases.insert(database)
        databases.formUnion(try listed(on: client))
        var found: [Namespace] = []
        for database in databases.sorted() {
            let namespace = Namespace(database: database, collection: collection)
            if try client.readableCollection(namespace) != nil { found.append(namespace) }
        }
        return found
    }

    /// Returns the app whose ledger is in the database; `nil` if the name of the database contains no app.
    package static func appID(of database: String) -> String? {
        database.hasPrefix(Self.database + "_") ? String(database.dropFirst(Self.database.count + 1)) : nil
    }

    /// Returns the databases of ledgers that the user may see; listing these needs no privilege.
    private static func listed(on client: borrowing Client) throws(MongoError) -> [String] {
        try client.databaseNames(matching: "^\(database)(_|$)")
    }
}
