import BSON

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
