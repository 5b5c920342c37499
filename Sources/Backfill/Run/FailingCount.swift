import BSON
import Checking
import Concurrency
import Mongo
import ServerSchema

/// Counts the documents of a collection that do not sync under a schema.
struct FailingCount: Sendable {
    let schema: CompiledSchema
    let namespace: Namespace
    let stop: StopSignal

    /// Counts side by side on so many connections, each a part of the collection at a time.
    func run(in concurrency: Int, on pool: ClientPool, _ client: borrowing Client) throws -> Int {
        let collection = client.collection(namespace)
        let parts = try CollectionParts(of: collection, for: concurrency)
        return try parts.reduce(0, on: pool, and: collection, count, combining: +)
    }

    private func count(_ part: BSONDocument, of collection: MongoCollection) throws -> Int {
        var failing = 0
        var cursor = collection.find(
            part, options: ["comment": "shipshape next", "readConcern": ["level": "majority"]])
        while !stop.isRaised, let view = try cursor.next() {
            if try schema.check(view) == .certain { failing += 1 }
        }
        return failing
    }
}
