import BSON
package import Mongo

/// The state of a job in the state database: one store per collection, on one client.
///
/// All times are the server's. Every write waits for a majority, so that no failover undoes a checkpoint; only the
/// journal may leave that to the chunk's checkpoint.
package struct StateStore: ~Copyable {
    /// The connection that the stores share.
    package let client: StoreClient
    /// The job's name.
    package let job: String
    /// The runner that takes leases.
    package let identity: RunnerIdentity
    /// The terms of its leases.
    package let terms: LeaseTerms
    /// The collection that holds the lease.
    package let leases: String

    /// Creates the stores; reads nothing.
    /// - Parameter leases: the collection that holds the lease: `ranges` for a job, ``streams`` for a watch or a
    ///   mirror.
    package init(
        client: StoreClient, job: String, identity: RunnerIdentity, terms: LeaseTerms, leases: String = "ranges"
    ) {
        (self.client, self.job, self.identity, self.terms) = (client, job, identity, terms)
        self.leases = leases
    }

    /// The collection of the leases of watches and mirrors, which follow changes.
    package static var streams: String { "streams" }

    /// `jobs`: the job's binding, and the operators' requests.
    package var jobs: JobStore { JobStore(client: client, job: job) }
    /// `ranges`: lease, checkpoint and undo.
    package var ranges: RangeStore {
        RangeStore(client: client, job: job, identity: identity, given: terms, collection: leases)
    }
    /// `parts`: the `_id`s at which the job was cut into parts for several runners.
    package var parts: PartStore { PartStore(client: client, job: job) }
    /// `failed`: documents that were skipped.
    package var failures: FailureStore { FailureStore(client: client, job: job) }
    /// `harm`: reservations below the limit of unsynced documents.
    package var reservations: ReservationStore { ReservationStore(client: client, job: job) }
    /// `journal`: the data that undo needs.
    package var journal: JournalStore { JournalStore(client: client, job: job) }
    /// `leftalone`: the documents that an undo skipped.
    package var leftAlone: LeftAloneStore { LeftAloneStore(client: client, job: job) }
}

extension StateStore {
    /// Refuses a job whose text, schemas or collection are not those that it was started with, a job that is being
    /// undone or was, and one that was cleaned up although its steps need their marks to know what they did.
    /// - Parameter restarts: whether the operator wants a job whose range is gone to start over.
    package func check(_ binding: JobStore.Binding, restarts: Bool = false) throws {
        guard let record = try jobs.record() else { return }
        // A run creates the range before the record, and another runner may begin the job now: so read the range last.
        let hasRange = try ranges.document() != nil
        try checkVersion(of: record)
        if binding.hasMarkers, record["cleaned"] != nil {
            throw RunError(
                .bindingChanged,
                "job \"\(job)\" cannot run again: it was cleaned up, and the fields that its `once` names, which "
                    + "marked finished documents, are gone; to repeat its steps, give the job a new name")
        }
        if let undo = try ranges.undoing() { throw undo.refusal(of: job) }
        guard hasRange || restarts else {
            throw RunError(
                .checkpointUnreadable,
                "job \"\(job)\" was started, but its progress is gone from database \"\(client.database)\"; start over "
                    + "with --restart: only documents that still need the job are changed")
        }
        guard !binding.hasAnotherUUID(than: record) else {
            throw RunError.anotherUUID(of: job, on: binding.namespace, "since the job started")
        }
        if let difference = binding.difference(from: record) {
            throw RunError(
                .bindingChanged,
                "job \"\(job)\" cannot continue: \(difference) since it was started; give the changed job a new name")
        }
    }

    /// Creates the job's range, unless it exists.
    package func createRange() throws(MongoError) {
        try client.createIfAbsent(
            "ranges", id: ranges.id,
            ["version": .integer(JobStore.version), "pass": 0, "chunks": 0, "modified": 0, "state": "idle"])
    }

    /// Creates the records of the job and its range, unless an earlier run did.
    /// - Parameter keepsJournal: whether this run keeps a journal; once a run did not, the job cannot be undone.
    package func begin(_ binding: JobStore.Binding, keepsJournal: Bool) throws(MongoError) {
        try createRange()
        try client.createIfAbsent("jobs", id: .string(job), binding.document)
        if !keepsJournal { try client.set("jobs", ["_id": .string(job), "journal": true], ["journal": false]) }
    }
}
