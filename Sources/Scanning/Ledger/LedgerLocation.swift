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
