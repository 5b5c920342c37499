package import BSON
package import Checking

/// A step's computation that the client does document by document, because not every server can do it in an update.
///
/// The step states the computation and selects the documents. The code that runs the job does the computation, because
/// it may have to read other collections.
package enum ClientComputation: Sendable {
    case convertUUID(ConvertUUIDStep)
    case dedupe(DedupeStep)
    case embed(EmbedStep)
    case extract(ExtractStep)
    case generate(GenerateStep)
    case lookup(LookupStep)
}

/// The data that the client collects for a step before it computes the first document.
package struct ClientPreparation: Sendable {
    /// The `_id`s of documents in another collection; the step skips every document that links, or would link, to one
    /// of them.
    package var excluded: Set<IDKey> = []
    /// The obstacles to running the step, found in the documents before the job's first write.
    package var obstacles: [ClientObstacle] = []
    /// The job's schemas for the collection in which the step creates documents.
    package var schemas: [CompiledSchema] = []
}

/// An obstacle to running a step: documents that the operator has to change or to accept first.
package struct ClientObstacle: Hashable, Sendable {
    /// The problem with the documents, as a sentence.
    package var text: String
    /// The number of documents that have the problem.
    package var count: Int
    /// The collection of the documents that have the problem.
    package var namespace: Namespace
    /// The `_id`s of a few documents that have the problem.
    package var samples: [BSONValue]
    /// A clause that says how the operator can solve the problem.
    package var remedy: String

    package init(text: String, count: Int, namespace: Namespace, samples: [BSONValue], remedy: String) {
        (self.text, self.count, self.namespace) = (text, count, namespace)
        (self.samples, self.remedy) = (samples, remedy)
    }
}

/// A document that a step inserts into a collection other than the job's own.
package struct ClientCreation: Hashable, Sendable {
    /// The collection that the document is inserted into.
    package var namespace: Namespace
    /// The document to insert, with its `_id`.
    package var document: BSONDocument

    package init(namespace: Namespace, document: BSONDocument) {
        (self.namespace, self.document) = (namespace, document)
    }
}

/// An ID derived from the job's name, the field that gets the ID, and a value that identifies a document or an object
/// in it.
///
/// The ID is the same in a dry run, the run and a rerun. It differs from the IDs of all other documents and objects.
package struct GeneratedID {
    private let digest: [UInt8]

    /// Derives the ID from the SHA-256 hash of the job's name, the field and the value.
    /// - Parameter place: The path of the field that gets the ID, so that two steps of a job derive different IDs.
    package init(job: String, place: String, of id: BSONValue) {
        digest = SHA256.digest(
            of: BSONDocument([("job", .string(job)), ("place", .string(place)), ("_id", id)]).bytes)
    }

    /// The ID as an ObjectId, which consists of the first twelve bytes of the SHA-256 hash.
    package var objectID: BSONValue {
        let high = digest[0..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let low = digest[8..<12].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return .objectID(ObjectID(high: high, low: low))
    }

    /// The ID as a UUID of version 8 (RFC 9562, section 5.8), whose content an application may choose freely.
    package var uuid: BSONValue {
        var bytes = Array(digest[0..<16])
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        return .binary(subtype: 4, bytes: bytes)
    }
}
