internal import JobState
internal import Logging
internal import Reporting
internal import Running

extension RunEvent {
    /// Shows the event on the progress line; if `quiet`, only waits and warnings.
    func show(on progress: ProgressLine, quiet: Bool) {
        if case .chunk(let documents, _) = self { return progress.add(documents) }
        if case .resumed(_, let documents) = self { progress.addEarlier(documents) }
        guard let (line, level) = message, !quiet || level >= .notice else { return }
        progress.note(line, level: level)
    }

    /// The message for the operator and its level, such as `notice` for a wait; `nil` if only the progress bar moves.
    var message: (line: String, level: Logger.Level)? {
        switch self {
        case .chunk: return nil
        case .resumed(let chunks, _): return ("resuming after \(chunks.counted("chunk")) of earlier runs", .info)
        case .waitingForLease(let holder, let seconds):
            return ("waiting up to \(Int(seconds.rounded(.up))) s for the lease of \(holder)", .notice)
        case .retrying(let reason, let attempt): return ("trying again (\(attempt)): \(reason)", .notice)
        case .halved(let documents):
            return (
                "another client wrote in the chunk, or it took too long: continuing with \(documents.documents)", .info
            )
        case .stuckAtOneDocument:
            return (
                "a chunk of one document exceeds the limits of time or size: the server is slow, or the document large",
                .warning
            )
        case .waiting(let waitReasons):
            return ("waiting: \(waitReasons.map(\.description).joined(separator: "; "))", .notice)
        case .continuing(let seconds): return ("continuing after \(Int(seconds.rounded())) s", .notice)
        case .rerun: return ("an election came between the writes of a chunk: running the chunk again", .notice)
        case .skipped(let failure): return ("skipped: _id \(failure.id.shellText), \(failure.name)", .warning)
        case .waitingForLocks(let documents, let seconds):
            return (
                "waiting up to \(Int(seconds.rounded(.up))) s for \(documents.documents) that the sync translator "
                    + "holds locked", .notice
            )
        case .waitingForLedger(let documents, let seconds):
            return (
                "waiting up to \(Int(seconds.rounded(.up))) s until the ledger has dropped "
                    + documents.counted("repaired document"), .notice
            )
        case .pass(let number, let documents):
            return ("pass \(number): \(documents.documents) arrived or changed during the last pass", .info)
        }
    }
}
