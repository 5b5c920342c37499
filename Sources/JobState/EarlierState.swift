package import BSON

/// What an earlier version of the program left behind of a job, whose state documents had another layout.
///
/// Its attempts are numbered with gaps, and nothing tells which of them were written. So none of them counts as missing, and
/// all that they journaled is uncertain: a checkpoint whose sums agree with the journal says that it was written, but not that
/// the documents are still those.
package struct EarlierState: Hashable {
    /// The number of its last attempt in the journal.
    package var journaled: Int64
    /// Documents that it changed, by its checkpoints.
    package var modified: Int

    /// Joins the two.
    package init(journaled: Int64, modified: Int) { (self.journaled, self.modified) = (journaled, modified) }

    fileprivate init(_ document: BSONDocument) {
        journaled = Int64(document["journaled"]?.integer ?? 0)
        modified = document["modified"]?.integer ?? 0
    }
}

extension StateStore {
    /// Refuses a record of a layout that is not read.
    package func checkVersion(of record: BSONDocument) throws(RunError) {
        let version = record["version"]?.integer ?? 0
        guard version < JobStore.oldest || version > JobStore.version else { return }
        let way =
            version > JobStore.version
            ? "use that version, or a later one"
            : "end or undo the job with the version that began it, or give the job a new name: it then changes only what still "
                + "needs it, and can undo only that"
        throw RunError(
            .checkpointUnreadable,
            "the state of job \"\(job)\" in database \"\(client.database)\" was written by \(version > JobStore.version ? "a later" : "an earlier") version "
                + "of the program: its layout is \(version), and this one reads \(JobStore.oldest) to \(JobStore.version); \(way)"
        )
    }

    /// What an earlier version left behind of the job; `nil` where there is nothing.
    /// - Parameter record: of the job.
    /// - Throws: ``RunError`` for a damaged document; ``MongoError``.
    package func earlier(_ record: BSONDocument) throws -> EarlierState? {
        if let kept = record["earlier"]?.document { return EarlierState(kept) }
        guard let version = record["version"]?.integer, version < JobStore.version else { return nil }
        let range = try ranges.document() ?? [:]
        return EarlierState(journaled: try journal.newest(), modified: Progress(range).modified)
    }

    /// Gives a record of an earlier version the present layout, so that no earlier version goes on with the job.
    ///
    /// Under the job's lease; idempotent.
    /// - Throws: ``RunError`` for a damaged document; ``MongoError``.
    package func adopt() throws {
        guard let record = try jobs.record(), let version = record["version"]?.integer, version < JobStore.version,
            let earlier = try earlier(record)
        else { return }
        let kept: BSONValue = [
            "version": .integer(version), "journaled": .long(earlier.journaled), "modified": .integer(earlier.modified),
        ]
        try client.set(
            "jobs", ["_id": .string(job), "version": .integer(version)],
            ["version": .integer(JobStore.version), "earlier": ["$literal": kept]])
    }
}
