package import BSON
import Checking
import JobState
import Jobs
import Steps

/// The collections that a job reaches: what a user needs privileges on.
package struct JobReach: Sendable {
    /// The job's own.
    package let collection: Namespace
    /// Those that steps look documents up in.
    package private(set) var lookedUp: [Namespace] = []
    /// Those among them whose documents are looked up by another field than `_id`.
    package private(set) var indexed: [Namespace] = []
    /// Those that steps make documents in.
    package private(set) var created: [Namespace] = []
    /// Whether documents may come not to sync, so that the ledger is read.
    package private(set) var countsHarm = true
    /// The internal ids of the app, where the job's schemas name it.
    package private(set) var apps: [String] = []
    /// Whether steps mark the documents that they are done with.
    package private(set) var marks = false

    /// A job of which nothing more is known.
    package init(collection: Namespace) { self.collection = collection }

    init(_ job: CompiledJob) {
        collection = job.job.namespace
        for step in job.job.steps.map(\.step.kind) {
            switch step {
            case let step as ExtractStep: created.append(step.to)
            case let step as LookupLinkStep:
                lookedUp.append(step.lookup)
                if [step.old, step.new].contains(where: { $0 != "_id" }) { indexed.append(step.lookup) }
            default: lookedUp += step.namespaces
            }
            marks = marks || step.marker != nil
        }
        countsHarm = !job.isHarmless
        apps = job.appIDs
    }
}

extension CompiledJob {
    /// The collections that it reaches.
    package var reach: JobReach { JobReach(self) }
}
