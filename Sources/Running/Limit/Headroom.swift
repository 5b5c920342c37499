package import Checking
import JobState

/// The state of the budget: how many documents may still become unsyncable.
package struct Headroom: Hashable, Sendable {
    /// The number of documents in the ledger; `nil` when there is no ledger, which counts as none.
    package var ledger: LedgerCount?
    /// Documents that jobs reserved before their writes and that the ledger does not show yet.
    package var pending: Int
    /// The number that the sum must stay below: limit − reserve.
    package var ceiling: Int

    /// Joins the parts.
    package init(ledger: LedgerCount?, pending: Int, ceiling: Int) {
        self.ledger = ledger
        self.pending = pending
        self.ceiling = ceiling
    }

    /// The documents that may become unsyncable without the sum reaching the ceiling.
    package var documents: Int { max(0, ceiling - 1 - (ledger?.entries ?? 0) - pending) }

    /// Whether the sum has reached the ceiling.
    package var isExceeded: Bool { (ledger?.entries ?? 0) + pending >= ceiling }
}

extension Headroom: CustomStringConvertible {
    /// The metric, its value and its limit, as the throttle shows its reasons.
    package var description: String { "unsynced documents: \(counts)" }

    /// The value and the limit, without the name of the metric.
    var counts: String {
        let entries = ledger.map { "\($0.entries.separated) in the ledger" } ?? "no ledger"
        return "\(entries) + \(pending.separated) pending, must stay under \(ceiling.separated)"
    }
}

extension Headroom {
    /// The steps that free room, with their commands.
    package static func remedies(for job: String) -> String {
        "deploy the next schema and record it with shipshape deployed \(job); or repair documents that stopped "
            + "syncing (shipshape unsynced lists them, shipshape undo JOB undoes a job); or terminate and re-enable "
            + "sync, which empties the ledger; or raise the limit (unsynced below limits in the job file; for a "
            + "started job, shipshape tune \(job) unsynced=NUMBER)"
    }
}
