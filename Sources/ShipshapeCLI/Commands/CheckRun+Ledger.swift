internal import Checking
internal import Concurrency
internal import Mongo
internal import Scanning

/// What a check reads of the ledger of unsynced documents.
struct CheckedLedger {
    /// The documents that it records; `nil` when there is none.
    var index: LedgerIndex?
    /// What the reader should know of it, a clause each.
    var notes: [String] = []
}

extension CheckRun {
    /// Reads the ledger.
    /// - Throws: ``LedgerUnreadable`` when it may not be read; ``MongoError``.
    func ledger(on pool: ClientPool) async throws -> CheckedLedger {
        do {
            return try await onOwnedThread(name: "ledger") { [location, apps] () throws in
                guard let reader = try LedgerReader.open(location, of: apps, on: try pool.client()) else {
                    if let error = LedgerFlags.missing(location) { throw error }
                    return CheckedLedger()
                }
                let index = try reader.index()
                let found = index.total.entries > 0 ? reader.apps : []
                return CheckedLedger(
                    index: index,
                    notes: apps.missing(of: found, ledgerIsThere: true) + [index.total.warning].compactMap(\.self))
            }
        } catch let error as MongoError where error.isAuthorization {
            throw LedgerUnreadable(location.namespace ?? LedgerFinder.standard)
        }
    }
}
