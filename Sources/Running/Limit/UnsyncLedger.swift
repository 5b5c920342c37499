package import BSON
package import Checking
import Concurrency
package import Mongo
package import Scanning

/// A reader of the ledger in which the sync engine lists unsynced documents; jobs keep the number of entries below a
/// limit.
///
/// The sync engine may create the ledger while a job runs, so the reader looks again for a missing ledger, at most once
/// a second. The reader must be used on one thread.
package final class UnsyncLedger {
    private let client: Client
    private let scope: LedgerScope
    private var reader: LedgerReader?
    private var foundAt: ContinuousClock.Instant?

    private static let interval = Duration.seconds(1)

    package init(_ scope: LedgerScope, client: consuming Client) {
        self.scope = scope
        self.client = client
    }

    /// Whether the operator states that there is no ledger.
    ///
    /// If so, no ledger entry is ever expected.
    package var isNone: Bool { scope.location == .none }

    /// Returns the number of entries in the ledger; `nil` if there is no ledger.
    /// - Throws: ``LedgerUnreadable`` when the user lacks the privilege to read a ledger; ``MongoError``.
    package func entries() throws -> LedgerCount? { try reading { try $0?.entries() } }

    /// Returns how many entries the ledger has, and how many different documents they name; `nil` if there is no
    /// ledger.
    /// - Throws: ``LedgerUnreadable`` when the user lacks the privilege to read a ledger; ``MongoError``.
    package func count() throws -> LedgerCount? { try reading { try $0?.count() } }

    /// Returns notes on the ledger for the operator, each a clause; empty if there are none.
    /// - Throws: ``LedgerUnreadable`` when the user lacks the privilege to read a ledger; ``MongoError``.
    package func notes(on count: LedgerCount?) throws -> [String] {
        try reading { scope.notes(on: count, by: $0) }
    }

    /// Returns which of the given documents the ledger shows; empty if there is no ledger.
    /// - Throws: ``LedgerUnreadable`` when the user lacks the privilege to read a ledger; ``MongoError``.
    package func listed(_ ids: [BSONValue], of namespace: Namespace) throws -> Set<BSONValue> {
        guard !ids.isEmpty else { return [] }
        return try reading { Set(try $0?.listed(ids, of: namespace) ?? []) }
    }

    private func reading<R>(_ body: (LedgerReader?) throws -> R) throws -> R {
        do {
            if foundAt.map({ $0.duration(to: .now) >= Self.interval }) ?? true {
                reader = try LedgerReader.open(scope, on: client)
                foundAt = .now
            }
            return try body(reader)
        } catch let error as MongoError where error.isAuthorization {
            throw scope.unreadable
        }
    }
}
