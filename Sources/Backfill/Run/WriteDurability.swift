import BSON
import JobState
import Mongo

/// Whether what a chunk wrote is with a majority: its writes and its journal wait for none themselves, and the checkpoint
/// behind them waits once for all, as long as one primary in one term acknowledged them all.
struct WriteDurability {
    /// The journal of an attempt, as it was sent.
    struct Journal {
        var entries: ChunkJournal
        var key: JournalStore.Key
        var touched: [String]
    }

    /// Whether each write waits for a majority by itself: the server names no term in its replies.
    private(set) var waitsEachTime: Bool
    private var terms = ChunkTerms()
    /// The journals of the chunk at hand, while no majority is known to have them.
    private(set) var unconfirmed: [Journal] = []

    /// - Parameter isReplicaSet: whether the server names the term in its replies.
    init(isReplicaSet: Bool) { waitsEachTime = !isReplicaSet }

    /// Begins a chunk.
    mutating func begin() { terms = ChunkTerms() }

    /// Adds an acknowledged write.
    mutating func add(_ reply: BSONDocument) { terms.add(reply) }

    /// Adds a journal that was acknowledged.
    mutating func add(_ journal: Journal, _ replies: [BSONDocument]) {
        for reply in replies { terms.add(reply) }
        if !waitsEachTime { unconfirmed.append(journal) }
    }

    /// Whether the checkpoint's reply confirms all that the chunk wrote; else an election may have taken some of it back.
    mutating func isConfirmed(by checkpoint: BSONDocument) -> Bool {
        if waitsEachTime || terms.areConfirmed(by: checkpoint) { return true }
        if terms.isUnknown || WriteTerm(checkpoint) == nil { waitsEachTime = true }
        return false
    }

    /// All journals are with a majority.
    mutating func confirmed() { unconfirmed = [] }
}
