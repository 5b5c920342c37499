import BSON
import Checking
import Mongo
import ServerSchema

/// The threshold brake: before each chunk that can do harm, how much of it may be written.
struct Gate {
    /// The job, with the schema that is active now.
    let job: CompiledJob
    let collection: MongoCollection
    let ledger: GateLedger
    let limits: Job.Limits
    let stop: StopSignal

    /// The part of a chunk that may be written, and what it will do to its documents.
    struct Decision {
        var chunk: Chunk?
        /// The documents of the chunk that need the job: only these were judged, and only these may be written.
        var judged = Selection()
        /// Those of ``judged`` that take room and were not recorded before.
        var newlyCounted: [BSONValue] = []
        /// What the journal has to hold of ``judged``.
        var journal: ChunkJournal?
        /// The harmful ones that sync and that the ledger shows nevertheless: it has not noticed their repair yet.
        var stale: [BSONValue] = []
    }

    /// Judges each document of the chunk under the active schema, before and after, and cuts the chunk where what it has
    /// to count would exceed the room; no chunk is left when not even the first that counts has room.
    ///
    /// A document that a run which died recorded is pending already, and one at risk that the ledger shows is counted
    /// there: neither takes room again.
    /// - Returns: `nil` when the run was asked to stop meanwhile.
    func decide(_ chunk: Chunk, of phase: Phase, room: Int, _ store: borrowing StateStore) throws -> Decision? {
        var decision = Decision(chunk: chunk, journal: ChunkJournal(touched: phase.touched))
        var room = room
        var seen: [BSONValue] = []
        let isJudged = try judge(chunk, of: phase, recorded: { try recorded(&$0, store) }) { document in
            if document.judgement.isCounted, !document.isRecorded {
                guard room > 0 else {
                    decision.chunk = chunk.cut(to: seen)
                    return false
                }
                room -= 1
                decision.newlyCounted.append(document.id)
            }
            if document.isStale { decision.stale.append(document.id) }
            decision.judged.add(document.id, document.judgement)
            if let before = document.outcome.before {
                try decision.journal?.add(
                    before: before, after: document.outcome.after,
                    positions: phase.removesFields ? try before.positions(of: phase.touched) : nil)
            }
            seen.append(document.id)
            return true
        }
        return isJudged ? decision : nil
    }

    private func recorded(_ batch: inout [Judged], _ store: borrowing StateStore) throws {
        let counted = batch.filter(\.judgement.isCounted).map(\.id)
        let pending = try store.pendingHarm(among: counted, of: collection.namespace)
        let shown = try ledger.holding(counted, of: collection.namespace)
        for index in batch.indices {
            let (id, judgement) = (batch[index].id, batch[index].judgement)
            batch[index].isRecorded = pending.contains(id) || judgement == .atRisk && shown.contains(id)
            batch[index].isStale = judgement == .harmful && shown.contains(id)
        }
    }
}

extension Gate {
    /// What the sum is now, or at most: as long as there is room, a document that the ledger shows may be pending too.
    func headroom(_ store: borrowing StateStore) throws -> Headroom {
        // Pending first: what reaches the ledger between the two looks is counted twice, and not left out.
        let pending = try store.pendingHarm()
        let atMost = Headroom(ledger: try ledger.count(), pending: pending, ceiling: limits.ceiling)
        return atMost.isExceeded ? try exactHeadroom(store) : atMost
    }

    /// What the sum is now.
    /// - Parameter marks: whether what the ledger shows is marked, and is not looked up again; a plan writes nothing.
    func exactHeadroom(_ store: borrowing StateStore, marks: Bool = true) throws -> Headroom {
        let pending = try store.pendingHarm(seenBy: ledger, lag: limits.brakes.ledgerLag, marks: marks)
        return Headroom(ledger: try ledger.count(), pending: pending, ceiling: limits.ceiling)
    }
}

extension Gate {
    /// A document that needs the job.
    struct Judged {
        let id: BSONValue
        let outcome: Preview.Outcome
        let judgement: Judgement
        /// Whether it is counted already.
        var isRecorded = false
        /// Whether it is harmful and the ledger shows it.
        var isStale = false
    }

    static let batch = 1_000

    /// Judges the documents of the chunk that need the job, in the order of `_id`, until `body` gives `false`.
    /// - Parameter recorded: completes a batch by what is known of its documents.
    /// - Returns: `false` when the run was asked to stop meanwhile.
    @discardableResult
    func judge(
        _ chunk: Chunk, of phase: Phase, recorded: (inout [Judged]) throws -> Void, _ body: (Judged) throws -> Bool
    ) throws -> Bool {
        guard let active = job.active else { return true }
        var preview = Preview(chunk, through: phase, in: job.context(collection), onlyNeeding: true)
        var isOver = false
        while !isOver {
            guard !stop.isRaised else { return false }
            var batch: [Judged] = []
            while batch.count < Self.batch {
                guard let outcome = try blaming({ try preview.next() }) else {
                    isOver = true
                    break
                }
                guard let id = outcome.after["_id"] else { continue }
                batch.append(
                    Judged(id: id, outcome: outcome, judgement: try Judgement(outcome, of: phase, under: active)))
            }
            try recorded(&batch)
            for document in batch {
                guard try body(document) else { return true }
            }
        }
        return true
    }
}
