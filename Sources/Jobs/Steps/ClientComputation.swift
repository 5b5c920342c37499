package import BSON

/// A step's computation that no server operator can do, so that the client does it document by document.
///
/// The step says what is computed, and for which documents. The engine computes it, because it may have to read other
/// collections.
package protocol ClientComputation: Sendable {
    /// The reasons to skip a document that only the client can detect.
    var reasons: [CompiledStep.Reason] { get }

    /// The collection that the step inserts documents into; `nil` if it inserts none.
    var creates: Namespace? { get }
}

extension ClientComputation {
    package var reasons: [CompiledStep.Reason] { [] }
    package var creates: Namespace? { nil }
}

/// A document that a step inserts into another collection than the job's.
package struct ClientCreation: Hashable, Sendable {
    /// The collection that the document is inserted into.
    package var namespace: Namespace
    /// The document, with its `_id`.
    package var document: BSONDocument

    /// Creates a description of the insert.
    package init(namespace: Namespace, document: BSONDocument) {
        (self.namespace, self.document) = (namespace, document)
    }
}

/// An ID that is derived from the job's name, the place where it is used, and a document's `_id`.
///
/// The ID of a document is the same in a dry run, in the run and in a rerun. It differs from the IDs of all other
/// documents.
package struct GeneratedID {
    private let digest: [UInt8]

    /// Derives the ID from the SHA-256 hash of the job's name, the place and the `_id`.
    /// - Parameter place: The field that gets the ID, so that two steps of a job derive different IDs.
    package init(job: String, place: String, of id: BSONValue) {
        digest = SHA256.digest(
            of: BSONDocument([("job", .string(job)), ("place", .string(place)), ("_id", id)]).bytes)
    }

    /// The ID as an ObjectId, which may consist of any twelve bytes.
    package var objectID: BSONValue {
        let high = digest[0..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let low = digest[8..<12].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return .objectID(ObjectID(high: high, low: low))
    }

    /// The ID as a UUID of version 8 (RFC 9562, 5.8), whose content its maker may choose freely.
    package var uuid: BSONValue {
        var bytes = Array(digest[0..<16])
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        return .binary(subtype: 4, bytes: bytes)
    }
}
