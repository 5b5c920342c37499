package import BSON
package import Mongo

/// The state of a job in the state database: one store per collection, on one client.
///
/// All times are the server's. Writes outside of a chunk's transaction wait for a majority of the members.
package struct StateStore: ~Copyable {
    /// The connection to the state database, which the stores of all collections share.
    package let client: StoreClient
    package let job: String
    /// The identity of the runner that takes the leases.
    package let identity: RunnerIdentity
    /// The duration of the runner's leases, and how much the clocks of two servers may differ.
    package let terms: LeaseTerms
    /// The name of the collection that holds the runner's lease.
    package let leases: String
    /// The number of the runner's thread that uses the stores, as ``RangeStore/thread`` has it.
    package let thread: Int

    /// Creates the stores; reads nothing.
    /// - Parameter leases: the collection that holds the lease: `ranges` for a job, ``streams`` for a watch or a
    ///   mirror.
    package init(
        client: StoreClient, job: String, identity: RunnerIdentity, terms: LeaseTerms, leases: String = "ranges",
        thread: Int = 0
    ) {
        (self.client, self.job, self.identity, self.terms) = (client, job, identity, terms)
        (self.leases, self.thread) = (leases, thread)
    }

    /// The name of the collection that holds the leases of watches and mirrors, which follow the changes of a
    /// collection.
    package static var streams: String { "streams" }

    package var jobs: JobStore { JobStore(client: client, job: job) }
    /// The store for the job's lease, checkpoint and undo, in the collection ``leases``: `ranges` for a job.
    package var ranges: RangeStore {
        RangeStore(client: client, job: job, identity: identity, given: terms, collection: leases, thread: thread)
    }
    package var parts: PartStore { PartStore(client: client, job: job) }
    package var failures: FailureStore { FailureStore(client: client, job: job) }
    package var reservations: ReservationStore { ReservationStore(client: client, job: job) }
    package var journal: JournalStore { JournalStore(client: client, job: job) }
    package var sessions: SessionStore { SessionStore(client: client, job: job, thread: thread) }
    package var skipped: SkippedStore { SkippedStore(client: client, job: job) }

    /// Refuses a job that cannot be run or continued.
    ///
    /// A job is refused if its text, schemas, bounds or collection have changed since it was started, or if it was
    /// undone or is being undone. A job is also refused if this version cannot read its record, or if its progress was
    /// deleted. After a cleanup, a job with marker fields is refused, because the fields that showed which documents
    /// are done are gone.
    /// - Parameter restarts: whether a job whose record in the collection `ranges` is gone may start over, as the
    ///   operator requested.
    package func check(_ binding: JobStore.Binding, restarts: Bool = false) throws {
        guard let record = try jobs.record() else { return }
        // Another runner may begin the job at the same time. It creates the record in `ranges` before the one in
        // `jobs`, so `ranges` is read after `jobs`: otherwise the record in `ranges` could seem to be missing.
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

    /// Refuses a job's record if this version of the program cannot read its layout.
    package func checkVersion(of record: BSONDocument) throws(RunError) {
        let version = record["version"]?.integer ?? 0
        guard version != JobStore.version else { return }
        let way =
            version > JobStore.version
            ? "use that version, or a later one"
            : "finish or undo the job with the version that started it, or give the job a new name: it then changes "
                + "only documents that still need it, and can undo only those changes"
        throw RunError(
            .checkpointUnreadable,
            "the state of job \"\(job)\" in database \"\(client.database)\" was written by "
                + "\(version > JobStore.version ? "a later" : "an earlier") version of the program: its layout is "
                + "\(version), and this one reads \(JobStore.version); \(way)")
    }

    /// Creates the job's record in the collection `ranges`, unless it exists.
    package func createRange() throws(MongoError) {
        try client.createIfAbsent(
            "ranges", id: ranges.id,
            ["version": .integer(JobStore.version), "pass": 0, "chunks": 0, "modified": 0, "state": "idle", "seq": 0])
    }

    /// Creates the job's records in the collections `jobs` and `ranges`, unless an earlier run did.
    /// - Parameter keepsJournal: whether this run keeps a journal; after a run without one, the job cannot be undone.
    package func begin(_ binding: JobStore.Binding, keepsJournal: Bool) throws(MongoError) {
        try createRange()
        try client.createIfAbsent("jobs", id: .string(job), binding.document)
        // A later run of a step at any depth may find more fields.
        let known = Set(try client.first("jobs", ["_id": .string(job)], projecting: ["touched": 1])?.touched ?? [])
        let new = binding.touched.filter { !known.contains($0) }.map { BSONValue.string($0.description) }
        if !new.isEmpty {
            let touched: BSONValue = ["$concatArrays": ["$touched", ["$literal": .array(of: new)]]]
            _ = try client.modify("jobs", ["_id": .string(job)], [["$set": ["touched": touched]]])
        }
        if !keepsJournal { try client.set("jobs", ["_id": .string(job), "journal": true], ["journal": false]) }
    }
}
