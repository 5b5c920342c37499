internal import Backfill
internal import Checking
internal import Mongo
internal import Scanning

extension CheckRun {
    /// The documents that the ledger records; `nil` when there is none.
    func ledgerIndex(
        _ location: LedgerLocation, appID: String?, on pool: ClientPool
    ) async throws -> LedgerIndex? {
        guard let namespace = location.namespace else { return nil }
        do {
            return try await onOwnedThread(name: "ledger") { () throws in
                try LedgerReader.open(namespace, appID: appID, on: try pool.client())?.index()
            }
        } catch let error as MongoError where error.isAuthorization {
            throw BackfillError.ledgerUnreadable(namespace)
        }
    }
}
