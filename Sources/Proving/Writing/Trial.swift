import BSON
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

    /// An observation that contradicts the assumption, or the reason why it cannot be tried.
    enum Finding: Error {
        case deviation(String)
        case untried(String)
    }

    /// Takes the lease; `nil` if another runner holds it.
    init?(on pool: ClientPool, _ namespace: Namespace) throws {
        let state = StateStore(
            client: StoreClient(database: namespace.database, client: try pool.client()), job: "prove",
            identity: .current(), terms: LeaseTerms(duration: .seconds(30)), leases: namespace.collection)
        try state.client.createIfAbsent(namespace.collection, id: state.ranges.id, ["seq": 0])
        guard case .taken(let lease, _) = try state.ranges.acquire(for: .backfill) else { return nil }
        self.pool = pool
        self.lease = lease
        ranges = state.ranges
        collection = state.client.client.collection(namespace)
        own = try TransactionSession.openUnrecorded(on: pool)
    }

    var namespace: Namespace { collection.namespace }

    /// The options of a write outside of transactions, which waits for the primary alone.
    static let write: BSONDocument = ["maxTimeMS": 5_000, "writeConcern": ["w": 1]]

    /// Returns updates in the form of the engine's, one for each document.
    static func setting(_ field: String, to value: BSONValue, of ids: BSONValue...) -> [UpdateStatement] {
        let set = BSONDocument([(field, .object(["$literal": value]))])
        return ids.map { UpdateStatement(["_id": ["$eq": $0]], [["$set": .object(set)]], hint: ["_id": 1]) }
    }

    /// Whether a write of a document has to wait for the transaction of another client.
    func isKept(from id: BSONValue, for limit: BSONValue) throws(MongoError) -> Bool {
        do throws(MongoError) {
            let options: BSONDocument = ["maxTimeMS": limit, "writeConcern": ["w": 1]]
            try collection.update(Self.setting("free", to: true, of: id), options: options)
        } catch  where error.isTimeLimit { return true }
        return false
    }

    /// Returns the documents except the runner's record, in the order of their `_id`s.
    static func documents(_ collection: MongoCollection) throws(MongoError) -> [BSONDocument] {
        try collection.find(["seq": ["$exists": false]], options: ["sort": ["_id": 1], "maxTimeMS": 5_000]).documents()
    }

    /// Runs a transaction of the runner, which has to have an outcome: see ``FencedTransaction/run(_:)``.
    /// - Parameters:
    ///   - sequence: the number of the runner's last transaction.
    ///   - body: receives the transaction and the scratch collection in it; writes only the fence by default.
    func expect(
        _ outcome: String, after sequence: Int = 0,
        _ body: (borrowing FencedTransaction, MongoCollection) throws -> Void = { it, _ in try it.fence(setting: [:]) }
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

/// The trials of the assumptions.
extension Trial {
    func refusesStatement() throws {
        let before: [BSONDocument] = [["_id": 0, "v": "1"], ["_id": 1, "v": "2"], ["_id": 2, "v": "no"]]
        try collection.insert(before, options: Self.write)
        try expect("refused with code 241 at statement 2") { transaction, inside in
            try transaction.fence(setting: [:])
            let updates = (0..<3).map { UpdateStatement(["_id": .integer($0)], [["$set": ["v": ["$toInt": "$v"]]]]) }
            do { try transaction.update(updates, of: namespace, options: [:]) } catch {
                try expect(.noSuchTransaction, "a command after the refusal") { _ = try Self.documents(inside) }
                throw error
            }
        }
        try expect("refused with code 11000") { transaction, _ in
            try transaction.fence(setting: [:])
            try transaction.insert([["_id": 3], ["_id": 0]], into: namespace)
        }
        let reply = try collection.insert([["_id": 0]], collectsWriteErrors: true, options: Self.write)
        try expect(reply.writeErrors.first?.takenKey == ["_id": 0], "code 11000 comes without the existing key")
        try expect(try Self.documents(collection) == before, "writes of a refused transaction are kept")
        try expect("committed")
    }

    func refusesChangedDocument() throws {
        try collection.insert([["_id": 0, "v": 0], ["_id": 1, "v": 0]], options: Self.write)
        try expect("in conflict with another client") { transaction, inside in
            _ = try Self.documents(inside)
            try collection.update(Self.setting("other", to: 1, of: 1), options: Self.write)
            try transaction.fence(setting: [:])
            try transaction.update(Self.setting("v", to: 1, of: 0, 1), of: namespace, options: [:])
        }
        let expected: [BSONDocument] = [["_id": 0, "v": 0], ["_id": 1, "v": 0, "other": 1]]
        try expect(try Self.documents(collection) == expected, "writes of a transaction in conflict are kept")
    }

    func readsSnapshot() throws {
        try collection.insert([["_id": 0, "n": 0], ["_id": 1, "n": 0]], options: Self.write)
        for round in 0..<10 {
            try expect("committed", after: round) { transaction, inside in
                let first = try Self.documents(inside)
                let next = BSONValue.integer(round + 1)
                try collection.update(Self.setting("n", to: next, of: 1), options: Self.write)
                try expect(first.first?["n"] == .integer(round), "a transaction does not see its session's last commit")
                try expect(
                    try Self.documents(inside) == first, "a transaction sees a write that is later than its reads")
                try transaction.fence(setting: [:])
                try transaction.update(Self.setting("n", to: next, of: 0), of: namespace, options: [:])
            }
        }
    }

    func fencesRecord() throws {
        try expect(try Trial(on: pool, namespace) == nil, "two runners hold one lease")
        try expect("not matched by the fence", after: 1)
        try expect("committed") { transaction, _ in
            try transaction.fence(setting: [:])
            try expect(try isKept(from: ranges.id, for: 200), "another client writes the record of an open transaction")
        }
        try expect(.writeConflict, "the fence of a transaction in which another runner takes the lease") {
            try expect("ended by code 112", after: 1) { transaction, inside in
                _ = try Self.documents(inside)
                try ranges.release(lease)
                try expect(try Trial(on: pool, namespace) != nil, "a lease cannot be taken after its release")
                try transaction.fence(setting: [:])
            }
        }
        try expect("not matched by the fence", after: 1)
    }

    func endsKilledSession() throws {
        try collection.insert([["_id": 0]], options: Self.write)
        try expect("abandoned") { _, inside in
            try inside.update(Self.setting("v", to: 1, of: 0))
            try expect(try isKept(from: 0, for: 200), "another client writes a transaction's document")
            do { try ranges.client.client.killSessions([own.session.id]) } catch let error as MongoError {
                guard error.domain == .server else { throw error }
                throw Finding.untried("the server refuses killSessions with code \(error.code.rawValue)")
            }
            try expect(try !isKept(from: 0, for: 3_000), "3 s after killSessions, the document is still held")
            try expect(.noSuchTransaction, "the commit after killSessions") { try own.session.commitTransaction() }
        }
    }

    func repeatsCommit() throws {
        try collection.insert([["_id": 0, "n": 0]], options: Self.write)
        try expect("abandoned") { _, inside in
            try inside.update([UpdateStatement(["_id": 0], ["$inc": ["n": 1]])])
            try own.session.commitTransaction()
            // The driver repeats a commit with a majority. If only the majority is missing, the commit was done.
            do { try own.session.commitTransaction() } catch let error as MongoError where error.isWriteConcern {}
        }
        try expect(try Self.documents(collection) == [["_id": 0, "n": 1]], "a transaction is not written exactly once")
        let unknown: BSONDocument = ["commitTransaction": 1, "txnNumber": .long(1 << 40), "autocommit": false]
        let other = try TransactionSession.openUnrecorded(on: pool)
        try expect(.noSuchTransaction, "the commit of an unknown transaction") {
            try other.client.runCommand(unknown, on: "admin", options: try other.session.options())
        }
    }

    func waitsForMajority() throws {
        for round in 0..<3 {
            try expect("committed", after: round)
            let written = RangeStore.sequence(of: try ranges.renew(lease).1)
            let read = RangeStore.sequence(of: try ranges.document() ?? [:])
            try expect(
                written == round + 1 && read == round + 1,
                "after transaction \(round + 1), the write sees \(written), and a majority read sees \(read)")
        }
    }

    func storesLiterals() throws {
        var values = OddValues.all.compactMap { odd in odd.value.map { (odd.name, $0) } }
            .filter { $0.1.byteCount <= 1 << 20 }
        // Names that repeat are not tried: mongod 6.0.5 aborts when it writes them, and later versions refuse them.
        values.append(("odd names", ["": [["": 1]], "a.b": 2, "a": 3]))
        // A server before 5.0 refuses names that begin with a dollar sign.
        if try own.client.hello().maxWireVersion >= ServerHello.wireVersionOf50 {
            values.append(("names with a dollar sign", ["$x": 1, "a": ["$y": [["$z": 2]]]]))
        }
        try collection.insert(
            values.indices.map { ["_id": .integer($0), "a": 1, "v": ["old": 1], "gone": 2, "z": .long(1)] },
            options: Self.write)
        let updates = values.enumerated().map { index, value in
            let set: BSONDocument = ["v": ["$literal": value.1], "gone": "$$REMOVE", "new": ["$literal": value.1]]
            return UpdateStatement(["_id": ["$eq": .integer(index)]], [["$set": .object(set)]], hint: ["_id": 1])
        }
        try collection.update(updates, options: Self.write)
        for (stored, (index, value)) in zip(try Self.documents(collection), values.enumerated()) {
            let expected: BSONDocument = ["_id": .integer(index), "a": 1, "v": value.1, "z": .long(1), "new": value.1]
            try expect(stored == expected, "another document is stored for the value: \(value.0)")
        }
        let whole = BSONDocument([("_id", .integer(0))] + values.enumerated().map { ("f\($0)", $1.1) })
        let replacement: BSONValue = [["$replaceWith": ["$literal": .object(whole)]]]
        try collection.update([UpdateStatement(["_id": ["$eq": 0]], replacement)], options: Self.write)
        try expect(try Self.documents(collection).first == whole, "another document is stored by $replaceWith")
    }

    func refusesOtherUUID() throws {
        // The wire version of MongoDB 6.0.
        guard try own.client.hello().maxWireVersion >= 17 else {
            throw Finding.untried("commands have no collectionUUID before MongoDB 6.0, and the program sends none")
        }
        try collection.insert([["_id": 0]], options: Self.write)
        let uuid = try own.client.collectionInfo(namespace)?.uuid ?? .null
        try expect(uuid != .null, "listCollections names no UUID")
        let missing = Namespace(database: namespace.database, collection: namespace.collection + "_missing")
        let other = BSONValue.binary(subtype: 4, bytes: (0..<16).map { _ in .random(in: 0...255) })
        for (namespace, uuid, isRight) in [(namespace, uuid, true), (namespace, other, false), (missing, uuid, false)] {
            let expected = isRight ? nil : MongoError.Code.collectionUUIDMismatch
            let options: BSONDocument = ["collectionUUID": uuid, "maxTimeMS": 5_000]
            func update(_ collection: MongoCollection) throws {
                try collection.sibling(namespace).update(Self.setting("v", to: 1, of: 0), options: options)
            }
            try expect(expected, "an update") { try update(collection) }
            try expect(expected, "an update in a transaction") { try expect("abandoned") { try update($1) } }
            try expect(expected, "an aggregation") {
                _ = try collection.sibling(namespace).aggregate([["$limit": 1]], options: options).documents()
            }
            try expect(expected, "a find in a transaction") {
                try expect("abandoned") { _, inside in _ = try read(inside.sibling(namespace), 1, uuid: uuid) }
            }
        }
    }

    /// Reads the `_id`s of the next documents in record order, and the place after which the next read begins.
    private func read(
        _ collection: MongoCollection, _ count: Int, after place: Int64? = nil, uuid: BSONValue? = nil
    ) throws -> (ids: [BSONValue], place: Int64?) {
        let batch = try collection.recordBatch(
            after: place, count: count, comment: "shipshape prove", collectionUUID: uuid)
        var ids: [BSONValue] = []
        try batch.forEach { view in
            ids.append(BSONDocument(copying: view)["_id"] ?? .null)
            return true
        }
        return (ids, batch.position)
    }

    func resumesRecords() throws {
        try collection.insert((0..<20).map { ["_id": .integer(($0 * 7) % 20)] }, options: Self.write)
        var (all, places): ([BSONValue], [Int64?]) = ([], [])
        try expect("abandoned") { _, inside in
            all = try read(inside, 100).ids
            try expect(Set(all).count == 21, "a read in record order returns \(Set(all).count) of 21 documents")
            for count in [4, 5] {
                let place = try read(inside, count).place
                try expect(place != nil, "a read in record order has no resume token")
                let rest = try read(inside, 100, after: place).ids[...]
                try expect(rest == all[count...], "a read that continues after a resume token returns other documents")
                places.append(place)
            }
        }
        try collection.delete([DeleteStatement(["_id": ["$eq": all[4]]])], options: Self.write)
        try expect("abandoned") { _, inside in
            let next = try read(inside, 1, after: places[0]).ids
            try expect(next == [all[5]], "a read does not pass over a deleted record")
            try expect(.keyNotFound, "a read after a deleted record") { _ = try read(inside, 1, after: places[1]) }
        }
    }

    func namesSession() throws {
        try collection.insert((0..<3).map { ["_id": .integer($0)] }, options: Self.write)
        let start = BSONValue.timestamp(try own.client.operationTime(.primary))
        var stream = try pool.client().collection(namespace).watch(
            [["$match": ["operationType": ["$ne": "insert"]]], ["$project": ["documentKey": 1, "lsid.id": 1]]],
            options: ["startAtOperationTime": start, "maxAwaitTimeMS": 200, "readConcern": ["level": "majority"]])
        try expect("abandoned") { _, inside in
            try inside.update(Self.setting("v", to: 1, of: 0, 1))
            try own.session.commitTransaction()
        }
        try collection.update(Self.setting("v", to: 1, of: 2), options: Self.write)
        let end = ContinuousClock.now + .seconds(5)
        var events = 0
        while events < 3 {
            guard .now < end else { throw Finding.untried("the change stream has \(events) of 3 events after 5 s") }
            guard let view = try stream.next() else { continue }
            let isNamed = BSONDocument(copying: view)["lsid"]?.document?["id"] == own.session.id["id"]
            try expect(isNamed || events == 2, "the event of a transaction does not name its session")
            try expect(!isNamed || events < 2, "the event of another write names the transaction's session")
            events += 1
        }
    }
}
