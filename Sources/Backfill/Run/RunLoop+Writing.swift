import BSON
import Mongo

/// The commands of one chunk, and what becomes of those that fail.
extension RunLoop {
    /// Writes one chunk, of it only the documents that the gate judged; `nil` when it is to be tried anew, and smaller.
    mutating func write(_ chunk: Chunk, of phase: Phase, only judged: Selection?) throws -> Int? {
        guard phase.isServerSide else { return try counting { try $0.write(chunk, ofClient: phase, only: judged) } }
        let writer = ChunkWriter(
            job: job.job, phase: phase, collectionUUID: plan.checksUUID ? plan.collectionUUID : nil)
        return try counting { loop in
            for updates in writer.commands(chunk, only: judged) {
                let isSent = try loop.send(harm: updates.flatMap(\.harm)) { lease, client throws(MongoError) in
                    try writer.send(updates, under: lease, on: client)
                }
                guard isSent else { return false }
            }
            return true
        }
    }

    /// Writes a chunk and tells how many documents it changed; `nil` when `write` gave up on it.
    private mutating func counting(_ write: (inout RunLoop) throws -> Bool) throws -> Int? {
        do {
            guard try write(&self) else { return nil }
        } catch {
            saveCount()
            throw error
        }
        defer { uncounted = 0 }
        return uncounted
    }

    /// The run ends within a chunk: what it had changed of it is kept, if the lease and the deployment allow it.
    mutating func saveCount() {
        guard uncounted > 0 else { return }
        progress.modified += uncounted
        written.documents += uncounted
        uncounted = 0
        _ = try? store.renew(holding.lease, setting: ["modified": .integer(progress.modified)])
    }

    /// Sends one command, which may be repeated; `false` when it took too long.
    /// - Parameters:
    ///   - harm: the documents that it makes unsyncable.
    ///   - command: gives how many documents it changed.
    mutating func send(
        harm: [BSONValue], _ command: (Lease, borrowing Client) throws(MongoError) -> Int
    ) throws -> Bool {
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
                    do throws(MongoError) {
                        uncounted += try command(lease, client)
                    } catch {
                        uncounted += error.modified ?? 0
                        countIsLow = countIsLow || error.modified == nil
                        // What took too long is not repeated as it is.
                        guard error.isTimeLimit else { throw error }
                        timeLimit = error
                    }
                }
                if let timeLimit { throw timeLimit }
                // A write that came after the fence changed nothing and reads like one that had nothing to change.
                if holding.isCertain { return true }
                try renew()
                guard size.canShrink else { continue }
                halve()
                return false
            } catch let error as MongoError where error.isTimeLimit && size.canShrink {
                halve()
                return false
            } catch let error as MongoError where error.code == .collectionUUIDMismatch {
                throw replaced
            } catch let error as MongoError where error.code == .documentValidationFailure {
                throw BackfillError(
                    .schemaMismatch,
                    "job \"\(job.job.name)\" cannot go on: the validator of \(job.job.namespace) refuses what it writes; "
                        + "change the validator (collMod) or the job's values, under a new name")
            } catch let error as MongoError where error.code == .duplicateKey {
                throw BackfillError(
                    .schemaMismatch,
                    "job \"\(job.job.name)\" cannot go on: it writes a value twice into a unique index of "
                        + "\(job.job.namespace): \(error.message)")
            } catch let error as MongoError where error.isTooLarge {
                throw BackfillError(
                    .schemaMismatch,
                    "job \"\(job.job.name)\" cannot go on: a document of \(job.job.namespace) would grow beyond what "
                        + "MongoDB stores: \(error.message)")
            } catch let error as MongoError where error.code == .queryPlanKilled {
                throw BackfillError(
                    .bindingChanged,
                    "job \"\(job.job.name)\" cannot go on: \(job.job.namespace) was dropped or renamed while it ran")
            }
        }
        return false
    }

    var replaced: BackfillError {
        BackfillError(
            .bindingChanged,
            "job \"\(job.job.name)\" cannot go on: \(job.job.namespace) was dropped and created anew while it ran")
    }

    private mutating func halve() {
        size.shrink()
        runner.events(.halved(documents: size.documents))
    }
}

extension MongoError {
    /// Whether a document would pass the server's limits: its size, or its depth.
    var isTooLarge: Bool { [10_334, 17_419, 17_420, 15].contains(code.rawValue) }
}
