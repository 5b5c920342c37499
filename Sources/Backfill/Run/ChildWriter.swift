import BSON
import Concurrency
import JobState
import Jobs
import Mongo
import Steps

/// Writes the documents that a step makes in another collection, before anything links to them.
struct ChildWriter {
    let job: Job
    let namespace: Namespace
    let documents: [BSONDocument]

    /// Inserts what is not there yet, and waits for a majority; one that is there is left as it is.
    ///
    /// Its source holds the fence: a runner whose lease has ended makes nothing.
    func send(under lease: Lease, on client: borrowing Client) throws(MongoError) -> BSONDocument {
        let limit = lease.terms.writeLimit.milliseconds
        let pipeline: [BSONDocument] =
            MongoCollection.stages(supplying: documents) + [
                ["$match": .object(lease.fence.filter)],
                [
                    "$merge": [
                        "into": ["db": .string(namespace.database), "coll": .string(namespace.collection)], "on": "_id",
                        // "keepExisting" would insert the fields in the order of their names.
                        "whenMatched": [["$replaceWith": "$$ROOT"]], "whenNotMatched": "insert",
                    ]
                ],
            ]
        // By the collection that they come into: its _ids are compared by its own collation.
        return try client.runWriteCommand(
            [
                "aggregate": .string(namespace.collection), "pipeline": .array(of: pipeline.map { .object($0) }),
                "cursor": [:],
                "maxTimeMS": .long(limit), "writeConcern": ["w": "majority", "wtimeout": .long(limit)],
                "comment": .string("shipshape backfill \(job.name)"),
            ], on: namespace.database)
    }

    /// Which of the documents are there as they were to be.
    func present(in context: ClientContext) throws(MongoError) -> Set<BSONDocument> {
        let found = try Lookup(namespace: namespace).documents(documents.compactMap { $0["_id"] }, in: context)
        return Set(found.values.flatMap { $0 }).intersection(documents)
    }
}
