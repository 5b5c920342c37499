import BSON
import Mongo

/// One chunk: gate, record, write, checkpoint.
extension RunLoop {
    /// How an attempt at a chunk ended.
    enum Attempt {
        /// So many documents were changed, and the checkpoint says so.
        case written(Int)
        /// It took too long: the next attempt is smaller.
        case tooSlow
        /// The run has to stop before it.
        case stopped(BackfillReport.Stop)
    }

    /// Takes a chunk through all of it, or as much of the chunk as the gate allows.
    mutating func run(_ bounds: Chunk, of phase: Phase) throws -> Attempt {
        var chunk = bounds
        var judged: Selection?
        var entries: ChunkJournal?
        if let gate, !phase.isHarmless {
            guard let decision = try runner.patience.bridging({ try gate.decide(bounds, of: phase, store) }) else {
                return .stopped(.signal)
            }
            guard let allowed = decision.chunk else { return .stopped(.threshold(decision.headroom)) }
            if let full = try reserve(decision, gate) { return .stopped(.threshold(full)) }
            (chunk, judged, entries) = (allowed, decision.judged, decision.journal)
        }
        unsettled += judged?.atRisk ?? []
        if PlantedBug.checkpointFirst.isPlanted {
            var early = progress
            early.last = chunk.through
            try renew(setting: StateStore.checkpoint(early))
        }
        guard let modified = try writeJournaled(chunk, of: phase, only: judged, entries: entries) else {
            return .tooSlow
        }
        inDoubt.subtract(judged?.harmful ?? [])
        if let gate { try settle(gate, phase) }
        FaultPoint.afterWrite.reached()
        progress.last = chunk.through
        progress.chunks += 1
        progress.walked += size.documents
        progress.modified += modified
        try renew(setting: StateStore.checkpoint(progress))
        FaultPoint.afterCheckpoint.reached()
        written = (written.chunks + 1, written.documents + modified)
        return .written(modified)
    }

    /// Records a chunk's harm before it is written, and counts again: another job may have recorded its own meanwhile.
    /// - Returns: the headroom when there is no room after all; the record is taken back then.
    func reserve(_ decision: Gate.Decision, _ gate: Gate) throws -> Headroom? {
        guard !decision.judged.counted.isEmpty else { return nil }
        let namespace = job.job.namespace
        try runner.patience.bridging { try store.record(harm: decision.judged.counted, of: namespace) }
        FaultPoint.afterHarm.reached()
        let headroom = try runner.patience.bridging { try gate.headroom(store) }
        guard headroom.isExceeded else { return nil }
        try runner.patience.bridging { try store.takeBack(harm: decision.newlyCounted, of: namespace) }
        return headroom
    }

    /// Frees the room of the documents at risk that were not harmed after all.
    mutating func settle(_ gate: Gate, _ phase: Phase) throws {
        guard !unsettled.isEmpty else { return }
        let (runner, written) = (runner, unsettled)
        let unharmed = try runner.patience.bridging { try gate.unharmed(among: written, by: phase) }
        try runner.patience.bridging { try store.takeBack(harm: unharmed, of: job.job.namespace) }
        unsettled = []
    }
}
