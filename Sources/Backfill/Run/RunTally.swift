/// What a run wrote, and how sure that is.
struct RunTally {
    /// Chunks that are checkpointed.
    private(set) var chunks = 0
    /// Documents that were changed, those of ``uncounted`` not yet among them.
    private(set) var documents = 0
    /// Documents changed by writes of the chunk at hand that no checkpoint counts yet.
    private(set) var uncounted = 0
    /// Whether a write failed of which the server did not say how many documents it had changed.
    private(set) var isLow = false

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
    }

    /// Counts what was changed without a checkpoint.
    /// - Returns: how many that are.
    @discardableResult
    mutating func takeOver() -> Int {
        defer { uncounted = 0 }
        documents += uncounted
        return uncounted
    }
}
