package import JobState
package import Jobs
package import Scanning

/// The options of one run or undo of a job; ``Job`` describes what the job does.
package struct RunOptions: Sendable {
    /// The database that holds checkpoints and leases.
    package var stateDatabase = "shipshape"
    /// How long a lease lasts, and how far the clocks of servers may be apart.
    package var lease = LeaseTerms(duration: .seconds(30))
    /// How long to wait for a lease that another runner holds and may still be using.
    package var leaseWait: Duration = .zero
    /// How long the run may last; `nil` for no limit.
    package var maxRuntime: Duration?
    /// Whether the run keeps a journal, if the job file does not turn it off.
    package var keepsJournal = true
    /// Where the sync engine records the unsynced documents, and which apps' entries count.
    package var ledger = LedgerScope()
    /// How many documents the operator accepts to become unsyncable although the headroom is smaller; `nil` for none.
    package var allowUnsync: Int?
    /// Whether the operator states that the job's next schema is the active one.
    package var statesDeploy = false
    /// The `_id`s of the only documents that the run reads; `nil` for the whole collection.
    package var only: IDList?
    /// Whether a stopped job starts over from its first document.
    package var restarts = false
    /// How many documents may be skipped before the run stops.
    package var maxErrors = 100
    /// How long the run waits, in all, for documents that the sync translator has locked.
    package var lockWait: Duration = .seconds(10)
    /// Whether the run removes the sync translator's locks that do not change during ``lockWait``.
    package var unsetsLocks = false
    /// Whether an undo also undoes changes of which it is uncertain that the job made them.
    package var includesUncertain = false
    /// How long an operation is retried after temporary failures, such as an election.
    package var retryLimit: Duration = .seconds(60)

    /// Creates options with the default values.
    package init() {}
}
