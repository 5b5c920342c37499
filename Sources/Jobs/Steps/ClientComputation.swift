package import BSON

/// What a step does that the server's operators cannot express: the client computes it, document by document.
///
/// The step says what is computed, and which documents the server hands over for it; how it is computed is the engine's
/// to know, as it may take looks at other collections.
package protocol ClientComputation: Sendable {
    /// Why documents are left alone, as far as only the client can tell.
    var reasons: [CompiledStep.Reason] { get }

    /// The collection that the step makes documents in; `nil` where it makes none.
    var creates: Namespace? { get }
}

extension ClientComputation {
    package var reasons: [CompiledStep.Reason] { [] }
    package var creates: Namespace? { nil }
}

/// A document that a step makes in another collection.
package struct ClientCreation: Hashable, Sendable {
    /// The other collection.
    package var namespace: Namespace
    /// The document, with its `_id`.
    package var document: BSONDocument

    /// Joins the two.
    package init(namespace: Namespace, document: BSONDocument) {
        (self.namespace, self.document) = (namespace, document)
    }
}

/// Ids that derive from the job's name, the place and a document's `_id`: the same in a dry run, in the run and in a
/// rerun, and another for every document.
package struct GeneratedID {
    private let digest: [UInt8]

    /// Derives from the SHA-256 of the three.
    /// - Parameter place: what the id is for, so that two steps of a job give two ids.
    package init(job: String, place: String, of id: BSONValue) {
        digest = SHA256.digest(
            of: BSONDocument([("job", .string(job)), ("place", .string(place)), ("_id", id)]).bytes)
    }

    /// As an ObjectId: any twelve bytes are one.
    package var objectID: BSONValue {
        let high = digest[0..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let low = digest[8..<12].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return .objectID(ObjectID(high: high, low: low))
    }

    /// As a UUID of version 8 (RFC 9562, 5.8): its content is whatever its maker says.
    package var uuid: BSONValue {
        var bytes = Array(digest[0..<16])
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        return .binary(subtype: 4, bytes: bytes)
    }
}
