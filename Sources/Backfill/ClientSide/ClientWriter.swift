import BSON
import Mongo

/// Writes what the client computed: a compare-and-set per document, many in a command.
struct ClientWriter {
    let job: Job
    let phase: Phase
    /// The collection that the job was planned on: should it be replaced meanwhile, the server refuses the write.
    let collectionUUID: BSONValue?

    /// One document to be changed.
    struct Change {
        let id: BSONValue
        /// The document as it was read, and as it is to be.
        let before: BSONDocument
        let after: BSONDocument
        /// That the fields which the change was computed from, or which it writes, are as they were read.
        fileprivate let isSame: [Expression]
        /// The target's new value.
        fileprivate let value: BSONValue
        /// The documents of other collections that have to be there first.
        let created: [ClientCreation]

        /// `nil` for a document that the phase does not change.
        init?(_ outcome: Evaluation.Outcome, of phase: Phase) {
            let step = phase.steps[0].step
            guard outcome.isChanged, let id = outcome.before["_id"],
                let value = (try? outcome.after.value(at: step.target)) ?? nil
            else { return nil }
            let source = step.sources.map { $0.components[0] }.filter { !phase.touched.contains($0) }
            guard let isSame = try? Expression.areExactly(phase.touched + source, asIn: outcome.before) else {
                return nil
            }
            self.isSame = isSame
            self.id = id
            self.value = value
            (before, after, created) = (outcome.before, outcome.after, outcome.created)
        }
    }

    /// Sends one command.
    ///
    /// Each filter holds the fence, that the step is still needed, and that what was read is still there.
    /// - Parameter isFinal: whether it waits for a majority; else the chunk's checkpoint does for it.
    /// - Returns: the reply: `n` documents were as they had been read.
    /// - Throws: ``MongoError``; the updates may then be done in part, and can be sent again.
    func send(
        _ changes: [Change], under lease: Lease, isFinal: Bool, on client: borrowing Client
    ) throws(MongoError) -> BSONDocument {
        let limit = lease.terms.writeLimit.milliseconds
        var command = BSONBuilder()
        command.append("update", .string(job.namespace.collection))
        command.append("updates", .array(of: changes.map { .object(statement($0, fence: lease.fence)) }))
        command.append("ordered", false)
        command.append("maxTimeMS", .long(limit))
        command.append("writeConcern", isFinal ? ["w": "majority", "wtimeout": .long(limit)] : ["w": 1])
        command.append("comment", .string("shipshape backfill \(job.name)"))
        if let collectionUUID { command.append("collectionUUID", collectionUUID) }
        return try client.runWriteCommand(command.finish(), on: job.namespace.database)
    }

    private func statement(_ change: Change, fence: Expression) -> BSONDocument {
        let step = phase.steps[0]
        let condition = Expression.all([fence, step.needs, SyncLock.isFree] + phase.conditions + change.isSame)
        var writes = [(path: step.step.target, value: Expression.constant(change.value))]
        if let marker = step.step.kind.marker { writes.append((marker, .constant(true))) }
        let assignment = Assignment(writes: writes).specification
        let statement: BSONDocument = [
            "q": ["_id": change.id, "$expr": condition.bson], "u": [["$set": .object(assignment)]], "hint": ["_id": 1],
        ]
        // Without the collection's collation texts are compared by their bytes; an _id that is one is found by it.
        return change.id.dependsOnCollation ? statement : statement.appending("collation", ["locale": "simple"])
    }
}
