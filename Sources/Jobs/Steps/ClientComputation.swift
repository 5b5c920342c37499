package import BSON

/// A computation that the server's operators cannot express, so that the client does it document by document.
///
/// The step says what is computed and which documents the server hands over for it. The engine knows how to compute
/// it, because that may require reading other collections.
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

/// A document that a step inserts into another collection.
package struct ClientCreation: Hashable, Sendable {
    /// The other collection.
    package var namespace: Namespace
    /// The document, with its `_id`.
    package var document: BSONDocument

    /// Creates the insert of a document into a collection.
    package init(namespace: Namespace, document: BSONDocument) {
        (self.namespace, self.document) = (namespace, document)
    }
}

/// An ID derived from the job's name, a place and a document's `_id`.
///
/// It is the same in a dry run, in the run and in a rerun, and different for every document.
package struct GeneratedID {
    private let digest: [UInt8]

    /// Derives the ID from the SHA-256 of job name, place and `_id`.
    /// - Parameter place: The use of the ID, so that two steps of a job derive two IDs.
    package init(job: String, place: String, of id: BSONValue) {
        digest = SHA256.digest(
            of: BSONDocument([("job", .string(job)), ("place", .string(place)), ("_id", id)]).bytes)
    }

    /// The ID as an ObjectId: any twelve bytes are a valid one.
    package var objectID: BSONValue {
        let high = digest[0..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let low = digest[8..<12].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return .objectID(ObjectID(high: high, low: low))
    }

    /// The ID as a UUID of version 8 (RFC 9562, 5.8), whose content its maker may choose.
    package var uuid: BSONValue {
        var bytes = Array(digest[0..<16])
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        return .binary(subtype: 4, bytes: bytes)
    }
}
