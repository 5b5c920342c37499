package import BSON
package import Mongo

/// Finds the ledgers of unsynced documents; never writes.
///
/// A ledger is in the database `__realm_sync`, or in `__realm_sync_<app id>` for a single app. Source: `semantics.md`
/// section 7.
package enum LedgerFinder {
    /// The name of the database with the shared ledger; the names of single apps' ledger databases begin with it.
    package static var database: String { "__realm_sync" }
    /// The name of the ledger's collection, in the shared ledger database and in each ledger database of a single app.
    package static var collection: String { "unsynced_documents" }

    /// The shared ledger: the one for all apps that have no ledger database of their own.
    package static var standard: Namespace { Namespace(database: database, collection: collection) }

    /// Returns the ledger in an app's own ledger database.
    package static func ledger(of app: String) -> Namespace {
        Namespace(database: "\(database)_\(app)", collection: collection)
    }

    /// Returns the ledgers that exist; empty if there are none.
    /// - Parameters:
    ///   - location: The place where ledgers are searched.
    ///   - apps: Apps whose ledger databases are searched even if the server does not list these databases for the
    ///     user.
    /// - Throws: ``MongoError`` if it is unknown which ledgers exist, for example because a privilege is missing.
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

    /// Returns the id of the app whose ledger is in the database; `nil` if the name of the database contains no app id.
    package static func appID(of database: String) -> String? {
        database.hasPrefix(Self.database + "_") ? String(database.dropFirst(Self.database.count + 1)) : nil
    }

    /// Returns the ledger databases that the user can see; listing them needs no privilege.
    private static func listed(on client: borrowing Client) throws(MongoError) -> [String] {
        try client.databaseNames(matching: "^\(database)(_|$)")
    }
}
