import BSON
import Mongo

/// The walk over a range of `_id`s, or over a list of them.
extension RunLoop {
    /// The fewest documents for which a lane is worth its round trips.
    private static let leastOfLane = 50

    /// Walks from the checkpoint to the walk's upper bound.
    mutating func walk() throws -> BackfillReport.Stop? {
        guard let upper = progress.upper else { return nil }
        return try walk { loop, documents in
            guard !loop.progress.isPassOver else { return nil }
            let (after, chunker, lanes) = (loop.progress.last, loop.chunker, loop.lanes(for: documents))
            let chunk = try loop.runner.patience.bridging {
                try chunker.chunk(after: after, upper: upper, documents: documents, parts: lanes)
            }
            return Piece(chunk, documents: upper.hasSameBytes(as: chunk.through) ? nil : documents)
        }
    }

    /// Walks over what `next` gives, until that is nothing; it is asked for about so many documents.
    mutating func walk(
        _ next: (borrowing RunLoop, _ documents: Int) throws -> Piece?
    ) throws -> BackfillReport.Stop? {
        var queue: [Piece] = []
        while true {
            // Time waited is not chunk time.
            if let stop = try passBrakes() { return stop }
            let phase = job.phases[progress.phase]
            let started = ContinuousClock.now
            waited = .zero - runner.lost.total
            let documents = probe ?? size.documents
            let isQueued = !queue.isEmpty
            guard let piece = isQueued ? queue.removeFirst() : try next(self, documents) else { return nil }
            switch try attempt(piece, phase) {
            case .stopped(let stop): return stop
            case .again:
                // A range is cut anew from the checkpoint on.
                queue = piece.chunk.listed == nil ? [] : piece.parts(of: probe ?? size.documents) + queue
            case .next(let pieces): queue = pieces + queue
            case .written(let modified, let chunk):
                waited += runner.lost.total
                let isWhole = chunk == piece.chunk
                if !isWhole { queue = piece.rest(after: chunk).map { [$0] + queue } ?? [] }
                if !isQueued, isWhole, probe == nil { learn(from: documents, since: started) }
                probe = probe.flatMap { $0 * 2 < size.documents ? $0 * 2 : nil }
                runner.events(.chunk(documents: walking ?? 0, modified: modified))
                try rest(after: started.duration(to: .now) - waited)
            }
        }
    }

    /// In how many parts a chunk of so many documents is done side by side.
    private func lanes(for documents: Int) -> Int {
        let phase = job.phases[progress.phase]
        // What the gate judges is counted before each command, and the client writes one batch after the other.
        return phase.isServerSide && phase.isHarmless ? max(1, min(limits.lanes, documents / Self.leastOfLane)) : 1
    }

    /// Sizes the next chunk by what the last one took.
    private mutating func learn(from documents: Int, since started: ContinuousClock.Instant) {
        let wasStuck = size.isStuck
        size.learn(from: documents, time: max(.zero, started.duration(to: .now) - waited))
        if size.isStuck, !wasStuck { runner.events(.stuckAtOneDocument) }
    }

    /// Rests in proportion to the work, and keeps the lease meanwhile.
    private mutating func rest(after work: Duration) throws {
        let end = ContinuousClock.now + work * limits.nice
        let until = min(end, deadline ?? end)
        while .now < until, !runner.stop.isRaised {
            Thread.sleep(min(ContinuousClock.now.duration(to: until), .milliseconds(200)))
            if holding.isHalfOver { try renew() }
        }
    }
}
