import BSON
import JobState
import Jobs
import ServerSchema

extension Job {
    /// Every collection that it names, and where.
    private var namespaces: [(namespace: Namespace, location: SourceLocation)] {
        [(namespace, collectionLocation)]
            + steps.flatMap { step in step.step.kind.namespaces.map { ($0, step.location) } }
    }

    /// Refuses a job that reads or writes what is kept about jobs, or about unsynced documents.
    /// - Throws: ``BackfillError``, which names the place.
    func checkNamespaces(stateDatabase: String, ledger: Namespace?) throws(BackfillError) {
        for (namespace, location) in namespaces {
            let reason: String
            if namespace.database == stateDatabase {
                reason = "the database holds the state of jobs (--state-database names it)"
            } else if namespace == ledger {
                reason = "it is the ledger of unsynced documents, which is only read"
            } else {
                continue
            }
            throw BackfillError(.unsupportedCollection, "no job may use \(namespace): \(reason)").located(at: location)
        }
    }
}
