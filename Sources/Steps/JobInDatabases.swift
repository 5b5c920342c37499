import BSON
package import Checking
package import Jobs
import ServerSchema

/// A job for many databases of one shape: read once, and compiled for each of them as a job of its own.
package struct JobInDatabases: Sendable {
    /// The job as its file states it, for one database.
    package let job: Job
    /// The job of the file's own database.
    package let own: CompiledJob
    private let active, next: ServerSchema?
    private let assumptions: CheckOptions

    /// Reads the schemas that the job names.
    /// - Throws: what reading a schema throws; ``JobError`` when a step and a schema do not fit together.
    package init(reading job: Job, assuming assumptions: CheckOptions) throws {
        (self.job, self.assumptions) = (job, assumptions)
        (active, next) = (try job.schema(at: job.activeSchema), try job.schema(at: job.nextSchema))
        // What does not fit is told by the names of the file.
        own = try CompiledJob(job, active: active, next: next, assuming: assumptions)
    }

    /// The job of one of the databases, with all collections that it names there.
    /// - Throws: ``JobError`` when a step and a schema do not fit together.
    package func compiled(_ name: String, for database: String) throws(JobError) -> CompiledJob {
        let own = job.namespace.database
        var moved = job.moved(to: database)
        moved.name = name
        return try CompiledJob(
            moved, active: active?.moved(from: own, to: database), next: next?.moved(from: own, to: database),
            assuming: assumptions)
    }
}
