import BSON
import Checking
import Concurrency
import JobState
import Jobs
import Mongo
import Scanning

/// Room below the limit that documents take which fit by now.
extension JobRegistry {
    /// Looks at the documents that jobs made unsyncable in the collection of one of them, and frees the room of those that
    /// fit the schema which is active for it now.
    ///
    /// A document keeps its room for as long as the ledger may lag.
    /// - Returns: how many documents fit; `nil` where nobody can tell: no schema, no record, or no right to read.
    package func freeRoom(of job: String) throws -> Int? {
        let store = try store(job)
        guard let record = try store.jobs.record(),
            let compiled = try? StoredJob.compile(record, assuming: CheckOptions()), compiled.countsHarm
        else { return nil }
        let client = try pool.client()
        let budget = UnsyncBudget(
            job: compiled, collection: client.collection(compiled.job.namespace),
            ledger: UnsyncLedger(.standard, of: LedgerApps.fullest.orOf(compiled.appIDs), client: try pool.client()),
            limits: compiled.job.limits,
            stop: StopSignal())
        do {
            return try budget.freeRepaired(store, besides: [])
        } catch let error as MongoError where error.isAuthorization {
            return nil
        } catch is LedgerUnreadable {
            return nil
        }
    }
}
