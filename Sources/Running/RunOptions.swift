package import JobState
package import Jobs
package import Scanning

/// How one run of a job goes about it; what the job does is in ``Job``.
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
    /// Where the unsynced documents are recorded.
    package var ledger: LedgerLocation = .standard
    /// The apps whose entries of it count.
    package var apps = LedgerApps.fullest
    /// Documents that the operator accepts to become unsyncable, beyond what the headroom allows.
    package var allowUnsync: Int?
    /// Whether the operator states that the job's next schema is the active one.
    package var statesDeploy = false
    /// The only documents that the run looks at; `nil` runs over the collection.
    package var only: IDList?
    /// Whether a job that was stopped starts over, from its first document.
    package var restarts = false
    /// Documents that may be skipped before the run stops.
    package var maxErrors = 100
    /// How long documents that the sync translator holds locked are waited for, in all.
    package var lockWait: Duration = .seconds(10)
    /// Whether locks that do not change in that time are taken away.
    package var unsetsLocks = false
    /// Whether an undo takes back what it does not know to be the job's, too.
    package var includesUncertain = false
    /// How long a passing failure, such as an election, is bridged.
    package var retryLimit: Duration = .seconds(60)

    /// The defaults.
    package init() {}
}
