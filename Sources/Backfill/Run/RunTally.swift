import BSON

/// What a run wrote, and how sure that is.
struct RunTally {
    /// Chunks that are checkpointed.
    private(set) var chunks = 0
    /// Documents that were changed, each once however many phases changed it; those of ``uncounted`` not yet among them.
    private(set) var documents = 0
    /// Changes of documents, one for each phase that changed it.
    private(set) var updates = 0
    /// Changes by writes of the chunk at hand that no checkpoint counts yet.
    private(set) var uncounted = 0
    /// Of the documents that were found together, those that an earlier phase changed, and those that the phase at hand
    /// may change besides; `nil` in a run of one phase.
    private var found: (changed: Set<BSONValue>, fresh: Set<BSONValue>)?
    /// Whether a write failed of which the server did not say how many documents it had changed.
    private(set) var isLow = false

    /// Documents of ``uncounted`` that no phase changed before.
    var uncountedDocuments: Int { found.map { min(uncounted, $0.fresh.count) } ?? uncounted }

    /// Documents were found that go through several phases.
    mutating func beginPhases() { found = ([], []) }

    /// A phase is about to change these.
    mutating func begin(_ ids: [BSONValue]) {
        guard let changed = found?.changed else { return }
        found?.fresh.formUnion(ids.lazy.filter { !changed.contains($0) })
    }

    /// A write was acknowledged.
    mutating func wrote(_ modified: Int) { uncounted += modified }

    /// A write failed after it had changed so many documents; `nil` where the server does not tell.
    mutating func failed(_ modified: Int?) {
        uncounted += modified ?? 0
        isLow = isLow || modified == nil
    }

    /// The checkpoint counts the chunk.
    mutating func checkpointed() {
        chunks += 1
        takeOver()
    }

    /// The run ends within a chunk, or an election may have taken some of it back: what is counted twice then, or not at
    /// all, nobody knows.
    mutating func giveUp(isLow: Bool) {
        self.isLow = self.isLow || isLow
        uncounted = 0
        found?.fresh = []
    }

    /// Counts what was changed without a checkpoint.
    /// - Returns: how many documents that are.
    @discardableResult
    mutating func takeOver() -> Int {
        let count = uncountedDocuments
        documents += count
        updates += uncounted
        uncounted = 0
        if let fresh = found?.fresh {
            found?.changed.formUnion(fresh)
            found?.fresh = []
        }
        return count
    }
}
