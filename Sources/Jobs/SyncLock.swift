package import BSON

/// The sync translator's lock on a document: a transaction that is in progress, or one that was left over.
///
/// A locked document must not be written before its lock is removed, because the translator would take the change for
/// its own.
package enum SyncLock {
    /// The field that holds the lock, and its older name.
    package static let fields = ["_id__baas_transaction", "_id_realm_transaction"]

    /// Whether a document is not locked.
    package static var isFree: Expression { .all(fields.map { Expression(.string("$\($0)")).isMissing }) }

    /// Returns whether a document, as it was read, is locked.
    package static func isHeld(in document: BSONDocument) -> Bool { fields.contains { document[$0] != nil } }
}
