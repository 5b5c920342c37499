import BSON
import Mongo

/// The journal of one attempt at a chunk: read, written before the chunk, and compared with what the chunk changed.
extension RunLoop {
    /// Journals and writes a chunk, of it only the documents that the gate judged; `nil` when it is to be tried anew, and
    /// smaller.
    /// - Parameter entries: what the gate saw for the journal; `nil` reads it.
    mutating func writeJournaled(
        _ chunk: Chunk, of phase: Phase, only judged: Selection?, entries: ChunkJournal?
    ) throws -> Int? {
        // What the client writes is journaled batch by batch, as it was read: a compare-and-set changes nothing else.
        guard phase.isServerSide else { return try write(chunk, of: phase, only: judged) }
        let journaled = try keepJournal(of: chunk, phase, entries: entries)
        guard journaled != 0 else {
            // Nothing needs the phase; what arrives meanwhile is found by the next pass.
            defer { uncounted = 0 }
            return uncounted
        }
        let earlier = uncounted
        let modified = try write(chunk, of: phase, only: judged)
        compare(chunk, changed: (modified ?? uncounted) - earlier, journaled: journaled)
        return modified
    }

    /// Writes the journal of a chunk.
    /// - Parameter entries: what the gate saw; `nil` reads it.
    /// - Returns: how many documents it holds: none needs the phase when there are none. `nil` when no journal is kept.
    @discardableResult
    mutating func keepJournal(of chunk: Chunk, _ phase: Phase, entries: ChunkJournal?) throws -> Int? {
        guard runner.keepsJournal else { return nil }
        let journal = try entries ?? readJournal(of: chunk, phase)
        guard journal.count > 0 else { return 0 }
        if holding.isHalfOver { try renew() }
        journaled += 1
        let key = StateStore.JournalKey(
            sequence: Int64(holding.lease.token) << 32 | journaled, pass: progress.pass, phase: progress.phase,
            chunk: chunk)
        try runner.patience.bridging { try store.write(journal, as: key, touched: phase.touched) }
        FaultPoint.afterJournal.reached()
        return journal.count
    }

    private func readJournal(of chunk: Chunk, _ phase: Phase) throws -> ChunkJournal {
        let reading = JournalReading(
            chunk: chunk, phase: phase, collection: collection,
            collectionUUID: plan.checksUUID ? plan.collectionUUID : nil)
        do {
            return try runner.patience.bridging { try reading.run() }
        } catch let error as MongoError {
            if error.code == .collectionUUIDMismatch { throw replaced }
            guard error.isTooLarge else { throw error }
            throw BackfillError.tooLarge(job.job.namespace)
        }
    }

    /// Keeps in mind that the chunk changed more documents than its journal holds: some came, or were changed, between the
    /// two.
    private mutating func compare(_ chunk: Chunk, changed: Int, journaled: Int?) {
        guard let journaled, changed > journaled else { return }
        let gap = UnjournaledChunk(
            sequence: Int64(holding.lease.token) << 32 | self.journaled, phase: progress.phase, chunk: chunk,
            changed: changed, journaled: journaled)
        progress.unjournaled = (progress.unjournaled + [.object(gap.document)]).suffix(UnjournaledChunk.most)
    }
}
