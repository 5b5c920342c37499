import BSON
import Mongo

/// Runs a job's update over one chunk, fenced by the lease.
struct ChunkWriter {
    let job: CompiledJob
    /// The collection's UUID, which the server compares; `nil` where it cannot.
    let collectionUUID: BSONValue?

    /// Writes the chunk and waits for a majority.
    ///
    /// The filter holds the fence, so that a runner whose lease has ended changes nothing, whenever its command arrives.
    /// - Parameter judged: the only documents that may be written; `nil` for all of the chunk.
    /// - Returns: how many documents were changed.
    /// - Throws: ``MongoError``; the chunk may then be written in part, and can be run again.
    func write(
        _ chunk: Chunk, only judged: [BSONValue]? = nil, under lease: Lease, on client: borrowing Client
    ) throws(MongoError) -> Int {
        let limit = lease.terms.writeLimit.milliseconds
        let condition = Expression.all([lease.fence, chunk.membership, job.needs])
        var filter = condition.filter
        if let judged { filter = ["_id": ["$in": .array(of: judged)], "$expr": condition.bson] }
        let update: BSONValue = [
            "q": .object(filter), "u": .array(of: job.pipeline.map { .object($0) }), "multi": true,
            "hint": ["_id": 1],
        ]
        var command = BSONBuilder()
        command.append("update", .string(job.job.namespace.collection))
        command.append("updates", [update])
        command.append("maxTimeMS", .long(limit))
        command.append("writeConcern", ["w": "majority", "wtimeout": .long(limit)])
        command.append("comment", .string("shipshape backfill \(job.job.name)"))
        if let collectionUUID { command.append("collectionUUID", collectionUUID) }
        let reply = try client.runWriteCommand(command.finish(), on: job.job.namespace.database)
        return reply["nModified"]?.integer ?? 0
    }
}
