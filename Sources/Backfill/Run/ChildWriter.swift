import BSON
import Concurrency
import JobState
import Jobs
import Mongo
import Steps

/// Inserts the documents that a step creates in another collection, before documents of the job's collection link to
/// them.
struct ChildWriter {
    let job: Job
    let namespace: Namespace
    let documents: [BSONDocument]

    /// Inserts the documents that do not exist yet, and waits for a majority; existing documents stay as they are.
    ///
    /// A `$match` before the `$merge` tests that the runner's lease still lasts, so that a runner whose lease has ended
    /// inserts nothing.
    func send(under lease: Lease, on client: borrowing Client) throws(MongoError) -> BSONDocument {
        let limit = lease.terms.writeLimit.milliseconds
        let pipeline: [BSONDocument] =
            MongoCollection.stages(supplying: documents) + [
                ["$match": .object(lease.fence.filter)],
                [
                    "$merge": [
                        "into": ["db": .string(namespace.database), "coll": .string(namespace.collection)], "on": "_id",
                        // The pipeline keeps an existing document as it is. `keepExisting` would do so too, but would
                        // insert the fields of a new document sorted by name.
                        "whenMatched": [["$replaceWith": "$$ROOT"]], "whenNotMatched": "insert",
                    ]
                ],
            ]
        // The command is sent to the collection that receives the documents, so that this collection's collation
        // compares the `_id`s.
        return try client.runWriteCommand(
            [
                "aggregate": .string(namespace.collection), "pipeline": .array(of: pipeline.map { .object($0) }),
                "cursor": [:],
                "maxTimeMS": .long(limit), "writeConcern": ["w": "majority", "wtimeout": .long(limit)],
                "comment": .string("shipshape backfill \(job.name)"),
            ], on: namespace.database)
    }

    /// Returns those of ``documents`` that exist in the collection with exactly the same content.
    func present(in context: ClientContext) throws(MongoError) -> Set<BSONDocument> {
        let found = try Lookup(namespace: namespace).documents(documents.compactMap { $0["_id"] }, in: context)
        return Set(found.values.flatMap { $0 }).intersection(documents)
    }
}
