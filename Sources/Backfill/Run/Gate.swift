import BSON
import Checking
import Mongo
import Scanning
import ServerSchema

/// The threshold brake: before each chunk that can do harm, how much of it may be written.
struct Gate {
    let job: CompiledJob
    let collection: MongoCollection
    let ledger: LedgerReader?
    let stop: StopSignal

    /// The part of a chunk that may be written, and what it will do to its documents.
    struct Decision {
        var chunk: Chunk?
        /// The documents of the chunk that need the phase: only these were judged, and only these may be written.
        var judged = Selection()
        /// Those of ``judged`` that take room and were not recorded before.
        var newlyCounted: [BSONValue] = []
        /// What the journal has to hold of ``judged``.
        var journal: ChunkJournal?
        var headroom: Headroom
    }

    /// Judges each document of the chunk under the active schema, before and after, and cuts the chunk where what it has
    /// to count would reach the ceiling; no chunk is left when not even the first that counts has room.
    ///
    /// A document that a run which died recorded is pending already, and one at risk that the ledger shows is counted
    /// there: neither takes room again.
    /// - Returns: `nil` when the run was asked to stop meanwhile.
    func decide(_ chunk: Chunk, of phase: Phase, _ store: borrowing StateStore) throws -> Decision? {
        let headroom = try headroom(store)
        var decision = Decision(chunk: chunk, journal: ChunkJournal(touched: phase.touched), headroom: headroom)
        var room = headroom.documents
        var lastBefore: BSONValue?
        let isJudged = try judge(chunk, of: phase, recorded: { try counted(among: $0, store) }) { document in
            if document.judgement.isCounted, !document.isRecorded {
                guard room > 0 else {
                    decision.chunk = lastBefore.map { Chunk(after: chunk.after, through: $0) }
                    return false
                }
                room -= 1
                decision.newlyCounted.append(document.id)
            }
            decision.judged.add(document.id, document.judgement)
            if let before = document.outcome.before {
                try decision.journal?.add(
                    before: before, after: document.outcome.after,
                    positions: phase.removesFields ? try before.positions(of: phase.touched) : nil)
            }
            lastBefore = document.id
            return true
        }
        return isJudged ? decision : nil
    }

    private func counted(among batch: [Judged], _ store: borrowing StateStore) throws -> Set<BSONValue> {
        let namespace = collection.namespace
        let atRisk = batch.filter { $0.judgement == .atRisk }.map(\.id)
        return try store.pendingHarm(among: batch.filter(\.judgement.isCounted).map(\.id), of: namespace)
            .union(ledger?.holding(atRisk, of: namespace) ?? [])
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
    /// A document that needs the phase.
    struct Judged {
        let id: BSONValue
        let outcome: Preview.Outcome
        let judgement: Judgement
        /// Whether it is counted already.
        var isRecorded = false
    }

    private static let batch = 1_000

    /// Judges the documents of the chunk that need the phase, in the order of `_id`, until `body` gives `false`.
    /// - Parameter recorded: tells which of a batch are counted already.
    /// - Returns: `false` when the run was asked to stop meanwhile.
    @discardableResult
    func judge(
        _ chunk: Chunk, of phase: Phase, recorded: ([Judged]) throws -> Set<BSONValue>, _ body: (Judged) throws -> Bool
    ) throws -> Bool {
        guard let active = job.active else { return true }
        var preview = Preview(chunk, through: phase, in: job.context(collection), onlyNeeding: true)
        var isOver = false
        while !isOver {
            guard !stop.isRaised else { return false }
            var batch: [Judged] = []
            while batch.count < Self.batch {
                guard let outcome = try preview.next() else {
                    isOver = true
                    break
                }
                guard let id = outcome.after["_id"] else { continue }
                batch.append(
                    Judged(id: id, outcome: outcome, judgement: try Judgement(outcome, of: phase, under: active)))
            }
            let known = try recorded(batch)
            for var document in batch {
                document.isRecorded = known.contains(document.id)
                guard try body(document) else { return true }
            }
        }
        return true
    }
}

extension Gate {
    /// Of documents at risk that were written, those that were not harmed: they sync, are gone, or fail for something that
    /// no step which can do harm has changed, and so failed before.
    func unharmed(among ids: [BSONValue], by phase: Phase) throws -> [BSONValue] {
        guard let active = job.active else { return ids }
        var harmed: Set<BSONValue> = []
        for slice in ids.commandSlices(count: Self.batch) {
            var cursor = collection.find(
                ["_id": ["$in": .array(of: slice)]], options: ["readConcern": ["level": "majority"]])
            while let view = try cursor.next() {
                guard try active.check(view) == .certain else { continue }
                let violations = try active.violations(in: view, includingInfo: false).filter { $0.level == .certain }
                let isTheirs = violations.contains { violation in
                    !phase.riskySteps.flatMap(\.step.targets).contains { violation.path.meets($0) }
                }
                if !isTheirs, let id = BSONDocument(copying: view)["_id"] { harmed.insert(id) }
            }
        }
        return ids.filter { !harmed.contains($0) }
    }
}

extension SchemaPath {
    /// Whether one of the two leads to the other.
    fileprivate func meets(_ path: FieldPath) -> Bool {
        zip(steps, path.components).allSatisfy { step, name in
            step == .field(name) || step == .values || name == FieldPath.each
        }
    }
}
