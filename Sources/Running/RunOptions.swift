package import JobState
package import Jobs
package import Scanning

/// The options of one run or undo of a job; ``Job`` describes what the job does.
package struct RunOptions: Sendable {
    /// The name of the database that holds checkpoints and leases.
    package var stateDatabase = "shipshape"
    /// The duration of a lease, and the largest tolerated difference between the clocks of servers.
    package var lease = LeaseTerms(duration: .seconds(30))
    /// How long to wait for a lease that another runner holds.
    ///
    /// If that runner is known to be dead, the wait lasts until its lease has ended.
    package var leaseWait: Duration = .zero
    /// How long the run may last; `nil` for no limit.
    package var maxRuntime: Duration?
    /// Whether the run keeps a journal, unless the job file turns the journal off.
    package var keepsJournal = true
    /// The location of the ledger of unsynced documents, and the apps whose entries count towards the limit of unsynced
    /// documents.
    package var ledger = LedgerScope()
    /// The total number of documents that the job may make unsyncable, even beyond the limit of unsynced documents;
    /// with `nil`, that limit applies.
    package var allowUnsync: Int?
    /// Whether the operator states that the job's next schema is the active one.
    package var statesDeploy = false
    /// The `_id`s of the documents to which the run is limited; `nil` for the whole collection.
    package var only: IDList?
    /// Whether a stopped job starts again from its first document.
    package var restarts = false
    /// How many documents the run may skip; the run stops when one more document has to be skipped.
    package var maxErrors = 100
    /// How long the run waits in all for documents that the sync translator has locked.
    package var lockWait: Duration = .seconds(10)
    /// Whether the run removes locks of the sync translator that have not changed during ``lockWait``.
    package var unsetsLocks = false
    /// Whether the job's steps are compared with the server's own before the run, also on a tested server.
    package var proves = false
    /// The program's version and commit.
    package var release = ""
    /// How long an operation is retried after temporary failures, such as an election.
    package var retryLimit: Duration = .seconds(60)

    package init() {}
}
