package import BSON
package import JobState
package import Jobs
import ServerSchema

extension Job {
    /// Every collection that it names, and where.
    private var namespaces: [(namespace: Namespace, location: SourceLocation)] {
        [(namespace, collectionLocation)]
            + steps.flatMap { step in step.step.kind.namespaces.map { ($0, step.location) } }
    }

    /// Refuses a job that reads or writes what is kept about jobs, or about unsynced documents.
    /// - Throws: ``RunError``, which names the place.
    package func checkNamespaces(stateDatabase: String, ledger: Namespace?) throws(RunError) {
        for (namespace, location) in namespaces {
            do throws(RunError) { try namespace.check(stateDatabase: stateDatabase, ledger: ledger) } catch {
                throw error.located(at: location)
            }
        }
    }
}

extension Namespace {
    /// Refuses a collection that belongs to the server, to the sync service or to the state of jobs, and the ledger.
    ///
    /// This is the rule of every command that writes documents, whether a file, a flag or the state database names the
    /// collection.
    /// - Throws: ``RunError`` of kind `unsupportedCollection`.
    package func check(stateDatabase: String, ledger: Namespace? = nil) throws(RunError) {
        let ofLedger = self == ledger ? "it is the ledger of unsynced documents, which is only read" : nil
        guard let reason = refusal(stateDatabase: stateDatabase) ?? ofLedger else { return }
        throw RunError(.unsupportedCollection, "no job may use \(self): \(reason)")
    }
}
