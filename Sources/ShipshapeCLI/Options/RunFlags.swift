internal import ArgumentParser
internal import JobState
internal import Running

/// The flags of all commands that run or undo a job.
struct RunFlags: ParsableArguments {
    @Option(help: ArgumentHelp("Accept that the run makes this many documents unsyncable.", valueName: "count"))
    var allowUnsync: Int?

    @Option(
        help: ArgumentHelp("Stop after this time, between two chunks, with exit code 75.", valueName: "duration"))
    var maxRuntime: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "How long this runner's lease on the job lasts after each chunk; a write may take a quarter of it.",
            valueName: "duration"))
    var leaseTtl = DurationArgument(.seconds(30))

    @Option(
        help: ArgumentHelp(
            "How long to wait while another live runner holds the job.", valueName: "duration"))
    var leaseWait = DurationArgument(.seconds(0))

    @Flag(
        help: ArgumentHelp(
            "Start a stopped job over from its first document; only documents that still need it are changed."))
    var restart = false

    @Option(
        help: ArgumentHelp(
            "How many unwritable documents the run skips before it stops with exit code 75.",
            discussion: "Documents skipped by earlier runs count, until they are written or no longer need the job.",
            valueName: "count"))
    var maxErrors = 100

    @Option(
        help: ArgumentHelp(
            "How long to wait in total for documents that the sync translator has locked; after that they are listed.",
            valueName: "duration"))
    var lockWait = DurationArgument(.seconds(10))

    @Flag(
        help: ArgumentHelp(
            "Remove sync translator locks that do not change during --lock-wait, and write those documents too.",
            discussion: "undo does not restore the locks."))
    var unsetLocks = false

    func validate() throws {
        if let maxRuntime, maxRuntime.duration <= .zero {
            throw ValidationError("--max-runtime must be more than nothing: the run would end before its first chunk")
        }
        if maxErrors < 0 { throw ValidationError("--max-errors must not be negative") }
        guard (.seconds(1)...(.seconds(3_600))).contains(leaseTtl.duration) else {
            throw ValidationError("--lease-ttl must be from 1s to 1h: a runner that dies holds the job for that long")
        }
        if let allowUnsync, allowUnsync < 0 { throw ValidationError("--allow-unsync must not be negative") }
    }

    /// Returns the options of a run from these flags and the flags for the state database and the ledger.
    func options(state: StateFlags, ledger: LedgerFlags) -> RunOptions {
        var options = RunOptions()
        options.stateDatabase = state.stateDatabase
        options.lease = LeaseTerms(duration: leaseTtl.duration)
        options.leaseWait = leaseWait.duration
        options.maxRuntime = maxRuntime?.duration
        options.ledger = ledger.scope(of: [])
        options.allowUnsync = allowUnsync
        options.maxErrors = maxErrors
        options.restarts = restart
        options.lockWait = lockWait.duration
        options.unsetsLocks = unsetLocks
        return options
    }
}
