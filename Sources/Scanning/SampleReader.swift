import BSON
import Mongo

/// Reads some documents of a collection at random.
struct SampleReader {
    let collection: MongoCollection
    /// What a document must match.
    let filter: BSONDocument
    /// The documents to take.
    let size: Int

    /// Lends them to `body`, which gives `false` to stop.
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
