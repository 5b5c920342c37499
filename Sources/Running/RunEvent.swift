package import JobState

/// What a runner says while it works; the command line shows it.
package enum RunEvent: Sendable {
    /// The job goes on after the chunks of earlier runs, which processed over about so many documents.
    case resumed(chunks: Int, documents: Int)
    /// Another runner's lease has to end first.
    case waitingForLease(holder: String, seconds: Double)
    /// A chunk was written, or read in a dry run.
    case chunk(documents: Int, modified: Int)
    /// A passing failure: the operation is tried again.
    case retrying(reason: String, attempt: Int)
    /// The chunk took too long and is halved.
    case halved(documents: Int)
    /// A chunk of a single document takes more than a chunk's target of time or bytes; said once.
    case stuckAtOneDocument
    /// Throttler hold: the run waits, and keeps its lease.
    case waiting([Hold])
    /// Nothing throttles any more.
    case goingOn(seconds: Double)
    /// An election came between the writes of a chunk, so that they may be lost: it is run again.
    case rerun
    /// A document cannot be written, and was skipped.
    case skipped(Failure)
    /// Documents are locked by the sync translator.
    case waitingForLocks(documents: Int, seconds: Double)
    /// Documents sync again, and keep their room below the limit for as long as the ledger may still show them.
    case waitingForLedger(documents: Int, seconds: Double)
    /// A new pass over documents that arrived or changed meanwhile.
    case pass(number: Int, documents: Int)
}
