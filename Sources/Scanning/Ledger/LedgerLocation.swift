package import BSON
package import Checking

/// The place of the ledger of unsynced documents.
package enum LedgerLocation: Hashable, Sendable {
    /// The collections that the sync engine uses: `unsynced_documents` in the database `__realm_sync`, and in the
    /// database `__realm_sync_<app id>` of each app that has its own ledger.
    case standard
    /// A collection that the operator names.
    case named(Namespace)
    /// The operator states that there is no ledger.
    case none

    /// The collection that the operator names, or the shared ledger for ``standard``; `nil` for ``none``.
    package var namespace: Namespace? {
        switch self {
        case .standard: LedgerFinder.standard
        case .named(let namespace): namespace
        case .none: nil
        }
    }
}

/// The choice of the ledger entries that count towards the limit of unsynced documents: the entries of ``apps`` in the
/// ledgers at ``location``.
package struct LedgerScope: Hashable, Sendable {
    /// The place of the ledger of unsynced documents.
    package var location: LedgerLocation
    /// The apps whose entries count.
    package var apps: LedgerApps

    /// Creates a scope; the default is the app with the most entries in the ledgers at ``LedgerLocation/standard``.
    package init(_ location: LedgerLocation = .standard, of apps: LedgerApps = .fullest) {
        (self.location, self.apps) = (location, apps)
    }

    /// Returns a scope for the apps that the schemas name.
    ///
    /// The scope stays as it is if the operator has named an app, or if no schema names one.
    package func orOf(_ schemas: [String?]) -> LedgerScope { LedgerScope(location, of: apps.orOf(schemas)) }

    /// Returns notes about the ledger for the operator, each a clause; empty if there are none.
    /// - Parameters:
    ///   - count: The size of the ledger; `nil` if there is no ledger.
    ///   - reader: The reader of the ledger; `nil` if there is none.
    package func notes(on count: LedgerCount?, by reader: LedgerReader?) -> [String] {
        let found = count.map { $0.entries > 0 } == true ? reader?.apps ?? [] : []
        return apps.missing(of: found, ledgerIsThere: reader != nil) + [count?.warning].compactMap(\.self)
    }

    /// The error that the user lacks the privilege to read the ledger.
    package var unreadable: LedgerUnreadable { LedgerUnreadable(location.namespace ?? LedgerFinder.standard) }
}

/// The error that the user lacks a privilege to find or to read the ledger of unsynced documents.
package struct LedgerUnreadable: Error, Hashable, CustomStringConvertible {
    /// The namespace of the ledger that cannot be read.
    package let namespace: Namespace

    package init(_ namespace: Namespace) { self.namespace = namespace }

    /// The message, which says which privileges are missing, and what to do.
    package var description: String {
        "the user is not allowed to read the ledger \(namespace): grant `find` on it and `listCollections` on its "
            + "database, or set SHIPSHAPE_LEDGER=none if there is none"
    }
}

/// The apps whose ledger entries count.
package enum LedgerApps: Hashable, Sendable {
    /// The app with the most entries; only one app counts, because each app has its own limit.
    case fullest
    /// The apps that the operator names, by their internal ids.
    case stated([String])
    /// The apps that the schemas name, by their internal ids.
    ///
    /// If the ledger has no entry of these apps, ``fullest`` applies instead, because the schemas may be from another
    /// environment than the documents.
    case ofSchemas([String])

    /// Chooses the app that the operator names (`stated`), else the apps that the schemas name, else ``fullest``.
    package init(stated: String?, schemas: [String?] = []) {
        self = stated.map { .stated([$0]) } ?? .fullest
        self = orOf(schemas)
    }

    /// Returns the apps that the schemas name, as a replacement for ``fullest``.
    ///
    /// This choice is returned unchanged if it is not ``fullest``, or if no schema names an app.
    package func orOf(_ schemas: [String?]) -> LedgerApps {
        let ids = Set(schemas.compactMap(\.self)).sorted()
        return self == .fullest && !ids.isEmpty ? .ofSchemas(ids) : self
    }

    /// Returns notes, each a clause, on chosen apps that have no entry in the ledger.
    ///
    /// An app without entries may have a misspelt id. Its unsynced documents are then not counted, so that the limit
    /// seems to leave more room than it does. For apps that the schemas name, there are notes only if the ledger has
    /// entries, and all of them are entries of other apps.
    /// - Parameter found: The apps whose entries were counted; empty if the count is 0.
    package func missing(of found: [String?], ledgerIsThere: Bool) -> [String] {
        guard ledgerIsThere else { return [] }
        let missing = ids.filter { !found.contains($0) }
        guard case .ofSchemas = self else { return missing.map { "the ledger has no entry of the app \($0)" } }
        guard missing == ids, !found.isEmpty else { return [] }
        return missing.map { "the ledger has no entry of the schema's app \($0): the entries of other apps count" }
    }

    /// The ids of the apps that the operator or the schemas name; empty for ``fullest``.
    package var ids: [String] {
        switch self {
        case .fullest: []
        case .stated(let ids), .ofSchemas(let ids): ids
        }
    }
}
