import BSON
import ServerSchema

/// The field that the sync translator puts into a document while it writes it, under its names of all times.
enum SyncLock {
    static let names = ["_id__baas_transaction", "_id_realm_transaction"].compactMap { try? FieldPath($0) }

    /// Whether a document, as it was read, carries one.
    static func isHeld(in document: BSONDocument) -> Bool { names.contains { document[$0.description] != nil } }
}
