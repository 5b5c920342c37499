import BSON
import Mongo

/// The commands of one chunk, and what becomes of those that fail.
extension RunLoop {
    /// How the write of a chunk ended.
    enum Writing {
        /// So many documents were changed.
        case done(Int)
        /// It is to be tried anew, and smaller.
        case tooSlow
        /// A document of it cannot be written.
        case refused(MongoError)
    }

    /// The collection's UUID, where the server compares it with every write.
    var checkedUUID: BSONValue? { plan.checksUUID ? plan.collectionUUID : nil }

    /// Writes one chunk, of it only the documents that the gate judged.
    /// - Parameter journals: what the documents of each part have to be like still; `nil` when undo would see that they
    ///   were not.
    mutating func write(
        _ chunk: Chunk, of phase: Phase, only judged: Selection?, as journals: [ChunkJournal]?
    ) throws -> Writing {
        guard phase.isServerSide else { return try counting { try $0.write(chunk, ofClient: phase, only: judged) } }
        let writer = ChunkWriter(job: job.job, phase: phase, collectionUUID: checkedUUID)
        let lanes =
            try journals.map { try $0.map { try writer.commands(as: $0, only: judged) } }
            ?? chunk.parts.map { writer.commands($0, only: judged) }
        return try counting { loop in
            for index in 0..<(lanes.map(\.count).max() ?? 0) {
                let commands = lanes.compactMap { $0.indices.contains(index) ? $0[index] : nil }
                let (isFinal, pool) = (!loop.sharesMajority, loop.pool)
                let harm = commands.flatMap { $0.flatMap(\.harm) }
                let ended = try loop.sendAll(harm: harm) { lease, client in
                    writer.send(commands, under: lease, isFinal: isFinal, on: client, and: pool)
                }
                if let ended { return ended }
            }
            return nil
        }
    }

    /// Writes a chunk and tells how many documents it changed, unless `write` gave up on it and tells why.
    private mutating func counting(_ write: (inout RunLoop) throws -> Writing?) throws -> Writing {
        do {
            if let ended = try write(&self) { return ended }
        } catch {
            saveCount()
            throw error
        }
        defer { uncounted = 0 }
        return .done(uncounted)
    }

    /// The run ends within a chunk: what it had changed of it is kept, if the lease and the deployment allow it.
    mutating func saveCount() {
        guard uncounted > 0 else { return }
        progress.modified += uncounted
        written.documents += uncounted
        uncounted = 0
        _ = try? store.renew(holding.lease, setting: ["modified": .integer(progress.modified)])
    }

    /// Sends one command, which may be repeated; `nil` when it is done.
    /// - Parameters:
    ///   - harm: the documents that it makes unsyncable.
    ///   - isConfirmed: whether the command itself waits for a majority, and its reply names no term.
    ///   - command: gives the server's reply.
    mutating func send(
        harm: [BSONValue], isConfirmed: Bool = false,
        _ command: (Lease, borrowing Client) throws(MongoError) -> BSONDocument
    ) throws -> Writing? {
        try sendAll(harm: harm, isConfirmed: isConfirmed) { lease, client in
            [Result { () throws(MongoError) in try command(lease, client) }]
        }
    }

    /// Sends commands side by side, which may be repeated; `nil` when all are done.
    /// - Parameter commands: gives the server's replies.
    private mutating func sendAll(
        harm: [BSONValue], isConfirmed: Bool = false,
        _ commands: (Lease, borrowing Client) -> [Result<BSONDocument, MongoError>]
    ) throws -> Writing? {
        let canShrink = walking.map { $0 > 1 } ?? size.canShrink
        while !runner.stop.isRaised {
            if holding.isHalfOver { try renew() }
            let (lease, runner) = (holding.lease, runner)
            FaultPoint.beforeWrite.reached()
            // Counted before the write, as the record is: of one that fails nobody knows how far it came.
            harmed += harm.count { !inDoubt.contains($0) }
            inDoubt.formUnion(harm)
            do {
                var timeLimit: MongoError?
                try runner.patience.bridging {
                    var failures: [MongoError] = []
                    for outcome in commands(lease, client) {
                        switch outcome {
                        case .success(let reply):
                            uncounted += reply["nModified"]?.integer ?? 0
                            if !isConfirmed { terms.add(reply) }
                        case .failure(let error):
                            uncounted += error.modified ?? 0
                            countIsLow = countIsLow || error.modified == nil
                            holding.doubt(error)
                            failures.append(error)
                        }
                    }
                    if let error = failures.first(where: { !$0.isTimeLimit }) { throw error }
                    // What took too long is not repeated as it is.
                    timeLimit = failures.first
                }
                if let timeLimit { throw timeLimit }
            } catch let error as MongoError where error.isTimeLimit && canShrink {
                halve()
                return .tooSlow
            } catch let error as MongoError where error.code == .collectionUUIDMismatch {
                throw replaced
            } catch let error as MongoError where error.isOfOneDocument {
                return .refused(error)
            } catch let error as MongoError where error.code == .queryPlanKilled {
                throw BackfillError(
                    .bindingChanged,
                    "job \"\(job.job.name)\" cannot go on: \(job.job.namespace) was dropped or renamed while it ran")
            }
            // A write that came after the fence changed nothing and reads like one that had nothing to change.
            if holding.isCertain { return nil }
            try renew()
            guard canShrink else { continue }
            halve()
            return .tooSlow
        }
        return .tooSlow
    }

    var replaced: BackfillError {
        BackfillError(
            .bindingChanged,
            "job \"\(job.job.name)\" cannot go on: \(job.job.namespace) was dropped and created anew while it ran")
    }

    /// Halves the chunks to come, as that at hand was too large.
    private mutating func halve() {
        let documents = walking ?? probe ?? size.documents
        if documents < size.documents { probe = max(1, documents / 2) } else { size.shrink() }
        runner.events(.halved(documents: probe ?? size.documents))
    }
}
