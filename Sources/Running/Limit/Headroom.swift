import BSON
package import Checking

/// The state of the unsync budget, which shows how many documents may still become unsyncable.
package struct Headroom: Hashable, Sendable {
    /// The size of the ledger; `nil`, which counts as 0, if there is no ledger.
    package var ledger: LedgerCount?
    /// The number of documents that are reserved and that the ledger does not show yet.
    package var pending: Int
    /// The limit less the reserve; the sum of ``ledger`` and ``pending`` must stay below it.
    package var ceiling: Int

    /// Creates a headroom from its counts.
    package init(ledger: LedgerCount?, pending: Int, ceiling: Int) {
        self.ledger = ledger
        self.pending = pending
        self.ceiling = ceiling
    }

    /// How many more documents may become unsyncable while the sum of ``ledger`` and ``pending`` stays below
    /// ``ceiling``.
    package var documents: Int { max(0, ceiling - 1 - (ledger?.entries ?? 0) - pending) }

    /// Whether the sum of ``ledger`` and ``pending`` has reached ``ceiling``.
    package var isExceeded: Bool { (ledger?.entries ?? 0) + pending >= ceiling }
}

extension Headroom: CustomStringConvertible {
    /// The state as text, with the name of the metric, its value and its limit, like a throttle reason.
    package var description: String { "unsynced documents: \(counts)" }

    /// The ledger's entries, the pending reservations and the limit as text, without the name of the metric.
    var counts: String {
        let entries = ledger.map { "\($0.entries.grouped) in the ledger" } ?? "no ledger"
        return "\(entries) + \(pending.grouped) pending, must stay under \(ceiling.grouped)"
    }
}

extension Headroom {
    /// Returns the steps by which an operator can free room in the unsync budget, with their commands.
    package static func remedies(for job: String) -> String {
        "deploy the next schema and record it with shipshape deployed \(job); or repair documents that stopped "
            + "syncing (shipshape unsynced lists them, shipshape undo JOB undoes a job); or terminate and re-enable "
            + "sync, which empties the ledger; or raise the limit (unsynced below limits in the job file; for a "
            + "started job, shipshape tune \(job) unsynced=NUMBER)"
    }
}
