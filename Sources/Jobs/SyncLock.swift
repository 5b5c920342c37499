package import BSON

/// The lock that a transaction of Device Sync's translator holds on a document.
///
/// The transaction is in progress, or it ended without removing its lock. A locked document must not be written before
/// its lock is removed, because the translator would mistake the change for its own.
package enum SyncLock {
    /// The names of the field that holds the lock: the present name and an older name.
    package static let fields = ["_id__baas_transaction", "_id_realm_transaction"]

    /// Whether a document is not locked.
    package static var isFree: Expression { .all(fields.map { Expression(.string("$\($0)")).isMissing }) }

    package static func isHeld(in document: BSONDocument) -> Bool { fields.contains { document[$0] != nil } }
}
