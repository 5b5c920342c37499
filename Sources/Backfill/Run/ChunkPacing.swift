import BSON
import Jobs

/// How many documents the next chunk has: ``ChunkSize``, and small steps back up to it behind a chunk that took too long.
struct ChunkPacing {
    private var size: ChunkSize
    /// The documents of a chunk behind one that took too long and was smaller than ``size``; `nil` at other times.
    private var probe: Int?
    /// The most bytes that are read for one.
    private(set) var bytes: Int

    init(_ limits: Job.Limits, averageSize: Int?) {
        size = ChunkSize(limits, averageSize: averageSize)
        bytes = limits.chunkBytes
    }

    /// The documents of the next chunk.
    var documents: Int { probe ?? size.documents }

    /// What is read for the next chunk.
    var amount: ReadAmount { ReadAmount(documents: documents, bytes: bytes) }

    /// Takes over limits that changed.
    mutating func adopt(_ limits: Job.Limits) {
        size.adopt(limits)
        bytes = limits.chunkBytes
    }

    /// A chunk of so many documents took too long: the next one has half as many.
    mutating func halve(from documents: Int) {
        if documents < size.documents { probe = max(1, documents / 2) } else { size.shrink() }
    }

    /// A chunk was written.
    /// - Parameters:
    ///   - documents: how many it had.
    ///   - isWhole: whether it was one as it came from the reader.
    /// - Returns: whether chunks of one document have come to take more than their limits say; told once.
    mutating func learn(from documents: Int, isWhole: Bool, time: Duration) -> Bool {
        let wasStuck = size.isStuck
        if isWhole, probe == nil { size.learn(from: documents, time: time) }
        probe = probe.flatMap { $0 * 2 < size.documents ? $0 * 2 : nil }
        return size.isStuck && !wasStuck
    }
}

/// Which primary acknowledged a write: the term of its election.
struct WriteTerm: Hashable {
    private let term: Int
    private let election: BSONValue?

    /// `nil` where the reply names none, as those of a router and of a server that replicates nothing.
    init?(_ reply: BSONDocument) {
        guard let term = reply["opTime"]?.document?["t"]?.integer, term > 0 else { return nil }
        self.term = term
        election = reply["electionId"]
    }
}

/// The terms in which the writes of one chunk were acknowledged, before any of them was known to be with a majority.
///
/// What one primary acknowledged in one term stands in the oplog in that order: once the last of it, the checkpoint, is
/// with a majority, all of it is. After an election in between an earlier write may be gone.
struct ChunkTerms {
    private var terms: Set<WriteTerm> = []
    /// Whether a reply named none.
    private(set) var isUnknown = false

    /// Adds an acknowledged write.
    mutating func add(_ reply: BSONDocument) {
        if let term = WriteTerm(reply) { terms.insert(term) } else { isUnknown = true }
    }

    /// Whether one majority wait at the end, of the write acknowledged by `reply`, confirms all of them.
    func areConfirmed(by reply: BSONDocument) -> Bool {
        var all = self
        all.add(reply)
        return !all.isUnknown && all.terms.count == 1
    }
}
