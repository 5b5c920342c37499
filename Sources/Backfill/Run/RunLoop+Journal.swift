import BSON
import Mongo

/// The journal of one attempt at a chunk: read, written before the chunk, and compared with what the chunk changed.
extension RunLoop {
    /// Journals and writes a chunk, of it only the documents that the gate judged.
    /// - Parameter entries: what the gate saw for the journal; `nil` reads it.
    mutating func writeJournaled(
        _ chunk: Chunk, of phase: Phase, only judged: Selection?, entries: ChunkJournal?
    ) throws -> Writing {
        // What the client writes is journaled batch by batch, as it was read: a compare-and-set changes nothing else.
        guard phase.isServerSide else { return try write(chunk, of: phase, only: judged, as: nil) }
        guard runner.keepsJournal else { return try write(chunk, of: phase, only: judged, as: nil) }
        let journals = try entries.map { [$0] } ?? readJournals(of: chunk, phase)
        let journaled = try keepJournal(of: chunk, phase, entries: ChunkJournal(joining: journals))
        guard journaled != 0 else {
            // Nothing needs the phase; what arrives meanwhile is found by the next pass.
            defer { uncounted = 0 }
            return .done(uncounted)
        }
        let earlier = uncounted
        let writing = try write(chunk, of: phase, only: judged, as: phase.tellsWhatWas ? nil : journals)
        let changed = if case .done(let modified) = writing { modified } else { uncounted }
        compare(chunk, changed: changed - earlier, journaled: journaled)
        return writing
    }

    /// Writes the journal of a chunk.
    /// - Returns: how many documents it holds: none needs the phase when there are none.
    @discardableResult
    mutating func keepJournal(of chunk: Chunk, _ phase: Phase, entries journal: ChunkJournal) throws -> Int {
        guard journal.count > 0 else { return 0 }
        if holding.isHalfOver { try renew() }
        journaled += 1
        let key = StateStore.JournalKey(
            sequence: Int64(holding.lease.token) << 32 | journaled, pass: progress.pass, phase: progress.phase,
            chunk: chunk)
        let (runner, isFinal) = (runner, !sharesMajority)
        let replies = try runner.patience.bridging {
            try store.write(journal, as: key, touched: phase.touched, isFinal: isFinal)
        }
        for reply in replies { terms.add(reply) }
        if !isFinal { unconfirmed.append((journal, key, phase.touched)) }
        FaultPoint.afterJournal.reached()
        return journal.count
    }

    /// Makes sure of a chunk's journals that no majority may have: what they tell of may have outlived them.
    mutating func confirmJournal() throws {
        let runner = runner
        for (journal, key, touched) in unconfirmed {
            try runner.patience.bridging { _ = try store.write(journal, as: key, touched: touched, isFinal: true) }
        }
        unconfirmed = []
    }

    /// The journal of each part of a chunk, read side by side.
    private func readJournals(of chunk: Chunk, _ phase: Phase) throws -> [ChunkJournal] {
        let (uuid, namespace) = (checkedUUID, job.job.namespace)
        @Sendable func read(_ part: Chunk, on client: borrowing Client) throws -> ChunkJournal {
            try JournalReading(
                chunk: part, phase: phase, collection: client.collection(namespace), collectionUUID: uuid
            ).run()
        }
        do {
            return try runner.patience.bridging {
                try blaming {
                    let others = chunk.parts.dropFirst().map { part in Aside(on: pool) { try read(part, on: $0) } }
                    let first = Result { try read(chunk.parts[0], on: client) }
                    // All of them end, so that another try begins with none under way.
                    return try ([first] + others.map { $0.end() }).map { try $0.get() }
                }
            }
        } catch let error as MongoError {
            throw error.code == .collectionUUIDMismatch ? replaced : error
        }
    }

    /// Keeps in mind that the chunk changed more documents than its journal holds: some came, or were changed, between the
    /// two.
    private mutating func compare(_ chunk: Chunk, changed: Int, journaled: Int) {
        guard changed > journaled else { return }
        let gap = UnjournaledChunk(
            sequence: Int64(holding.lease.token) << 32 | self.journaled, phase: progress.phase, chunk: chunk,
            changed: changed, journaled: journaled)
        progress.note(gap)
    }
}
