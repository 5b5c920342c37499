package import BSON

/// Where the ledger of unsynced documents is.
package enum LedgerLocation: Hashable, Sendable {
    /// `__realm_sync.unsynced_documents`.
    case standard
    /// A collection of the operator's choice.
    case named(Namespace)
    /// There is none, by the operator's word.
    case none

    /// The collection; `nil` for ``none``.
    package var namespace: Namespace? {
        switch self {
        case .standard: LedgerFinder.standard
        case .named(let namespace): namespace
        case .none: nil
        }
    }
}

/// The ledger of unsynced documents exists and may not be read.
package struct LedgerUnreadable: Error, Hashable, CustomStringConvertible {
    /// Which.
    package let namespace: Namespace

    /// Names it.
    package init(_ namespace: Namespace) { self.namespace = namespace }

    /// What, and how to mend it.
    package var description: String {
        "the ledger \(namespace) may not be read: grant `find` on it and `listCollections` on its database, or say "
            + "--ledger none if there is none"
    }
}

/// The apps whose entries of the ledger count.
package enum LedgerApps: Hashable, Sendable {
    /// The app with the most: the limit is for each app.
    case fullest
    /// Those that the operator names, by their internal ids.
    case stated([String])
    /// Those that schemas name. Where the ledger has no entry of theirs, ``fullest`` holds: the schema may be of another
    /// environment than the data.
    case ofSchemas([String])

    /// What flags and schemas say together: the operator's word beats theirs.
    package init(stated: String?, schemas: [String?] = []) {
        self = stated.map { .stated([$0]) } ?? .fullest
        self = orOf(schemas)
    }

    /// Those that schemas name, where the operator names none.
    package func orOf(_ schemas: [String?]) -> LedgerApps {
        let ids = Set(schemas.compactMap(\.self)).sorted()
        return self == .fullest && !ids.isEmpty ? .ofSchemas(ids) : self
    }

    /// What the reader should know where the ledger has no entry of an app that is named, a clause for each: an id may be
    /// misspelt, and the headroom then looks too large.
    /// - Parameter found: the apps that the ledger has entries of.
    package func missing(of found: [String?], ledgerIsThere: Bool) -> [String] {
        guard ledgerIsThere else { return [] }
        let missing = ids.filter { !found.contains($0) }
        guard case .ofSchemas = self else { return missing.map { "no entry of the ledger is of the app \($0)" } }
        guard missing == ids, !found.isEmpty else { return [] }
        return missing.map { "no entry of the ledger is of the app \($0) that the schema names: those of others count" }
    }

    /// The ids that are named; none where nobody names any.
    package var ids: [String] {
        switch self {
        case .fullest: []
        case .stated(let ids), .ofSchemas(let ids): ids
        }
    }
}
