import BSON

/// The reason why a run stopped between two chunks.
package enum RunStop: Sendable, Hashable {
    /// The process received SIGINT or SIGTERM.
    case signal
    /// Clients kept writing documents that need the job; the number says how many documents still need it.
    case arrivals(Int)
    /// The time that `--max-runtime` allows is used up.
    case timeBudget
    /// More documents failed than `--max-errors` allows to be skipped; the first number counts the failed documents.
    case failures(Int, allowed: Int)
    /// The next chunk would raise the number of unsynced documents to ``Headroom/ceiling``, which is the limit minus
    /// the reserve.
    case threshold(Headroom)

    /// The reason in words, as the state database records it.
    package var reason: String {
        switch self {
        case .signal: "a signal"
        case .arrivals(let count): "documents that keep arriving: \(count.grouped) still need the job"
        case .timeBudget: "the time budget (--max-runtime)"
        case .failures(let count, let allowed):
            "\(count.grouped) documents that cannot be written (--max-errors allows \(allowed.grouped))"
        case .threshold(let headroom): "the limit of unsynced documents: \(headroom.counts)"
        }
    }
}
