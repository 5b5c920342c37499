internal import Backfill
internal import JobState
internal import Reporting

extension RunEvent {
    /// Shows the event on the progress line.
    func show(on progress: ProgressLine, quiet: Bool) {
        switch self {
        case .chunk(let documents, _): progress.add(documents)
        case _ where quiet: break
        case .resumed(let chunks, let documents):
            progress.add(documents)
            progress.note("resuming after \(chunks.counted("chunk")) of earlier runs")
        case .waitingForLease(let holder, let seconds):
            progress.note("waiting up to \(Int(seconds.rounded(.up))) s for the lease of \(holder)")
        case .retrying(let reason, let attempt): progress.note("trying again (\(attempt)): \(reason)")
        case .halved(let documents):
            progress.note("the chunk took too long: going on with \(documents.documents)")
        case .stuckAtOneDocument:
            progress.note("chunks of one document take longer, or are larger, than the limits want: the server is slow")
        case .waiting(let holds):
            progress.note("waiting: \(holds.map(\.description).joined(separator: "; "))")
        case .goingOn(let seconds): progress.note("going on after \(Int(seconds.rounded())) s")
        case .rerun:
            progress.note("an election came between the writes of a chunk: it is run again")
        case .skipped(let failure):
            progress.note("skipped: _id \(failure.id.shellText), \(failure.name)")
        case .waitingForLocks(let documents, let seconds):
            progress.note(
                "waiting up to \(Int(seconds.rounded(.up))) s for \(documents.documents) that the sync translator holds "
                    + "locked")
        case .waitingForLedger(let documents, let seconds):
            progress.note(
                "waiting up to \(Int(seconds.rounded(.up))) s until the ledger cannot show \(documents.documents) any more "
                    + "that \(documents == 1 ? "syncs" : "sync") again")
        case .pass(let number, let documents):
            progress.note("pass \(number): \(documents.documents) arrived or changed meanwhile")
        }
    }
}
