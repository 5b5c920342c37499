import BSON
import Concurrency
import Mongo
import Scanning

/// The ledgers of unsynced documents as the budget reads them.
///
/// They are looked for anew now and then: a ledger may come to be while a job runs. Used on one thread.
final class UnsyncLedger {
    private let client: Client
    private let location: LedgerLocation
    private let appID: String?
    private var readers: [LedgerReader] = []
    private var foundAt: ContinuousClock.Instant?

    private static let interval = Duration.seconds(1)

    init(_ location: LedgerLocation, appID: String?, client: consuming Client) {
        self.location = location
        self.appID = appID
        self.client = client
    }

    /// Whether there is none by the operator's word, so that nothing is expected to show up in it.
    var isNone: Bool { location == .none }

    /// The documents that the ledgers hold for the app; `nil` when there is none.
    ///
    /// One that two ledgers hold counts twice: too many is the safe side.
    /// - Throws: ``LedgerUnreadable`` when a ledger may not be read; ``MongoError``.
    func count() throws -> Int? {
        try reading { readers in
            readers.isEmpty ? nil : try readers.reduce(0) { try $0 + $1.count() }
        }
    }

    /// Which of these documents the ledgers hold for the app.
    /// - Throws: ``LedgerUnreadable`` when a ledger may not be read; ``MongoError``.
    func holding(_ ids: [BSONValue], of namespace: Namespace) throws -> Set<BSONValue> {
        guard !ids.isEmpty else { return [] }
        return try reading { readers in
            try readers.reduce(into: []) { $0.formUnion(try $1.holding(ids, of: namespace)) }
        }
    }

    private func reading<R>(_ body: ([LedgerReader]) throws -> R) throws -> R {
        do {
            try find()
            return try body(readers)
        } catch let error as MongoError where error.isAuthorization {
            throw LedgerUnreadable(location.namespace ?? LedgerFinder.standard)
        } catch let error as MongoError where error.isTimeLimit {
            // A server under load takes longer; that passes.
            throw MongoError(
                error.domain, .exceededTimeLimit, message: error.message, codeName: error.codeName, host: error.host)
        }
    }

    private func find() throws(MongoError) {
        guard let namespace = location.namespace else { return }
        if let foundAt, foundAt.duration(to: .now) < Self.interval { return }
        let named = location == .standard ? nil : namespace
        var found: [LedgerReader] = []
        for ledger in try LedgerFinder.find(named: named, appID: appID, on: client) {
            if let reader = try LedgerReader.open(ledger, appID: appID, on: client) { found.append(reader) }
        }
        // Of one app all entries count, wherever they are; of several, those of the fullest: the limit is per app.
        if appID == nil, found.count > 1 {
            var fullest: (reader: LedgerReader, count: Int)?
            for reader in found {
                let count = try reader.count()
                if fullest.map({ count > $0.count }) ?? true { fullest = (reader, count) }
            }
            found = fullest.map { [$0.reader] } ?? []
        }
        readers = found
        foundAt = .now
    }
}
