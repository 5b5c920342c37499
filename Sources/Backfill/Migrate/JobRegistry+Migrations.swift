import BSON
import JobState
package import Mongo

/// The record of which jobs of a folder were applied.
extension JobRegistry {
    /// All jobs that a migration has run to their end, in the order of their names.
    /// - Throws: ``BackfillError`` for a damaged record; ``MongoError``.
    package func applied() throws -> [AppliedJob] {
        let client = StoreClient(database: stateDatabase, client: try pool.client())
        return try client.allChecked("migrations", [:]).compactMap(AppliedJob.init).sorted { $0.job < $1.job }
    }

    /// Records a job as applied, unless it was: a run that died between the job's end and here does it again.
    package func record(_ entry: JobFolder.Entry, hasFindings: Bool) throws(MongoError) {
        let client = StoreClient(database: stateDatabase, client: try pool.client())
        try client.createIfAbsent(
            "migrations", id: .string(entry.name),
            [
                "file": .string(entry.file), "digest": .string(entry.digest), "by": .string(person),
                "findings": .bool(hasFindings),
            ])
    }
}

extension AppliedJob {
    fileprivate init?(_ document: BSONDocument) {
        guard let job = document["_id"]?.text, let digest = document["digest"]?.text else { return nil }
        self.init(
            job: job, file: document["file"]?.text ?? "", digest: digest,
            mark: Control.Mark(
                by: document["by"]?.text ?? "unknown", at: ServerTime(document["created"]), note: nil),
            hasFindings: document["findings"] == .bool(true))
    }
}
