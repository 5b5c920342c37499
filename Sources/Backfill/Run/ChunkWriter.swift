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
    /// - Parameters:
    ///   - judged: the only documents that may be written; `nil` for all of the chunk.
    ///   - modified: how many documents were changed is added to it, also by a write that fails afterwards.
    /// - Throws: ``MongoError``; the chunk may then be written in part, and can be run again.
    func write(
        _ chunk: Chunk, only judged: Selection? = nil, under lease: Lease, on client: borrowing Client,
        counting modified: inout Int
    ) throws(MongoError) {
        for batch in batches(of: statements(chunk, judged, fence: lease.fence)) {
            do {
                modified += try run(batch, limit: lease.terms.writeLimit.milliseconds, on: client)
            } catch {
                modified += error.modified
                throw error
            }
        }
    }

    /// One update over the chunk, or one per condition of what was judged.
    private func statements(_ chunk: Chunk, _ judged: Selection?, fence: Expression) -> [BSONDocument] {
        let condition = Expression.all([fence, chunk.membership, job.needs])
        guard let judged else { return [statement(condition.filter)] }
        return judged.groups.map { group in
            let all = group.condition.map { condition && $0 } ?? condition
            return statement(["_id": ["$in": .array(of: group.ids)], "$expr": all.bson])
        }
    }

    private func statement(_ filter: BSONDocument) -> BSONDocument {
        [
            "q": .object(filter), "u": .array(of: job.pipeline.map { .object($0) }), "multi": true,
            "hint": ["_id": 1],
        ]
    }

    /// Commands of less than the 48 MB that the server takes.
    private func batches(of statements: [BSONDocument]) -> [[BSONDocument]] {
        var batches: [[BSONDocument]] = []
        var size = 0
        for statement in statements {
            if batches.isEmpty || size + statement.bytes.count > Self.batchSize
                || batches[batches.count - 1].count == 1_000
            {
                batches.append([])
                size = 0
            }
            batches[batches.count - 1].append(statement)
            size += statement.bytes.count
        }
        return batches
    }

    private static let batchSize = 12 << 20

    private func run(
        _ updates: [BSONDocument], limit: Int64, on client: borrowing Client
    ) throws(MongoError) -> Int {
        var command = BSONBuilder()
        command.append("update", .string(job.job.namespace.collection))
        command.append("updates", .array(of: updates.map { .object($0) }))
        command.append("maxTimeMS", .long(limit))
        command.append("writeConcern", ["w": "majority", "wtimeout": .long(limit)])
        command.append("comment", .string("shipshape backfill \(job.job.name)"))
        if let collectionUUID { command.append("collectionUUID", collectionUUID) }
        let reply = try client.runWriteCommand(command.finish(), on: job.job.namespace.database)
        return reply["nModified"]?.integer ?? 0
    }
}
