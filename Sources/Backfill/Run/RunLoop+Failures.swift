import BSON
import Mongo

/// Documents that cannot be written: each ends the whole update, so it is found, set aside, and the others are written.
extension RunLoop {
    /// Goes on after a write that ended at a document which the server refuses.
    ///
    /// The update goes in the order of `_id`, and what it changed before it ended stays: the first document that still
    /// needs the phase is the one. It is tried alone, and set aside only when it is refused then, too.
    mutating func standAlone(_ error: MongoError, in chunk: Chunk, of phase: Phase) throws -> Attempt {
        guard !chunk.isAlone, chunk.listed?.count != 1 else {
            return try setAside(chunk.through, error, in: chunk, of: phase)
        }
        // A list is halved by who walks it.
        guard chunk.listed == nil else { return .again }
        // Which of them the client changes only it knows, and it does not write them in their order.
        guard phase.isServerSide || walking <= 1 else {
            probe = walking / 2
            return .again
        }
        let suspect = try runner.patience.bridging { try firstNeeding(phase, in: chunk) }
        // Somebody else changed or deleted it meanwhile.
        guard let suspect else { return .again }
        // What lies before it is a chunk of its own, whose writes are confirmed as those of every other.
        let before = try runner.patience.bridging { try chunker.predecessor(of: suspect, after: chunk.after) }
        return .next(
            (before.map { [Chunk(after: chunk.after, through: $0)] } ?? [])
                + [Chunk(after: before ?? chunk.after, alone: suspect)])
    }

    /// Goes on after a look at a chunk that ended at a document: it does not say at which, so the chunk is halved.
    mutating func narrow(_ error: MongoError, in chunk: Chunk, of documents: Int, phase: Phase) throws -> Attempt {
        guard !chunk.isAlone, chunk.listed == nil, documents > 1 else {
            return try standAlone(error, in: chunk, of: phase)
        }
        probe = documents / 2
        return .again
    }

    private func firstNeeding(_ phase: Phase, in chunk: Chunk) throws(MongoError) -> BSONValue? {
        var cursor = collection.find(
            (chunk.membership && phase.needs).filter,
            options: ["projection": ["_id": 1], "sort": ["_id": 1], "hint": ["_id": 1], "limit": 1])
        return try cursor.nextDocument()?["_id"]
    }

    /// Records a document as set aside, and passes it over.
    private mutating func setAside(
        _ id: BSONValue, _ error: MongoError, in chunk: Chunk, of phase: Phase
    ) throws -> Attempt {
        if let full = try setAside(Failure(id, error, phase: progress.phase)) { return .stopped(full) }
        let attempt = try checkpoint(through: chunk.through, modified: 0)
        if !phase.isHarmless, case .written = attempt {
            // It was counted before the write, which it did not take.
            unsettled.append(id)
            try settle(phase)
            if inDoubt.remove(id) != nil { harmed -= 1 }
        }
        return attempt
    }

    /// Records a document; gives the reason to stop when there are more than `--max-errors`.
    mutating func setAside(_ failure: Failure) throws -> BackfillReport.Stop? {
        let isKnown = failed[failure.id] != nil || earlierFailed.contains(failure.id)
        let count = Set(failed.keys).union(earlierFailed).count
        // One too many is not passed over: the next run meets it again.
        guard isKnown || count < runner.options.maxErrors else {
            return .failures(count + 1, allowed: runner.options.maxErrors)
        }
        let runner = runner
        try runner.patience.bridging { try store.setAside(failure) }
        if failed.updateValue(failure, forKey: failure.id) == nil { runner.events(.setAside(failure)) }
        return nil
    }

    /// Looks at the whole collection for documents that still need the job: what arrived or changed meanwhile, without those
    /// that this run has set aside.
    mutating func verify() throws -> Int {
        let (runner, collection) = (runner, collection)
        let result = try runner.patience.bridging {
            try Survey(job: runner.job, collection: collection, looksAhead: false).run()
        }
        survey = result
        return try result.needing - (result.needing > 0 ? countFailed(job.whole) : 0)
    }

    /// How many documents need the phase, without those that this run has set aside.
    func countOpen(_ phase: Phase) throws -> Int {
        guard phase.isServerSide else { return try evaluatedCount(phase) }
        return try runner.patience.bridging {
            var count = try collection.countDocuments(phase.needs.filter)
            guard count > 0 else { return 0 }
            count -= try countFailed(phase)
            return max(0, count)
        }
    }

    private func countFailed(_ phase: Phase) throws -> Int {
        var count = 0
        for slice in failed.keys.map(\.self).commandSlices() {
            count += try collection.countDocuments(["_id": ["$in": .array(of: slice)], "$expr": phase.needs.bson])
        }
        return count
    }

    /// Takes away the records of documents that need the job no more, and gives those that stay.
    func settleFailures() throws -> [Failure] {
        try runner.patience.bridging {
            let recorded = try store.failures()
            var open: Set<BSONValue> = []
            for slice in recorded.map(\.id).commandSlices() {
                let needing = Expression.any(job.phases.flatMap(\.steps).map(\.needs))
                let filter: BSONDocument = ["_id": ["$in": .array(of: slice)], "$expr": needing.bson]
                let cursor = collection.find(filter, options: ["projection": ["_id": 1]])
                open.formUnion(try cursor.documents().compactMap { $0["_id"] })
            }
            try store.forget(failed: recorded.map(\.id).filter { !open.contains($0) })
            return recorded.filter { open.contains($0.id) }
        }
    }
}
