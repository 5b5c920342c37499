package import BSON

/// The sync translator's lock on a document: a transaction that is under way, or was left over.
///
/// Such a document is never written unless it is unset first: the translator would take what changed for its own.
package enum SyncLock {
    /// The field that holds it, and its older name.
    package static let fields = ["_id__baas_transaction", "_id_realm_transaction"]

    /// Whether a document is free.
    package static var isFree: Expression { .all(fields.map { Expression(.string("$\($0)")).isMissing }) }

    /// Whether a document, as it was read, carries one.
    package static func isHeld(in document: BSONDocument) -> Bool { fields.contains { document[$0] != nil } }
}
