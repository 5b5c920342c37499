package import BSON
package import Mongo

/// Finds the ledgers of unsynced documents; nothing here can write.
///
/// Source: `semantics.md` section 7: the ledger lies in `__realm_sync`, or per app in `__realm_sync_<app id>`.
package enum LedgerFinder {
    /// The database of the ledger, and the beginning of the names of the per-app ones.
    package static var database: String { "__realm_sync" }
    /// The collection in each of them.
    package static var collection: String { "unsynced_documents" }

    /// The ledger of apps that have no database of their own.
    package static var standard: Namespace { Namespace(database: database, collection: collection) }

    /// The ledger of an app that has a database of its own.
    package static func ledger(of app: String) -> Namespace {
        Namespace(database: "\(database)_\(app)", collection: collection)
    }

    /// The ledgers that are there.
    /// - Parameters:
    ///   - location: the one that the operator names, or all known places.
    ///   - apps: the apps whose databases are looked at even where databases cannot be listed.
    /// - Throws: ``MongoError`` when it cannot be told, for instance for want of a privilege.
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

    /// The app that a per-app database belongs to.
    package static func appID(of database: String) -> String? {
        database.hasPrefix(Self.database + "_") ? String(database.dropFirst(Self.database.count + 1)) : nil
    }

    /// The databases that the user may see; no privilege is needed for the user's own.
    private static func listed(on client: borrowing Client) throws(MongoError) -> [String] {
        try client.databaseNames(matching: "^\(database)(_|$)")
    }
}
