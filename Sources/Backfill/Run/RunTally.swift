import BSON

/// The counts of what a run wrote, and whether they are certain.
struct RunTally {
    /// The number of chunks that have a checkpoint.
    private(set) var chunks = 0
    /// The number of documents that were changed, without those in ``uncounted``; a document counts once even if
    /// several phases changed it.
    private(set) var documents = 0
    /// The number of changes; a document counts once for each phase that changed it.
    private(set) var updates = 0
    /// The number of changes by the current chunk that are not in the other counts yet, because the chunk has no
    /// checkpoint.
    private(set) var uncounted = 0
    /// The documents that were last read: `changed` has the documents that an earlier phase changed already, and
    /// `fresh` has the documents whose first change may come from the current phase.
    ///
    /// `nil` in a run of one phase.
    private var found: (changed: Set<BSONValue>, fresh: Set<BSONValue>)?
    /// Whether the counts may be too low, for example because a write failed and the server did not report how many
    /// documents it changed.
    private(set) var isLow = false

    /// How many of the changes in ``uncounted`` are the first change of their document.
    var uncountedDocuments: Int { found.map { min(uncounted, $0.fresh.count) } ?? uncounted }

    /// Starts to count documents that go through several phases.
    mutating func beginPhases() { found = ([], []) }

    /// Records the documents that a phase is about to change; does nothing if the job has only one phase.
    mutating func begin(_ ids: [BSONValue]) {
        guard let changed = found?.changed else { return }
        found?.fresh.formUnion(ids.lazy.filter { !changed.contains($0) })
    }

    /// Counts an acknowledged write that changed `modified` documents.
    mutating func wrote(_ modified: Int) { uncounted += modified }

    /// Counts a write that failed after it changed `modified` documents; `nil` if the server does not report the
    /// number.
    mutating func failed(_ modified: Int?) {
        uncounted += modified ?? 0
        isLow = isLow || modified == nil
    }

    /// Counts a chunk whose checkpoint was just written, and adds ``uncounted`` to the other counts.
    mutating func checkpointed() {
        chunks += 1
        takeOver()
    }

    /// Drops ``uncounted``, because an election may have undone some of these changes.
    ///
    /// The chunk runs again. If the election has not undone the change of a document, the document is not changed
    /// again, and therefore not counted.
    /// - Parameter isLow: whether the counts may be too low because of this.
    mutating func giveUp(isLow: Bool) {
        self.isLow = self.isLow || isLow
        uncounted = 0
        found?.fresh = []
    }

    /// Adds ``uncounted`` to the other counts, even without a checkpoint.
    /// - Returns: how many documents were added.
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
