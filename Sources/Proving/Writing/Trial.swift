import BSON
import Concurrency
import JobState
import Mongo
import Running

/// A runner of a job whose record is in the scratch collection, with the lease and the transactions of the product.
///
/// The compiler fails for closures that capture a `Client` or a `Session`, so the trial has them in other classes.
final class Trial {
    let pool: ClientPool
    /// The collection by a client that has no part in the runner's transactions.
    let collection: MongoCollection
    let ranges: RangeStore
    let lease: Lease
    /// The session of the runner's transactions, with a client of its own.
    let own: TransactionSession

    enum Finding: Error {
        /// An observation that contradicts the assumption.
        case deviation(String)
        /// The reason why the assumption cannot be tried.
        case untried(String)
    }

    /// Takes the lease; `nil` if another runner holds it.
    init?(on pool: ClientPool, _ namespace: Namespace) throws {
        let state = StateStore(
            client: StoreClient(database: namespace.database, client: try pool.client()), job: "prove",
            identity: .current(), terms: LeaseTerms(duration: .seconds(30)), leases: namespace.collection)
        try state.client.createIfAbsent(namespace.collection, id: state.ranges.id, ["seq": 0])
        guard case .taken(let lease, _) = try state.ranges.acquire(for: .backfill) else { return nil }
        (self.pool, self.lease, ranges) = (pool, lease, state.ranges)
        collection = state.client.client.collection(namespace)
        own = try TransactionSession.openUnrecorded(on: pool)
    }

    var namespace: Namespace { collection.namespace }

    /// The options of a write outside of transactions, which waits for the primary alone.
    static func options(milliseconds limit: BSONValue = 5_000) -> BSONDocument {
        ["maxTimeMS": limit, "writeConcern": ["w": 1]]
    }

    /// Returns updates in the form of the engine's, one for each document.
    static func setting(_ field: String, to value: BSONValue, of ids: BSONValue...) -> [UpdateStatement] {
        let set = BSONDocument([(field, .object(["$literal": value]))])
        return ids.map { UpdateStatement(["_id": ["$eq": $0]], [["$set": .object(set)]], hint: ["_id": 1]) }
    }

    /// Whether a write of a document has to wait for the transaction of another client.
    func isKept(from id: BSONValue, for limit: BSONValue) throws(MongoError) -> Bool {
        do throws(MongoError) {
            try collection.update(Self.setting("free", to: true, of: id), options: Self.options(milliseconds: limit))
        } catch  where error.isTimeLimit { return true }
        return false
    }

    /// Returns the documents except the runner's record, in the order of their `_id`s.
    static func documents(_ collection: MongoCollection) throws(MongoError) -> [BSONDocument] {
        let options: BSONDocument = ["sort": ["_id": 1], "maxTimeMS": 5_000]
        return try collection.find(["seq": ["$exists": false]], options: options).documents()
    }

    /// Runs a transaction of the runner, which has to have an outcome: see ``FencedTransaction/run(_:)``.
    /// - Parameters:
    ///   - sequence: the number of the runner's last transaction.
    ///   - body: receives the transaction and the scratch collection in it; writes only the fence by default.
    func expect(
        _ outcome: String, after sequence: Int = 0,
        _ body: (borrowing FencedTransaction, MongoCollection) throws -> Void = { one, _ in try one.fence(setting: [:])
        }
    ) throws {
        let transaction = FencedTransaction(
            in: own, on: ranges, under: lease, after: Int64(sequence), isLocal: !own.client.isBehindRouter)
        let seen =
            switch try transaction.run({ try body($0, try $0.collection(namespace)) }) {
            case .committed: "committed"
            case .abandoned: "abandoned"
            case .refused(let statement, let error):
                "refused with code \(error.code.rawValue)" + (statement.map { " at statement \($0)" } ?? "")
            case .conflict: "in conflict with another client"
            case .fallenBack: "not matched by the fence"
            }
        try expect(seen == outcome, "the transaction is \(seen), instead of \(outcome)")
    }

    func expect(_ isAsAssumed: Bool, _ seen: String) throws {
        guard isAsAssumed else { throw Finding.deviation(seen) }
    }

    func expect(_ code: MongoError.Code?, _ command: String, _ body: () throws -> Void) throws {
        var seen: MongoError.Code?
        do { try body() } catch let error as MongoError where error.domain == .server { seen = error.code }
        try expect(seen == code, "\(command): code \(seen?.rawValue ?? 0)")
    }
}
