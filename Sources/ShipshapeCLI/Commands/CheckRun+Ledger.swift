internal import Checking
internal import Concurrency
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
                let client = try pool.client()
                let named = location == .standard ? nil : namespace
                let ledgers = try LedgerFinder.find(named: named, appID: appID, on: client)
                let indexes = try ledgers.compactMap { try LedgerReader.open($0, appID: appID, on: client)?.index() }
                // Of one app all entries count, wherever they are; of several, those of the fullest: the limit is per app.
                guard appID != nil else { return indexes.max { $0.count < $1.count } }
                return indexes.reduce(into: nil) { union, index in
                    union = union ?? LedgerIndex()
                    union?.formUnion(index)
                }
            }
        } catch let error as MongoError where error.isAuthorization {
            throw LedgerUnreadable(namespace)
        }
    }

    /// What the reader should know of the ledger: an app's id may be misspelt, and the headroom then looks too large.
    func ledgerNotes(_ index: LedgerIndex?, _ appID: String?) -> [String] {
        guard let appID, let index, index.count == 0 else { return [] }
        return ["no entry of the ledger is of the app \(appID)"]
    }
}
