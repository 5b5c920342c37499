import BSON
package import Checking
import Concurrency
import JobState
import Jobs
package import Mongo
import Scanning
package import Steps

/// A job's work, shared by several runners: each takes the documents between two `_id`s.
extension BackfillRunner {
    /// Returns one of several parts of the job, as a job of its own.
    ///
    /// The first runner decides at which `_id`s the job is cut, and stores them in the state database, so that all
    /// runners use the same ones. A document that arrives later belongs to one of the parts, too.
    /// - Throws: ``RunError``; ``MongoError``.
    package func job(_ part: CheckPart, on pool: ClientPool) throws -> CompiledJob {
        let client = try pool.client()
        let collection = client.collection(job.job.namespace)
        let bounds = try early.run {
            try store(pool).parts.bounds(of: part.count) {
                try IDRange.splitting(collection, into: part.count).compactMap(\.upper)
            }
        }
        return job.taking(part, between: bounds)
    }
}

extension CompiledJob {
    /// Whether several runners can share the job; not if it has steps with `once`, whose marker fields belong to the
    /// whole job.
    package var canBeShared: Bool { MarkerRemoval.markers(of: job).isEmpty }

    fileprivate func taking(_ part: CheckPart, between bounds: [BSONValue]) -> CompiledJob {
        return named(part.name(of: job.name), over: .part(.part(part, between: bounds)))
    }
}
