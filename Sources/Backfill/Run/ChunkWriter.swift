import BSON
import Mongo

/// Writes one chunk: `update` commands over a range of `_id`s.
struct ChunkWriter {
    let job: Job
    let phase: Phase
    /// The collection that the job was planned on: should it be replaced meanwhile, the server refuses the write.
    let collectionUUID: BSONValue?

    /// One update over many documents.
    struct Update {
        /// What the documents have to be like, without the fence.
        var condition: Expression
        /// The only documents that may be written; `nil` for all of the chunk.
        var ids: BSONValue?
        /// Those of them that sync and will not.
        var harm: [BSONValue] = []
        var pipeline: [BSONDocument]
    }

    /// What is to be sent for a chunk, the updates of one command together.
    /// - Parameter judged: the only documents that may be written; `nil` for all of the chunk.
    func commands(_ chunk: Chunk, only judged: Selection?) -> [[Update]] {
        guard let judged else {
            return [
                [
                    Update(
                        condition: condition(of: phase.steps, in: chunk), ids: chunk.listed.map { .array(of: $0) },
                        pipeline: phase.steps.updateOfNeeding)
                ]
            ]
        }
        let groups = [(judged.counted, phase.steps), (judged.harmless, phase.harmlessSteps)]
        let updates = groups.flatMap { ids, steps in
            let condition = condition(of: steps, in: chunk)
            return steps.isEmpty
                ? []
                : ids.commandSlices().map { slice in
                    Update(
                        condition: condition, ids: .array(of: slice), harm: slice.filter(judged.harmful.contains),
                        pipeline: steps.updateOfNeeding)
                }
        }
        // Two fit into one command, which takes 48 MB; more are sent one by one, so that none takes long.
        return updates.count <= 2 ? (updates.isEmpty ? [] : [updates]) : updates.map { [$0] }
    }

    /// Whether a document needs one of the steps, and no step of an earlier phase.
    func need(of steps: [CompiledStep]) -> Expression {
        PlantedBug.noNeeds.isPlanted
            ? .constant(true) : .all([.any(steps.map(\.needs)), SyncLock.isFree] + phase.conditions)
    }

    /// The `_id`s of a list stand beside the condition.
    private func condition(of steps: [CompiledStep], in chunk: Chunk) -> Expression {
        chunk.listed == nil ? chunk.membership && need(of: steps) : need(of: steps)
    }

    /// Sends one command.
    ///
    /// The filter holds the fence, so that a runner whose lease has ended changes nothing, whenever its command arrives.
    /// - Parameter isFinal: whether it waits for a majority; else the chunk's checkpoint does for it.
    /// - Returns: the server's reply.
    /// - Throws: ``MongoError``; the updates may then be done in part, and can be sent again.
    func send(
        _ updates: [Update], under lease: Lease, isFinal: Bool, on client: borrowing Client
    ) throws(MongoError) -> BSONDocument {
        try send(
            updates.map { .object(statement($0, fence: lease.fence)) }, under: lease, isFinal: isFinal, on: client)
    }

    /// Sends commands side by side, the first on `client` and each other one on a client of its own.
    /// - Returns: the server's reply to each, once all are there.
    func send(
        _ commands: [[Update]], under lease: Lease, isFinal: Bool, on client: borrowing Client, and pool: ClientPool
    ) -> [Result<BSONDocument, MongoError>] {
        let others = commands.dropFirst().map { updates in
            Aside(on: pool) { client in try send(updates, under: lease, isFinal: isFinal, on: client) }
        }
        let first = commands.prefix(1).map { updates in
            Result { () throws(MongoError) in try send(updates, under: lease, isFinal: isFinal, on: client) }
        }
        return first
            + others.map { other in
                other.end().mapError { error in
                    guard let error = error as? MongoError else {
                        preconditionFailure("a client throws no other error")
                    }
                    return error
                }
            }
    }

    /// Takes locks away that are still what they were, and waits for a majority.
    /// - Returns: how many were taken away.
    func unset(
        _ locks: [(id: BSONValue, lock: BSONDocument)], under lease: Lease, on client: borrowing Client
    ) throws(MongoError) -> Int {
        let statements = locks.map { id, lock -> BSONValue in
            let isSame = SyncLock.fields.map { name in
                let field = Expression(.string("$\(name)"))
                return lock[name].map { field == .constant($0) } ?? field.isMissing
            }
            return [
                "q": ["_id": id, "$expr": Expression.all([lease.fence] + isSame).bson],
                "u": [["$unset": .array(of: SyncLock.fields.map { .string($0) })]],
            ]
        }
        return try send(statements, under: lease, isFinal: true, on: client)["nModified"]?.integer ?? 0
    }

    private func send(
        _ statements: [BSONValue], under lease: Lease, isFinal: Bool, on client: borrowing Client
    ) throws(MongoError) -> BSONDocument {
        let limit = lease.terms.writeLimit.milliseconds
        var command = BSONBuilder()
        command.append("update", .string(job.namespace.collection))
        command.append("updates", .array(of: statements))
        command.append("maxTimeMS", .long(limit))
        command.append("writeConcern", isFinal ? ["w": "majority", "wtimeout": .long(limit)] : ["w": 1])
        command.append("comment", .string("shipshape backfill \(job.name)"))
        if let collectionUUID { command.append("collectionUUID", collectionUUID) }
        return try client.runWriteCommand(command.finish(), on: job.namespace.database)
    }

    private func statement(_ update: Update, fence: Expression) -> BSONDocument {
        let condition = fence && update.condition
        let filter = update.ids.map { ["_id": ["$in": $0], "$expr": condition.bson] } ?? condition.filter
        return [
            "q": .object(filter), "u": .array(of: update.pipeline.map { .object($0) }), "multi": true,
            "hint": ["_id": 1],
        ]
    }
}
