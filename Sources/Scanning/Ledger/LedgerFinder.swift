package import BSON
package import Mongo

/// Finds the ledgers of unsynced documents; never writes.
///
/// Source: `semantics.md` section 7: the ledger is in `__realm_sync`, or per app in `__realm_sync_<app id>`.
package enum LedgerFinder {
    /// The database of the ledger, and the prefix of the names of the databases of single apps.
    package static var database: String { "__realm_sync" }
    /// The name of the ledger's collection in each of these databases.
    package static var collection: String { "unsynced_documents" }

    /// The ledger of apps that have no database of their own.
    package static var standard: Namespace { Namespace(database: database, collection: collection) }

    /// The ledger of an app that has a database of its own.
    package static func ledger(of app: String) -> Namespace {
        Namespace(database: "\(database)_\(app)", collection: collection)
    }

    /// Returns the ledgers that exist.
    /// - Parameters:
    ///   - location: The ledger that the operator names, or all known places.
    ///   - apps: The apps whose databases are searched even if databases cannot be listed.
    /// - Throws: ``MongoError`` if that cannot be determined, for example for lack of a privilege.
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

    /// Returns the app of a database that belongs to a single app; `nil` for other databases.
    package static func appID(of database: String) -> String? {
        database.hasPrefix(Self.database + "_") ? String(database.dropFirst(Self.database.count + 1)) : nil
    }

    /// Returns the ledgers' databases that the user may see; to list these needs no privilege.
    private static func listed(on client: borrowing Client) throws(MongoError) -> [String] {
        try client.databaseNames(matching: "^\(database)(_|$)")
    }
}
