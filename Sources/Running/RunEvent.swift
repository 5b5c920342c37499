package import JobState

/// An event that a runner reports while it works; the command line shows it.
package enum RunEvent: Sendable {
    /// The job resumes an unfinished pass, in which earlier runs processed about `documents` documents.
    ///
    /// `chunks` is the number of chunks that earlier runs wrote.
    case resumed(chunks: Int, documents: Int)
    /// The runner waits for the lease that `holder` holds; the wait takes at most about `seconds` seconds.
    case waitingForLease(holder: String, seconds: Double)
    /// A chunk of a run, a chunk of the copy to a partner collection, or a batch of an undo was processed; in a dry
    /// run, it was only read.
    case chunk(documents: Int, modified: Int)
    /// An operation failed temporarily and is tried again.
    case retrying(reason: String, attempt: Int)
    /// Another client wrote a document of a chunk, or the chunk took too long, so the next one has half as many
    /// documents, namely `documents`.
    case halved(documents: Int)
    /// Even a chunk of a single document takes more time or bytes than a chunk should; reported once.
    case stuckAtOneDocument
    /// The run waits because of the given throttle reasons.
    case waiting([WaitReason])
    /// The run continues, after it waited for `seconds` seconds because of throttle reasons.
    case continuing(seconds: Double)
    /// An election between the writes of a chunk may have undone some of them, so the chunk is run again.
    case rerun
    /// The run skips a document, because the server refuses or cannot evaluate it, or because it is locked.
    case skipped(Failure)
    /// The sync translator has locked documents, and the run waits for them, `seconds` at most.
    case waitingForLocks(documents: Int, seconds: Double)
    /// An undo waits until it can release the reservations of `documents` documents that sync again or no longer exist.
    ///
    /// Each of these documents stays reserved for `seconds` seconds, because the sync engine's ledger of unsynced
    /// documents may still list it during this time.
    case waitingForLedger(documents: Int, seconds: Double)
    /// A new pass begins, because `documents` documents still need the job after the last pass.
    ///
    /// For example, a client inserted or changed these documents during the last pass.
    case pass(number: Int, documents: Int)
}
