package import BSON
package import Checking
import Concurrency
package import Mongo
package import Scanning

/// The ledger of unsynced documents as the budget reads it.
///
/// It is looked for anew now and then: it may come to be while a job runs. Used on one thread.
package final class UnsyncLedger {
    private let client: Client
    private let location: LedgerLocation
    private let apps: LedgerApps
    private var reader: LedgerReader?
    private var foundAt: ContinuousClock.Instant?

    private static let interval = Duration.seconds(1)

    /// Looks for nothing yet.
    package init(_ location: LedgerLocation, of apps: LedgerApps, client: consuming Client) {
        self.location = location
        self.apps = apps
        self.client = client
    }

    /// Whether there is none by the operator's word, so that nothing is expected to show up in it.
    package var isNone: Bool { location == .none }

    /// The entries that the ledger holds; `nil` when there is none.
    /// - Throws: ``LedgerUnreadable`` when a ledger may not be read; ``MongoError``.
    package func entries() throws -> LedgerCount? { try reading { try $0?.entries() } }

    /// The same, and the distinct documents that they name.
    /// - Throws: ``LedgerUnreadable`` when a ledger may not be read; ``MongoError``.
    package func count() throws -> LedgerCount? { try reading { try $0?.count() } }

    /// What the reader should know of the ledger, a clause each.
    /// - Throws: ``LedgerUnreadable`` when a ledger may not be read; ``MongoError``.
    package func notes(on count: LedgerCount?) throws -> [String] {
        try reading { reader in
            let found = count.map { $0.entries > 0 } == true ? reader?.apps ?? [] : []
            return apps.missing(of: found, ledgerIsThere: reader != nil) + [count?.warning].compactMap(\.self)
        }
    }

    /// Which of these documents the ledger holds.
    /// - Throws: ``LedgerUnreadable`` when a ledger may not be read; ``MongoError``.
    package func holding(_ ids: [BSONValue], of namespace: Namespace) throws -> Set<BSONValue> {
        guard !ids.isEmpty else { return [] }
        return try reading { Set(try $0?.holding(ids, of: namespace) ?? []) }
    }

    private func reading<R>(_ body: (LedgerReader?) throws -> R) throws -> R {
        do {
            if foundAt.map({ $0.duration(to: .now) >= Self.interval }) ?? true {
                reader = try LedgerReader.open(location, of: apps, on: client)
                foundAt = .now
            }
            return try body(reader)
        } catch let error as MongoError where error.isAuthorization {
            throw LedgerUnreadable(location.namespace ?? LedgerFinder.standard)
        }
    }
}
