package import Checking

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
    package var description: String {
        let entries = ledger.map { "\($0.entries) in the ledger" } ?? "no ledger"
        return "unsynced documents: \(entries) + \(pending) pending, must stay under \(ceiling)"
    }
}

extension Headroom {
    /// The ways to make room again, with their commands.
    package static func remedies(for job: String) -> String {
        "to make room: deploy the next schema and say shipshape deployed \(job); or repair what stopped syncing (shipshape "
            + "unsynced lists it, shipshape undo JOB takes a job back); or terminate and re-enable sync, which empties the "
            + "ledger; or raise the limit (unsynced below limits in the job file; of a job that was started, shipshape tune "
            + "\(job) unsynced=NUMBER)"
    }
}
