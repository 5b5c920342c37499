import BSON
package import Checking

/// The counts that show how many more documents may become unsyncable before a job has to stop.
package struct Headroom: Hashable, Sendable {
    /// The size of the ledger of unsynced documents; `nil` if there is no ledger.
    ///
    /// ``documents`` and ``isExceeded`` count a missing ledger as 0 documents.
    package var ledger: LedgerCount?
    /// The number of documents that jobs have reserved, and that the ledger of unsynced documents does not list yet.
    ///
    /// A job reserves a document before a write that may make this document unsyncable.
    package var pending: Int
    /// The limit of unsynced documents, minus the reserve that jobs leave free.
    ///
    /// The sum of ``ledger`` and ``pending`` must stay below this number.
    package var ceiling: Int

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
    /// The counts as text, after the words `unsynced documents:`.
    package var description: String { "unsynced documents: \(counts)" }

    /// The counts as text: the ledger's entries, the pending reservations and the limit.
    var counts: String {
        let entries = ledger.map { "\($0.entries.grouped) in the ledger" } ?? "no ledger"
        return "\(entries) and \(pending.grouped) pending; the job stops at \(ceiling.grouped)"
    }
}

extension Headroom {
    /// Returns the steps, with their commands, by which an operator can make room for more unsyncable documents.
    package static func remedies(for job: String) -> String {
        "deploy the next schema and record it with shipshape job deployed \(job); or repair documents that stopped "
            + "syncing (shipshape ledger show lists them, shipshape undo JOB undoes a job); or terminate and re-enable "
            + "sync, which empties the ledger; or raise the limit (unsynced below limits in the job file; for a "
            + "started job, shipshape job tune \(job) unsynced=NUMBER)"
    }
}
