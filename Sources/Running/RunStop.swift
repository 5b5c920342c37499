import JobState

/// Why a run stopped between two chunks.
package enum RunStop: Sendable, Hashable {
    /// SIGINT or SIGTERM.
    case signal
    /// Documents that need the job kept arriving; so many still need it.
    case arrivals(Int)
    /// The time of `--max-runtime` is used up.
    case timeBudget
    /// More documents had to be skipped than `--max-errors` allows.
    case failures(Int, allowed: Int)
    /// The next chunk would bring the unsynced documents to the ceiling.
    case threshold(Headroom)

    /// The reason in words, as the state database records it.
    package var reason: String {
        switch self {
        case .signal: "a signal"
        case .arrivals(let count): "documents that keep arriving: \(count.separated) still need the job"
        case .timeBudget: "the time budget (--max-runtime)"
        case .failures(let count, let allowed):
            "\(count.separated) documents that cannot be written (--max-errors allows \(allowed.separated))"
        case .threshold(let headroom): "the limit of unsynced documents: \(headroom.counts)"
        }
    }
}
