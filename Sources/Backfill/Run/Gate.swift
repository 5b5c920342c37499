import BSON
import Checking
import Mongo
import Scanning

/// The threshold brake: before each chunk that can do harm, how much of it may be written.
struct Gate {
    let job: CompiledJob
    let collection: MongoCollection
    let ledger: LedgerReader?

    /// The part of a chunk that may be written, and what it will do to its documents.
    struct Decision {
        var chunk: Chunk?
        /// The documents of the chunk that need the job: only these were judged, and only these may be written.
        var judged = Selection()
        /// Those of ``judged`` that sync and will not.
        var harm: [BSONValue] = []
        /// Those of ``judged`` that take room and were not recorded before.
        var newlyCounted: [BSONValue] = []
        var headroom: Headroom
    }

    /// Judges each document of the chunk under the active schema, before and after, and cuts the chunk where what it has
    /// to count would reach the ceiling; no chunk is left when not even the first that counts has room.
    ///
    /// A document that a run which died recorded is pending already, and takes no room again.
    func decide(_ chunk: Chunk, _ store: borrowing StateStore) throws -> Decision {
        let headroom = try headroom(store)
        var decision = Decision(chunk: chunk, headroom: headroom)
        var room = headroom.documents
        var lastBefore: BSONValue?
        try judge(chunk, recorded: { try store.pendingHarm(among: $0, of: collection.namespace) }) { document in
            if document.judgement.isCounted, !document.isRecorded {
                guard room > 0 else {
                    decision.chunk = lastBefore.map { Chunk(after: chunk.after, through: $0) }
                    return false
                }
                room -= 1
                decision.newlyCounted.append(document.id)
            }
            if document.judgement == .harmful { decision.harm.append(document.id) }
            decision.judged.add(document.id, document.judgement)
            lastBefore = document.id
            return true
        }
        return decision
    }
}

extension Gate {
    /// What the sum is now.
    func headroom(_ store: borrowing StateStore) throws -> Headroom {
        Headroom(
            ledger: try ledger?.count(), pending: try store.pendingHarm(seenBy: ledger, marks: true),
            ceiling: job.job.limits.ceiling)
    }
}

extension Gate {
    /// A document that needs the job.
    struct Judged {
        let id: BSONValue
        let judgement: Judgement
        /// Whether the job has it among the pending already.
        let isRecorded: Bool
    }

    private static let batch = 1_000

    /// Judges the documents of the chunk that need the job, in the order of `_id`, until `body` gives `false`.
    /// - Parameter recorded: tells which of these are among the pending.
    func judge(
        _ chunk: Chunk, recorded: ([BSONValue]) throws -> Set<BSONValue>, _ body: (Judged) throws -> Bool
    ) throws {
        guard let active = job.active else { return }
        var preview = Preview(chunk, of: job, in: collection, onlyNeeding: true)
        var isOver = false
        while !isOver {
            var batch: [(id: BSONValue, judgement: Judgement)] = []
            while batch.count < Self.batch {
                guard let outcome = try preview.next() else {
                    isOver = true
                    break
                }
                guard let id = outcome.after["_id"] else { continue }
                batch.append((id, try Judgement(outcome, of: job, under: active)))
            }
            let counted = batch.filter(\.judgement.isCounted).map(\.id)
            let known = counted.isEmpty ? [] : try recorded(counted)
            for (id, judgement) in batch {
                let document = Judged(
                    id: id, judgement: judgement, isRecorded: judgement.isCounted && known.contains(id))
                guard try body(document) else { return }
            }
        }
    }
}
