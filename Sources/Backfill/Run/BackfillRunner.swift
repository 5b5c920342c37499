import BSON
package import Concurrency
import JobReports
import JobState
import Jobs
package import Mongo
package import Running
import Scanning
package import Steps

/// Runs a job: plans it, previews it, or writes it chunk by chunk.
///
/// The functions block, so call them on a separate thread, not on a thread of Swift's concurrency.
package struct BackfillRunner: Sendable {
    var job: CompiledJob
    let options: RunOptions
    let stop: StopSignal
    let events: @Sendable (RunEvent) -> Void
    let identity = RunnerIdentity.current()
    let lost = LostTime()

    /// Creates a runner of a job with the options of one run; `events` is called on any of the runner's threads.
    package init(
        _ job: CompiledJob, options: RunOptions, stop: StopSignal, events: @escaping @Sendable (RunEvent) -> Void
    ) {
        self.job = job
        self.options = options
        self.stop = stop
        self.events = events
    }

    /// Returns the runner with its job compiled for the server's version.
    ///
    /// Client-side steps also get the data that they need before the first document.
    func prepared(on client: borrowing Client) throws -> BackfillRunner {
        var runner = self
        let collection = client.collection(job.job.namespace)
        runner.job = try early.run {
            try job.compiled(for: client.hello().maxWireVersion).prepared(on: collection)
        }
        return runner
    }

    /// Returns the job with its steps at any depth replaced by steps for the fields that the documents have, and proven
    /// on the server if that was not tested.
    /// - Throws: ``RunError``; ``MongoError``.
    package func located(on pool: ClientPool) throws -> CompiledJob {
        let client = try pool.client()
        let collection = client.collection(job.job.namespace)
        let located = try early.run { try job.located(in: collection) { stop.isRaised } }
        return try proven(located, on: client, pool)
    }

    var retry: RetryPolicy { RetryPolicy(limit: options.retryLimit, stop: stop, events: events, lost: lost) }

    var early: RetryPolicy { retry.early }

    /// Whether the run journals its changes before it writes them.
    var keepsJournal: Bool { job.job.keepsJournal && options.keepsJournal }

    func binding(to collectionUUID: BSONValue?) -> JobStore.Binding {
        var binding = JobStore.Binding(
            namespace: job.job.namespace, collectionUUID: collectionUUID, text: job.job.text,
            schemas: job.schemaRecords, touched: job.job.touched,
            hasMarkers: !MarkerRemoval.markers(of: job.job).isEmpty)
        if case .part(let range) = job.scope { binding.bounds = range.document }
        binding.movedFrom = job.job.movedFrom
        return binding
    }

    func store(_ pool: ClientPool) throws(MongoError) -> StateStore {
        StateStore(
            client: StoreClient(database: options.stateDatabase, client: try pool.client()), job: job.job.name,
            identity: identity, terms: options.lease)
    }

    func openLedger(on pool: ClientPool) throws(MongoError) -> UnsyncLedger {
        UnsyncLedger(options.ledger.orOf(job.appIDs), client: try pool.client())
    }
}
