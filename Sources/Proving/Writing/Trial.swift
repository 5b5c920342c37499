import BSON
import Concurrency
import JobState
import Mongo
import Running

/// The scratch collection of a proof of writing.
struct Trial: Sendable {
    let pool: ClientPool
    let namespace: Namespace
    let hello: ServerHello

    /// The longest time for a command outside of transactions, and for a wait.
    static let limit = Duration.seconds(5)

    /// The options of a write outside of transactions, which waits for the primary alone.
    static func options(_ limit: Duration = limit) -> BSONDocument {
        ["maxTimeMS": .long(limit.milliseconds), "writeConcern": ["w": 1]]
    }

    /// Whether transactions read the newest data of the primary, as those of the engine do on a replica set.
    var isLocal: Bool { hello.topology != .sharded }

    /// Deletes the documents of earlier attempts, also for reads that see what a majority has.
    func empty() throws(MongoError) {
        let options: BSONDocument = [
            "maxTimeMS": .long(Self.limit.milliseconds), "writeConcern": ["w": "majority", "wtimeout": 5_000],
        ]
        try pool.client().collection(namespace).delete([DeleteStatement([:], isMulti: true)], options: options)
    }

    /// Returns a client with a session of its own, which inserts documents.
    func client(inserting documents: [BSONDocument] = []) throws(MongoError) -> TrialClient {
        let client = try pool.client()
        if !documents.isEmpty { try client.collection(namespace).insert(documents, options: Self.options()) }
        let session = try client.startSession()
        return TrialClient(client, session, self)
    }

    /// Returns an update of one document, in the form of the engine's updates.
    static func setting(_ field: String, to value: BSONValue, of id: BSONValue) -> UpdateStatement {
        let set = BSONDocument([(field, .object(["$literal": value]))])
        return UpdateStatement(["_id": ["$eq": id]], [["$set": .object(set)]], hint: ["_id": 1])
    }

    /// Returns the code of the server's error, or 0 if the body throws none.
    /// - Throws: the errors that are not the server's answer.
    func code(of body: () throws -> Void) throws -> MongoError.Code {
        do { try body() } catch let error as MongoError where error.domain == .server { return error.code }
        return MongoError.Code(rawValue: 0)
    }

    /// Ends the attempt if the server does not do what the program assumes.
    /// - Parameter seen: the observation.
    func expect(_ isAsAssumed: Bool, _ seen: String) throws(Assumption.Deviation) {
        guard isAsAssumed else { throw Assumption.Deviation(seen: seen) }
    }

    /// Ends the attempt if the server answers with another error code than the program assumes.
    /// - Parameter subject: the command, in words.
    func expect(_ code: MongoError.Code, _ subject: String, _ body: () throws -> Void) throws {
        let seen = try self.code(of: body)
        try expect(seen == code, "\(subject): code \(seen.rawValue)")
    }
}

/// A client with a session of its own.
final class TrialClient {
    let client: Client
    let session: Session
    let collection: MongoCollection
    private let trial: Trial

    init(_ client: consuming Client, _ session: consuming Session, _ trial: Trial) {
        collection = client.collection(trial.namespace)
        self.client = client
        self.session = session
        self.trial = trial
    }

    /// Begins a transaction as the engine does, and aborts it after the body unless the body commits it.
    func inTransaction(_ body: (MongoCollection) throws -> Void) throws {
        try session.startTransaction(commitLimit: Trial.limit, isLocal: trial.isLocal, isMajority: false)
        defer { session.abortTransaction() }
        try body(try collection.inTransaction(of: session))
    }

    /// Returns the documents of the scratch collection, except a runner's record, in the order of their `_id`s.
    /// - Parameter collection: the collection in a transaction; `nil` to read outside of transactions.
    func documents(_ collection: MongoCollection? = nil) throws(MongoError) -> [BSONDocument] {
        let options: BSONDocument = ["sort": ["_id": 1], "maxTimeMS": .long(Trial.limit.milliseconds)]
        return try (collection ?? self.collection).find(["seq": ["$exists": false]], options: options).documents()
    }

    /// Sets a field of a document outside of transactions.
    func set(
        _ field: String, to value: BSONValue, of id: BSONValue, within limit: Duration = Trial.limit
    ) throws(MongoError) {
        try collection.update([Trial.setting(field, to: value, of: id)], options: Trial.options(limit))
    }

    /// Whether a write of a document has to wait for another client's transaction.
    func isKept(from id: BSONValue, for limit: Duration) throws(MongoError) -> Bool {
        do throws(MongoError) { try set("free", to: true, of: id, within: limit) } catch {
            guard error.isTimeLimit else { throw error }
            return true
        }
        return false
    }
}

/// A runner of a job whose record is in the scratch collection, with the lease and the fence of the product.
final class TrialRunner {
    let ranges: RangeStore
    let lease: Lease
    private let session: TransactionSession
    private let trial: Trial

    /// Takes the lease; creates the record if there is none.
    /// - Returns: `nil` if another runner holds the lease.
    init?(_ trial: Trial) throws {
        let client = StoreClient(database: trial.namespace.database, client: try trial.pool.client())
        let store = StateStore(
            client: client, job: "prove", identity: .current(), terms: LeaseTerms(duration: .seconds(30)),
            leases: trial.namespace.collection)
        try client.createIfAbsent(trial.namespace.collection, id: store.ranges.id, ["seq": 0])
        guard case .taken(let lease, _) = try store.ranges.acquire(for: .backfill) else { return nil }
        (ranges, self.lease, self.trial) = (store.ranges, lease, trial)
        session = try TransactionSession.openUnrecorded(on: trial.pool)
    }

    deinit { session.close() }

    /// Runs a transaction, and returns its outcome in words; see ``FencedTransaction/run(_:)``.
    /// - Parameter sequence: the number of the runner's last transaction.
    func transaction(after sequence: Int = 0, _ body: (borrowing FencedTransaction) throws -> Void) throws -> String {
        let transaction = FencedTransaction(
            in: session, on: ranges, under: lease, after: Int64(sequence), isLocal: trial.isLocal)
        switch try transaction.run(body) {
        case .committed: return "committed"
        case .abandoned: return "abandoned"
        case .refused(let statement, let error):
            return "refused with code \(error.code.rawValue)" + (statement.map { " at statement \($0)" } ?? "")
        case .conflict: return "in conflict with another client"
        case .fallenBack: return "not matched by the fence"
        }
    }

    /// Runs a transaction that has to have an outcome.
    func expect(
        _ outcome: String, after sequence: Int = 0, _ body: (borrowing FencedTransaction) throws -> Void
    ) throws {
        let seen = try transaction(after: sequence, body)
        try trial.expect(seen == outcome, "the transaction is \(seen), instead of \(outcome)")
    }
}
