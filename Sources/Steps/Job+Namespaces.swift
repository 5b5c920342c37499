package import BSON
package import Checking
package import JobState
package import Jobs
import ServerSchema

extension Job {
    /// Every collection that the job names, with its location in the job file.
    private var namespaces: [(namespace: Namespace, location: SourceLocation)] {
        [(namespace, collectionLocation)]
            + steps.flatMap { step in step.step.kind.namespaces.map { ($0, step.location) } }
    }

    /// Throws if the job names the ledger, a collection in the state database, or a collection that is reserved for the
    /// server or the sync service.
    /// - Throws: ``RunError`` with the location in the job file.
    package func checkNamespaces(stateDatabase: String, ledger: Namespace?) throws(RunError) {
        for (namespace, location) in namespaces {
            do throws(RunError) { try namespace.check(stateDatabase: stateDatabase, ledger: ledger) } catch {
                throw error.located(at: location)
            }
        }
    }
}

extension Namespace {
    /// Throws if the collection belongs to the server, the sync service or the state database, if it is the ledger, or
    /// if its name is not valid.
    ///
    /// The name of the collection may come from a file, a flag or the state database.
    /// - Throws: ``RunError`` of kind `unsupportedCollection`.
    package func check(stateDatabase: String, ledger: Namespace? = nil) throws(RunError) {
        let ofLedger = self == ledger ? "it is the ledger of unsynced documents, which is only read" : nil
        guard let reason = refusal(stateDatabase: stateDatabase) ?? ofLedger else { return }
        throw RunError(.unsupportedCollection, "no job can use \(self): \(reason)")
    }
}

/// A job for many databases with the same collections.
///
/// The schemas are read once, and the job is compiled for each database as a separate job.
package struct JobInDatabases: Sendable {
    /// The job as its file states it, for the database that the file names.
    package let job: Job
    package let own: CompiledJob
    private let active, next: ServerSchema?
    private let assumptions: CheckOptions

    /// Reads the schemas that the job names, and compiles the job for the database that its file names.
    /// - Throws: the errors of reading a schema; ``JobError`` when a step and a schema do not fit together.
    package init(reading job: Job, assuming assumptions: CheckOptions) throws {
        (self.job, self.assumptions) = (job, assumptions)
        (active, next) = (try job.schema(at: job.activeSchema), try job.schema(at: job.nextSchema))
        // The job for the file's own database is compiled first, so that errors name the collections as the file does.
        own = try CompiledJob(job, active: active, next: next, assuming: assumptions)
    }

    /// Returns the job compiled for another database, under the name `name`.
    ///
    /// The compiled job uses the collections of `database` that have the same names as the job file's collections.
    /// - Throws: ``JobError`` when a step does not fit a schema.
    package func compiled(_ name: String, for database: String) throws(JobError) -> CompiledJob {
        let own = job.namespace.database
        var moved = job.moved(to: database)
        moved.name = name
        return try CompiledJob(
            moved, active: active?.moved(from: own, to: database), next: next?.moved(from: own, to: database),
            assuming: assumptions)
    }
}
