package import BSON

/// The state of a job that an earlier version of the program wrote to the state database, in another layout.
///
/// A run numbers its attempts to write a chunk. The earlier version left gaps between these numbers, and did not record
/// which attempts it wrote. A missing number is therefore not an error, and every journaled change counts as uncertain.
/// Even if a checkpoint proves that an attempt was written, other documents may have replaced the attempt's documents
/// since.
package struct EarlierState: Hashable {
    /// The number of the latest journaled attempt to write a chunk; later attempts have higher numbers.
    package var journaled: Int64
    /// The number of documents that the job changed, according to its checkpoints.
    package var modified: Int

    /// Creates a state from the number of the last journaled attempt and the number of changed documents.
    package init(journaled: Int64, modified: Int) { (self.journaled, self.modified) = (journaled, modified) }

    fileprivate init(_ document: BSONDocument) {
        journaled = Int64(document["journaled"]?.integer ?? 0)
        modified = document["modified"]?.integer ?? 0
    }
}

extension StateStore {
    /// Refuses a job's record if this version of the program cannot read its layout.
    package func checkVersion(of record: BSONDocument) throws(RunError) {
        let version = record["version"]?.integer ?? 0
        guard version < JobStore.oldest || version > JobStore.version else { return }
        let way =
            version > JobStore.version
            ? "use that version, or a later one"
            : "finish or undo the job with the version that started it, or give the job a new name: it then changes "
                + "only documents that still need it, and can undo only those changes"
        throw RunError(
            .checkpointUnreadable,
            "the state of job \"\(job)\" in database \"\(client.database)\" was written by "
                + "\(version > JobStore.version ? "a later" : "an earlier") version of the program: its layout is "
                + "\(version), and this one reads \(JobStore.oldest) to \(JobStore.version); \(way)"
        )
    }

    /// Returns the state that an earlier version of the program wrote for the job; `nil` if there is none.
    /// - Parameter record: the job's record in the collection `jobs`.
    /// - Throws: ``RunError`` for a damaged document; ``MongoError``.
    package func earlier(_ record: BSONDocument) throws -> EarlierState? {
        if let kept = record["earlier"]?.document { return EarlierState(kept) }
        guard let version = record["version"]?.integer, version < JobStore.version else { return nil }
        let range = try ranges.document() ?? [:]
        return EarlierState(journaled: try journal.newest(), modified: Progress(range).modified)
    }

    /// Rewrites a job's record from an earlier version's layout to the current one; no earlier version can continue the
    /// job after that.
    ///
    /// The method is idempotent. Call it under the job's lease.
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
