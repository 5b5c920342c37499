import BSON
import Mongo

/// Documents that cannot be written: each ends the whole update, so it is found, set aside, and the others are written.
extension RunLoop {
    /// Goes on after a write that ended at a document which the server refuses: looks for it.
    ///
    /// It is tried alone, and set aside only when it is refused then, too.
    mutating func standAlone(_ error: MongoError, in chunk: Chunk, of phase: Phase) throws -> Attempt {
        guard !chunk.isSingle else { return try setAside(error, in: chunk, of: phase) }
        return isWrittenInOrder(phase) ? try first(in: chunk, of: phase) : try narrow(error, in: chunk, of: phase)
    }

    /// Whether the first document of a chunk that still needs the phase is the one that ended its update: what lay before
    /// it was changed, and stays so.
    ///
    /// Several updates of one command, the client's own, and shards are each in an order of their own.
    private func isWrittenInOrder(_ phase: Phase) -> Bool {
        phase.isServerSide && phase.isHarmless && (phase.tellsWhatWas || !runner.keepsJournal) && sharesMajority
    }

    /// Goes on after a chunk that ended at a document and does not say at which: each half of it is run by itself.
    mutating func narrow(_ error: MongoError, in chunk: Chunk, of phase: Phase) throws -> Attempt {
        guard !chunk.isSingle else { return try setAside(error, in: chunk, of: phase) }
        if let ids = chunk.listed { return .next(Piece(listing: ids).parts(of: (ids.count + 1) / 2)) }
        let (runner, chunker) = (runner, chunker)
        let halves = try runner.patience.bridging { () throws -> [Piece]? in
            let count = try chunker.count(chunk)
            guard count > 1 else { return nil }
            let first = try chunker.chunk(after: chunk.after, upper: chunk.through, documents: count / 2)
            guard !first.through.hasSameBytes(as: chunk.through) else { return nil }
            return [
                Piece(first, documents: count / 2),
                Piece(Chunk(after: first.through, through: chunk.through), documents: count - count / 2),
            ]
        }
        return try halves.map { .next($0) } ?? first(in: chunk, of: phase)
    }

    /// The first document of the chunk that needs the phase by itself, between what lies before it and behind it.
    private func first(in chunk: Chunk, of phase: Phase) throws -> Attempt {
        let (runner, chunker) = (runner, chunker)
        return try runner.patience.bridging {
            // Somebody else may have changed or deleted it meanwhile.
            guard let suspect = try firstNeeding(phase, in: chunk) else { return .again }
            // What lies before it is a chunk of its own, whose writes are confirmed as those of every other.
            let before = try chunker.predecessor(of: suspect, after: chunk.after)
            var pieces = [Piece(Chunk(after: before ?? chunk.after, alone: suspect), documents: 1)]
            if let before { pieces.insert(Piece(Chunk(after: chunk.after, through: before), documents: nil), at: 0) }
            if !suspect.hasSameBytes(as: chunk.through) {
                pieces.append(Piece(Chunk(after: suspect, through: chunk.through), documents: nil))
            }
            return .next(pieces)
        }
    }

    private func firstNeeding(_ phase: Phase, in chunk: Chunk) throws(MongoError) -> BSONValue? {
        var cursor = collection.find(
            chunk.filter(where: phase.mayNeed),
            options: ["projection": ["_id": 1], "sort": ["_id": 1], "hint": ["_id": 1], "limit": 1])
        return try cursor.nextDocument()?["_id"]
    }

    /// Records a document as set aside, and passes it over.
    private mutating func setAside(_ error: MongoError, in chunk: Chunk, of phase: Phase) throws -> Attempt {
        let id = chunk.through
        if let full = try setAside(Failure(id, error, phase: progress.phase)) { return .stopped(full) }
        let attempt = try checkpoint(chunk, modified: 0)
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
        let (job, failed, lanes, pool) = (runner.job, setAsideList, limits.lanes, pool)
        let (result, aside) = try reading { collection in
            let result = try Survey(job: job, collection: collection, looksAhead: false).run(in: lanes, on: pool)
            guard result.needing > 0, let failed else { return (result, 0) }
            return (result, try Survey(job: job, collection: collection, only: failed, looksAhead: false).run().needing)
        }
        survey = result
        return max(0, result.needing - aside)
    }

    /// How many documents need the phase, without those that this run has set aside.
    mutating func countOpen(_ phase: Phase) throws -> Int {
        guard phase.isServerSide else { return try evaluatedCount(phase) }
        let failed = setAsideList
        return try reading { collection in
            var count = try collection.countDocuments(phase.mayNeed.filter)
            for chunk in count > 0 ? failed?.chunks ?? [] : [] {
                count -= try collection.countDocuments(chunk.filter(where: phase.mayNeed))
            }
            return max(0, count)
        }
    }

    /// What this run has set aside; `nil` when that is nothing.
    private var setAsideList: IDList? {
        failed.isEmpty ? nil : IDList(ids: failed.keys.sorted { BSONOrder.precedes($0, $1) })
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
