import BSON
import Mongo

/// One chunk: gate, record, write, checkpoint.
extension RunLoop {
    /// How an attempt at a chunk ended.
    enum Attempt {
        /// So many documents of the chunk, or of as much of it as could be run, were changed, and the checkpoint says so.
        case written(Int, of: Chunk)
        /// It is to be tried again from the checkpoint on, perhaps smaller.
        case again
        /// These are next in its place, to find a document that cannot be written.
        case next([Piece])
        /// The run has to stop before it.
        case stopped(BackfillReport.Stop)
    }

    /// Takes a chunk through all of it, and finds out which document it ended at, should one of them end it.
    mutating func attempt(_ piece: Piece, _ phase: Phase) throws -> Attempt {
        walking = piece.documents
        terms = ChunkTerms()
        do {
            let attempt = try run(piece.chunk, of: phase)
            // Whatever was written of a chunk that is not checkpointed, its journal has to stay.
            try confirmJournal()
            return attempt
        } catch let failure as DocumentFailure {
            try confirmJournal()
            return try narrow(failure.error, in: piece.chunk, of: phase)
        } catch {
            try? confirmJournal()
            throw error
        }
    }

    /// Takes a chunk through all of it, or as much of the chunk as the gate allows.
    mutating func run(_ bounds: Chunk, of phase: Phase) throws -> Attempt {
        var (chunk, phase) = try cleared(bounds, for: phase)
        var judged: Selection?
        var entries: ChunkJournal?
        if !phase.isHarmless {
            switch try admit(chunk, of: phase) {
            case .stopped(let stop): return .stopped(stop)
            case .admitted(let allowed, let decision):
                (chunk, judged, entries) = (allowed, decision.judged, decision.journal)
            }
        }
        if chunk != bounds { walking = nil }
        unsettled += judged?.atRisk ?? []
        if PlantedBug.checkpointFirst.isPlanted {
            var early = progress
            early.last = chunk.through
            try renew(setting: StateStore.checkpoint(early))
        }
        switch try writeJournaled(chunk, of: phase, only: judged, entries: entries) {
        case .tooSlow: return .again
        case .refused(let error): return try standAlone(error, in: chunk, of: phase)
        case .done(let modified):
            FaultPoint.afterWrite.reached()
            let attempt = try checkpoint(chunk, modified: modified)
            guard case .written = attempt else { return attempt }
            inDoubt.subtract(judged?.harmful ?? [])
            // What was written is read with majority, so behind the checkpoint.
            try settle(phase)
            return attempt
        }
    }
}
