internal import ArgumentParser
internal import JobState
internal import Reporting
internal import Running

/// The options of the commands that run or undo a job.
struct RunFlags: ParsableArguments {
    @Option(help: ArgumentHelp("Accept that the run makes this many documents unsyncable.", valueName: "count"))
    var allowUnsync: Int?

    @Option(
        help: ArgumentHelp("Stop after this time, between two chunks, with exit code 75.", valueName: "duration"))
    var maxRuntime: DurationArgument?

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

    @Flag(
        help: ArgumentHelp(
            "Remove sync translator locks that do not change during the setting lock-wait, and write those documents.",
            discussion: "undo does not restore the locks."))
    var unsetLocks = false

    func validate() throws {
        if let maxRuntime, maxRuntime.duration <= .zero {
            throw ValidationError("--max-runtime must be more than nothing: the run would end before its first chunk")
        }
        if maxErrors < 0 { throw ValidationError("--max-errors must not be negative") }
        if let allowUnsync, allowUnsync < 0 { throw ValidationError("--allow-unsync must not be negative") }
    }

    var options: RunOptions {
        var options = RunOptions(Settings.current)
        options.maxRuntime = maxRuntime?.duration
        options.ledger = LedgerPlace.scope()
        options.allowUnsync = allowUnsync
        options.maxErrors = maxErrors
        options.restarts = restart
        options.lockWait = Settings.current[Known.lockWait]
        options.unsetsLocks = unsetLocks
        return options
    }
}

extension RunOptions {
    /// Creates the options of a run that holds a lease: the state database, and the terms of the lease.
    init(_ settings: Settings) {
        self.init()
        stateDatabase = settings[Known.stateDatabase]
        lease = LeaseTerms(duration: settings[Known.leaseTTL])
        leaseWait = settings[Known.leaseWait]
        release = Release.text
    }
}
