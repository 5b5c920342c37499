package import BSON
import Checking
import JobState
import Jobs
import Steps

/// The collections that a job reads or writes, for which a user needs privileges.
package struct JobReach: Sendable {
    package let collection: Namespace
    package private(set) var lookedUp: [Namespace] = []
    /// The collections in which steps look up documents by a field other than `_id`.
    package private(set) var indexed: [Namespace] = []
    /// The collections in which steps insert documents.
    package private(set) var created: [Namespace] = []
    /// Whether the job may make documents unsyncable, so that it reads the ledger of unsynced documents.
    package private(set) var countsUnsyncable = true
    /// The internal ids of the sync engine's app; empty if the job's schemas do not name the app.
    package private(set) var apps: [String] = []
    /// Whether steps mark the documents that they have changed, by marker fields.
    package private(set) var marks = false

    /// Creates an instance for a job whose text cannot be read, so that only its collection is known.
    package init(collection: Namespace) { self.collection = collection }

    init(_ job: CompiledJob) {
        collection = job.job.namespace
        for step in job.job.steps.map(\.step.kind) {
            switch step {
            case let step as ExtractStep: created.append(step.to)
            case let step as LookupStep:
                lookedUp.append(step.lookup)
                if step.searched.contains(where: { $0 != "_id" }) { indexed.append(step.lookup) }
            default: lookedUp += step.namespaces
            }
            marks = marks || step.marker != nil
        }
        countsUnsyncable = !job.isSafe
        apps = job.appIDs
    }
}

extension CompiledJob {
    package var reach: JobReach { JobReach(self) }
}
