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
        if !phase.isHarmless {
            switch try admit(bounds, of: phase) {
            case .stopped(let stop): return .stopped(stop)
            case .admitted(let allowed, let decision):
                (chunk, judged, entries) = (allowed, decision.judged, decision.journal)
            }
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
        try settle(phase)
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
}
