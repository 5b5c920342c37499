import BSON
import Jobs

/// The number of documents in the next chunk, which is usually that of ``ChunkSize``.
///
/// If a chunk with fewer documents than that took too long, the next chunk has half as many as it had. The number then
/// doubles with each chunk until it reaches that of ``ChunkSize`` again.
struct ChunkPacing {
    private var size: ChunkSize
    /// The number of documents in the next chunk, after a chunk that took too long although it was smaller than
    /// ``size``; `nil` at other times.
    private var trial: Int?
    /// The most bytes that are read for one chunk.
    private(set) var bytes: Int

    init(_ limits: Job.Limits, averageSize: Int?) {
        size = ChunkSize(limits, averageSize: averageSize)
        bytes = limits.chunkBytes
    }

    /// The number of documents in the next chunk.
    var documents: Int { trial ?? size.documents }

    /// The documents and bytes to read for the next chunk.
    var amount: ReadAmount { ReadAmount(documents: documents, bytes: bytes) }

    /// Applies limits that an operator changed.
    mutating func adopt(_ limits: Job.Limits) {
        size.adopt(limits)
        bytes = limits.chunkBytes
    }

    /// Makes the next chunk half as large as one of `documents` documents that took too long.
    mutating func halve(from documents: Int) {
        if documents < size.documents { trial = max(1, documents / 2) } else { size.shrink() }
    }

    /// Learns from a chunk that was written.
    /// - Parameters:
    ///   - documents: how many documents the chunk had.
    ///   - isWhole: whether no document of the chunk is left to be done.
    /// - Returns: whether chunks of one document have just begun to take more than their targets.
    mutating func learn(from documents: Int, isWhole: Bool, time: Duration) -> Bool {
        let wasStuck = size.isStuck
        if isWhole, trial == nil { size.learn(from: documents, time: time) }
        trial = trial.flatMap { $0 * 2 < size.documents ? $0 * 2 : nil }
        return size.isStuck && !wasStuck
    }
}

/// The primary that acknowledged a write, by the term of its election.
struct WriteTerm: Hashable {
    private let term: Int
    private let election: BSONValue?

    /// Reads the term from a server's reply; `nil` if the reply names none, like that of a router or of a standalone.
    init?(_ reply: BSONDocument) {
        guard let term = reply["opTime"]?.document?["t"]?.integer, term > 0 else { return nil }
        self.term = term
        election = reply["electionId"]
    }
}

/// The election terms in which the writes of one chunk were acknowledged.
///
/// A majority is not known to have these writes yet. In the oplog, the writes of one term are in the order in which the
/// primary acknowledged them. So once a majority has the last one, the checkpoint, it has all of them. If there was an
/// election in between, an earlier write may be lost.
struct ChunkTerms {
    private var terms: Set<WriteTerm> = []
    /// Whether a reply named no term.
    private(set) var isUnknown = false

    /// Adds an acknowledged write.
    mutating func add(_ reply: BSONDocument) {
        if let term = WriteTerm(reply) { terms.insert(term) } else { isUnknown = true }
    }

    /// Whether all these writes are confirmed by the last one, which waited for a majority and which `reply`
    /// acknowledges.
    func areConfirmed(by reply: BSONDocument) -> Bool {
        var all = self
        all.add(reply)
        return !all.isUnknown && all.terms.count == 1
    }
}
