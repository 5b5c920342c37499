package import JobState
package import Jobs
package import Scanning

/// The options of one run of a job; what the job does is in ``Job``.
package struct RunOptions: Sendable {
    /// The database that holds checkpoints and leases.
    package var stateDatabase = "shipshape"
    /// The lease's length and margins.
    package var lease = LeaseTerms(duration: .seconds(30))
    /// How long to wait for a lease that another runner holds and may still be using.
    package var leaseWait: Duration = .zero
    /// How long the run may last; `nil` means until done.
    package var maxRuntime: Duration?
    /// Whether a journal is kept, if the job wants one.
    package var keepsJournal = true
    /// Where the sync engine records the unsynced documents.
    package var ledger: LedgerLocation = .standard
    /// The apps whose ledger entries count.
    package var apps = LedgerApps.fullest
    /// How many documents the operator accepts to become unsyncable, even if the headroom has no room for them.
    package var allowUnsync: Int?
    /// Whether the operator states that the job's next schema is the active one.
    package var statesDeploy = false
    /// The only documents that the run reads; `nil` for the whole collection.
    package var only: IDList?
    /// Whether a stopped job starts over from its first document.
    package var restarts = false
    /// How many documents may be skipped before the run stops.
    package var maxErrors = 100
    /// How long the run waits, in all, for documents that the sync translator holds locked.
    package var lockWait: Duration = .seconds(10)
    /// Whether locks that do not change during that time are removed.
    package var unsetsLocks = false
    /// Whether an undo also undoes changes that are not known to be the job's.
    package var includesUncertain = false
    /// How long an operation is retried after passing failures, such as an election.
    package var retryLimit: Duration = .seconds(60)

    /// The defaults.
    package init() {}
}
