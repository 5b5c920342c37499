import BSON
import Jobs

/// The number of documents in the next chunk: ``ChunkSize``, with small steps back up to it after a slow chunk.
struct ChunkPacing {
    private var size: ChunkSize
    /// The documents of a chunk after one that took too long and was smaller than ``size``; `nil` at other times.
    private var probe: Int?
    /// The most bytes that are read for one chunk.
    private(set) var bytes: Int

    init(_ limits: Job.Limits, averageSize: Int?) {
        size = ChunkSize(limits, averageSize: averageSize)
        bytes = limits.chunkBytes
    }

    /// The number of documents in the next chunk.
    var documents: Int { probe ?? size.documents }

    /// How much is read for the next chunk.
    var amount: ReadAmount { ReadAmount(documents: documents, bytes: bytes) }

    /// Takes over limits that changed.
    mutating func adopt(_ limits: Job.Limits) {
        size.adopt(limits)
        bytes = limits.chunkBytes
    }

    /// Halves the next chunk after one of so many documents took too long.
    mutating func halve(from documents: Int) {
        if documents < size.documents { probe = max(1, documents / 2) } else { size.shrink() }
    }

    /// Learns from a chunk that was written.
    /// - Parameters:
    ///   - documents: how many it had.
    ///   - isWhole: whether nothing of it is left to be done.
    /// - Returns: whether chunks of one document have begun to take more than their limits; `true` only when it begins.
    mutating func learn(from documents: Int, isWhole: Bool, time: Duration) -> Bool {
        let wasStuck = size.isStuck
        if isWhole, probe == nil { size.learn(from: documents, time: time) }
        probe = probe.flatMap { $0 * 2 < size.documents ? $0 * 2 : nil }
        return size.isStuck && !wasStuck
    }
}

/// The primary that acknowledged a write, by the term of its election.
struct WriteTerm: Hashable {
    private let term: Int
    private let election: BSONValue?

    /// `nil` if the reply names no term, as that of a router or of a server that replicates nothing.
    init?(_ reply: BSONDocument) {
        guard let term = reply["opTime"]?.document?["t"]?.integer, term > 0 else { return nil }
        self.term = term
        election = reply["electionId"]
    }
}

/// The terms in which the writes of one chunk were acknowledged, before a majority was known to have any of them.
///
/// The oplog holds the writes that one primary acknowledged in one term in that order. So once a majority has the last
/// one, the checkpoint, it has all of them. After an election in between, an earlier write may be lost.
struct ChunkTerms {
    private var terms: Set<WriteTerm> = []
    /// Whether a reply named no term.
    private(set) var isUnknown = false

    /// Adds an acknowledged write.
    mutating func add(_ reply: BSONDocument) {
        if let term = WriteTerm(reply) { terms.insert(term) } else { isUnknown = true }
    }

    /// Whether one wait for a majority at the end, that of the write acknowledged by `reply`, confirms all of them.
    func areConfirmed(by reply: BSONDocument) -> Bool {
        var all = self
        all.add(reply)
        return !all.isUnknown && all.terms.count == 1
    }
}
