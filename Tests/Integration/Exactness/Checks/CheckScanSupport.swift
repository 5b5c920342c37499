import BSON
import Checking
import Mongo
import Scanning
import ServerSchema
import Synchronization
import TestSupport

extension CompiledSchema {
    /// Creates the compiled schema of one collection from the text of its file.
    init(_ namespace: Namespace, _ text: String) throws {
        self.init(try ServerSchema.read(text: text, namespace: namespace).collections[0])
    }

    /// Returns a schema that every document fails by the same rule, so that one group of findings counts all documents.
    static func failing(_ namespace: Namespace) throws -> CompiledSchema {
        try CompiledSchema(
            namespace,
            #"{ "bsonType": "object", "required": ["never"], "properties": { "never": { "bsonType": "int" } } }"#
        )
    }
}

extension TestDatabase {
    /// Checks the collection of a schema with this many threads, and returns a tally that keeps every sample `_id`.
    func scan(_ schema: CompiledSchema, threads: Int = 1, isView: Bool = false) async throws -> Tally {
        var options = ScanOptions()
        options.threads = threads
        options.isView = isView
        options.judging.tally.sampleCount = .max
        return try await CollectionScan(schema, on: pool, options: options).run().tally
    }

    /// Returns the `_id`s that a scan of a collection reads, without those of more than 256 bytes, in no particular
    /// order.
    func scannedIDs(_ collection: String, threads: Int = 1, isView: Bool = false) async throws -> [BSONValue] {
        let tally = try await scan(try .failing(namespace(collection)), threads: threads, isView: isView)
        return tally.violationGroups.flatMap(\.sampleIDs)
    }
}

/// An `_id` that is compared by its bytes: NaN equals NaN, and 1 does not equal 1.0.
struct IDBytes: Hashable {
    private let document: BSONDocument

    init(_ id: BSONValue) { document = ["": id] }
}
