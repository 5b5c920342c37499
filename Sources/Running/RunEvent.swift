package import JobState

/// An event that a runner reports while it works; the command line shows it.
package enum RunEvent: Sendable {
    /// The job continues after the chunks of earlier runs, which processed about so many documents.
    case resumed(chunks: Int, documents: Int)
    /// The runner waits for the end of another runner's lease.
    case waitingForLease(holder: String, seconds: Double)
    /// A chunk was written, or read in a dry run.
    case chunk(documents: Int, modified: Int)
    /// A passing failure: the operation is tried again.
    case retrying(reason: String, attempt: Int)
    /// A chunk took too long; the next one has half as many documents.
    case halved(documents: Int)
    /// A chunk of a single document takes more than a chunk's target of time or bytes; reported once.
    case stuckAtOneDocument
    /// The throttle makes the run wait; it keeps its lease.
    case waiting([Hold])
    /// The wait is over: nothing throttles any more.
    case goingOn(seconds: Double)
    /// An election between the writes of a chunk may have undone some of them, so the chunk is run again.
    case rerun
    /// A document cannot be written, and was skipped.
    case skipped(Failure)
    /// The sync translator holds documents locked, and the run waits for them.
    case waitingForLocks(documents: Int, seconds: Double)
    /// An undo waits because repaired documents keep their reservations while the ledger may still show them.
    case waitingForLedger(documents: Int, seconds: Double)
    /// A new pass over documents that arrived or changed during the last one.
    case pass(number: Int, documents: Int)
}
