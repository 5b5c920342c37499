import BSON
import Jobs

/// Decides how many documents the next chunk has: usually as many as ``ChunkSize`` says.
///
/// A chunk can have fewer documents, for example if the limit of bytes ended its read. If such a chunk takes too long,
/// the next chunk has half as many documents. The number then doubles with each chunk until it reaches the size of
/// ``ChunkSize`` again.
struct ChunkPacing {
    private var size: ChunkSize
    /// The reduced number of documents in the next chunk, after a chunk with fewer documents than ``size`` took too
    /// long; `nil` otherwise, and once the number has grown back to ``size``.
    private var trial: Int?
    /// The number of bytes of documents at which the read of a chunk ends.
    private(set) var bytes: Int

    init(_ limits: Job.Limits, averageSize: Int?) {
        size = ChunkSize(limits, averageSize: averageSize)
        bytes = limits.mostBytes
    }

    /// The number of documents in the next chunk.
    var documents: Int { min(trial ?? .max, size.documents) }

    /// The documents and bytes to read for the next chunk.
    var amount: ReadAmount { ReadAmount(documents: documents, bytes: bytes) }

    /// Applies limits of the job that an operator changed.
    mutating func adopt(_ limits: Job.Limits) {
        size.adopt(limits)
        bytes = limits.mostBytes
    }

    /// Halves the size of the next chunk, after a chunk of `documents` documents took too long.
    mutating func halve(from documents: Int) {
        if documents < size.documents { trial = max(1, documents / 2) } else { size.shrink() }
    }

    /// Adapts the size to a chunk that was written.
    /// - Parameters:
    ///   - documents: how many documents the chunk had.
    ///   - isWhole: whether all documents of the chunk are done.
    ///   - time: how long the chunk took, without waits for a majority.
    /// - Returns: whether ``ChunkSize/isStuck`` has just become `true`: even a chunk of one document takes more bytes
    ///   or time than the limits of a chunk allow.
    mutating func learn(from documents: Int, isWhole: Bool, time: Duration) -> Bool {
        let wasStuck = size.isStuck
        if isWhole, trial == nil { size.learn(from: documents, time: time) }
        trial = trial.flatMap { $0 * 2 < size.documents ? $0 * 2 : nil }
        return size.isStuck && !wasStuck
    }
}

/// The primary that acknowledged a write, identified by its term and its election.
struct WriteTerm: Hashable {
    private let term: Int
    private let election: BSONValue?

    /// Reads the term from a server's reply; `nil` if the reply names no term, as in a reply of a router or a
    /// standalone server.
    init?(_ reply: BSONDocument) {
        guard let term = reply["opTime"]?.document?["t"]?.integer, term > 0 else { return nil }
        self.term = term
        election = reply["electionId"]
    }
}

/// The election terms in which the writes of one chunk were acknowledged.
///
/// Until the checkpoint, it is unknown whether a majority has these writes. The oplog keeps the writes of one term in
/// the order in which the primary acknowledged them. The checkpoint is the last write, so once a majority has it, the
/// majority has them all. If there was an election between two of the writes, an earlier write may be lost.
struct ChunkTerms {
    private var terms: Set<WriteTerm> = []
    /// Whether at least one reply to a write named no term.
    private(set) var isUnknown = false

    /// Adds the term in which a write was acknowledged, from the server's reply.
    mutating func add(_ reply: BSONDocument) {
        if let term = WriteTerm(reply) { terms.insert(term) } else { isUnknown = true }
    }

    /// Whether the reply shows that a majority has all writes of the chunk.
    /// - Parameter reply: the reply to the last write, which waited for a majority.
    func areConfirmed(by reply: BSONDocument) -> Bool {
        var all = self
        all.add(reply)
        return !all.isUnknown && all.terms.count == 1
    }
}
