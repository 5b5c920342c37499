import BSON
import Mongo

/// Reads a random sample of a collection's documents.
struct SampleReader {
    let collection: MongoCollection
    /// The filter that a document must match; empty for all documents.
    let filter: BSONDocument
    let size: Int

    /// Calls `body` with the documents of the sample, until `body` returns `false`.
    func read(_ body: (borrowing BSONView) throws -> Bool) throws {
        let sample: BSONDocument = ["$sample": ["size": .integer(size)]]
        let pipeline = filter.isEmpty ? [sample] : [["$match": .object(filter)], sample]
        var cursor = collection.aggregate(
            pipeline,
            options: [
                "allowDiskUse": true, "batchSize": 1_000, "comment": "shipshape check",
                "readConcern": ["level": "majority"],
            ])
        while let document = try cursor.next() {
            guard try body(document) else { return }
        }
    }
}
