import BSON
import Mongo

/// The end of a chunk: one wait for a majority, for all that it wrote.
extension RunLoop {
    /// Records the chunk as done.
    ///
    /// When an election came between its writes, earlier ones may be rolled back: the checkpoint is taken back and the
    /// chunk is run again. Should the runner die before it has taken it back, the verifying pass finds what is lost.
    mutating func checkpoint(_ chunk: Chunk, modified: Int) throws -> Attempt {
        let earlier = progress
        let documents = try walking ?? count(chunk)
        walking = documents
        // A list leaves the walk over the collection where it is.
        if chunk.listed == nil { (progress.last, progress.walked) = (chunk.through, earlier.walked + documents) }
        progress.chunks += 1
        progress.modified += modified
        let started = ContinuousClock.now
        defer { waited += started.duration(to: .now) }
        let (lease, terms, progress) = (holding.lease, terms, progress)
        let reply = try runner.patience.bridging { try store.save(progress, under: lease) }
        guard let reply else {
            // The lease is not this runner's any more, or the state is gone: the renewal says which.
            try renew()
            throw BackfillError(.leaseLost, "the lease of job \"\(job.job.name)\" changed while a chunk was written")
        }
        guard terms.areConfirmed(by: reply) || !sharesMajority else {
            try confirmJournal()
            self.progress = earlier
            if terms.isUnknown || WriteTerm(reply) == nil { sharesMajority = false }
            countIsLow = countIsLow || modified > 0
            _ = try runner.patience.bridging { try store.save(earlier, under: lease) }
            runner.events(.rerun)
            return .again
        }
        unconfirmed = []
        FaultPoint.afterCheckpoint.reached()
        written = (written.chunks + 1, written.documents + modified)
        return .written(modified, of: chunk)
    }

    /// How many documents lie in the chunk, by the index alone.
    private func count(_ chunk: Chunk) throws -> Int {
        if let listed = chunk.listed { return listed.count }
        let (runner, chunker) = (runner, chunker)
        return try runner.patience.bridging { try chunker.count(chunk) }
    }
}
