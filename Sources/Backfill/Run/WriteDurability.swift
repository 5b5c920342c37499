import BSON
import JobState
import Mongo

/// Tracks whether a majority has everything that a chunk wrote; normally only the checkpoint waits for the majority.
///
/// The checkpoint's wait also confirms the earlier writes and the journal, if one primary acknowledged all of them in
/// one term.
struct WriteDurability {
    /// The journal entries of one attempt at a chunk, as they were sent to the server.
    struct Journal {
        var entries: ChunkJournal
        var key: JournalStore.Key
        var touched: [String]
    }

    /// Whether each write waits for a majority by itself, because the server's replies name no term.
    private(set) var waitsEachTime: Bool
    private var terms = ChunkTerms()
    /// The journal entries of the current chunk that a majority may still lack.
    private(set) var unconfirmed: [Journal] = []

    /// - Parameter isReplicaSet: whether the server's replies name the term of the primary's election.
    init(isReplicaSet: Bool) { waitsEachTime = !isReplicaSet }

    /// Starts a new chunk, for which no write was acknowledged yet.
    mutating func begin() { terms = ChunkTerms() }

    /// Adds the server's reply to a write of the chunk.
    mutating func add(_ reply: BSONDocument) { terms.add(reply) }

    /// Adds journal entries of the chunk, and the server's replies to the writes of these entries.
    mutating func add(_ journal: Journal, _ replies: [BSONDocument]) {
        for reply in replies { terms.add(reply) }
        if !waitsEachTime { unconfirmed.append(journal) }
    }

    /// Whether the checkpoint's reply confirms everything that the chunk wrote; if `false`, an election may have undone
    /// some of the writes.
    mutating func isConfirmed(by checkpoint: BSONDocument) -> Bool {
        if waitsEachTime || terms.areConfirmed(by: checkpoint) { return true }
        if terms.isUnknown || WriteTerm(checkpoint) == nil { waitsEachTime = true }
        return false
    }

    /// Records that a majority has all journal entries of the chunk.
    mutating func confirmed() { unconfirmed = [] }
}
