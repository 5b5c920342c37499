import BSON
import Concurrency
import JobState
import Jobs
import Mongo
import Running
import Scanning

/// Writes documents of the original and of the partner collection, in transactions of its own session.
///
/// A transaction writes a document only if it has not changed since it was read, and only while the runner holds the
/// lease. The first write of the transaction is to the lease's document in the state database. No other runner can
/// therefore take the lease before the transaction has ended.
struct PairWriter: ~Copyable {
    struct Change {
        /// The key of the pair, an original and its partner, to which the document belongs.
        let key: IDKey
        let id: BSONValue
        /// The document as it was read before the write; `nil` if it did not exist.
        let before: BSONDocument?
        /// The document after the write; `nil` deletes it.
        let after: BSONDocument?

        fileprivate var byteCount: Int { (before?.bytes.count ?? 0) + (after?.bytes.count ?? 0) + 100 }
    }

    struct Refused {
        var change: Change
        var code: MongoError.Code
        /// The `_id` of the document that already has the same key in a unique index; `nil` if none is known.
        var holder: BSONValue?
    }

    /// The changes that the writer did not make.
    struct Outcome {
        /// Changes that were not made, because another client is writing the document, or has changed it since it was
        /// read.
        ///
        /// Changes that exchange keys of a unique index are made in one transaction. If one of them is in this list,
        /// all of them are.
        var unchanged: [Change] = []
        /// Changes that the server refuses.
        var refused: [Refused] = []
    }

    /// A transaction of the writer, which may need several attempts.
    ///
    /// If an attempt failed but may have been committed, the transaction's record in ``CarriedChanges`` shows whether
    /// it was. The documents cannot show that, because a client may have changed them back.
    private struct Transaction {
        let namespace: Namespace
        /// A point in time; each written document contains all changes that were made to it and to its partner up to
        /// this time.
        let time: ClusterTime
        let isExchange: Bool
        /// The number of the transaction's record in ``CarriedChanges``.
        let number: Int
        /// The changes that the last attempt left out because their documents had changed; `nil` if no attempt reached
        /// the commit.
        var unchanged: [Change]?
    }

    private enum Attempt {
        case done(unchanged: [Change])
        /// The lease has ended, or another runner holds it.
        case unfenced
        /// The server refuses the change at the given position in the list of changes; no change was made.
        case refused(Int, MongoError.Code, key: BSONDocument?)
        /// The server refuses a command, or another client wrote one of the documents; no change was made.
        case failed(MongoError)
    }

    private let client: Client
    private let session: Session

    static func open(on pool: ClientPool) throws(MongoError) -> PairWriter {
        let client = try pool.client()
        let session = try client.startSession()
        return PairWriter(client: client, session: session)
    }

    private init(client: consuming Client, session: consuming Session) {
        self.client = client
        self.session = session
    }

    /// A time at or after the last commit, on the deployment's logical clock.
    var lastCommit: ClusterTime { ClusterTime(rawValue: session.operationTime) }

    /// The `lsid` of the writer's session.
    ///
    /// The change events of the writer's writes contain this `lsid`.
    var sessionID: BSONDocument { session.id }

    /// Writes changes to documents of a collection, and returns the changes that were not made.
    /// - Parameters:
    ///   - time: a point in time; each written document contains all changes that were made to it and to its partner up
    ///     to this time.
    ///   - carried: the records in which each transaction stores that time for each pair that it writes.
    ///   - isExchange: whether the changes exchange keys of a unique index. One transaction then makes all changes, and
    ///     deletes all documents before it inserts the first one.
    func write(
        _ changes: [Change], to namespace: Namespace, until time: ClusterTime, _ carried: inout CarriedChanges,
        isExchange: Bool = false, under kernel: inout Kernel
    ) throws -> Outcome {
        var outcome = Outcome()
        guard !isExchange else {
            try write(changes, namespace, time, &carried, isExchange: true, under: &kernel, &outcome)
            return outcome
        }
        for slice in changes.slices(count: 500, bytes: 8 << 20, size: \.byteCount) {
            try write(slice, namespace, time, &carried, isExchange: false, under: &kernel, &outcome)
        }
        return outcome
    }

    private func write(
        _ changes: [Change], _ namespace: Namespace, _ time: ClusterTime, _ carried: inout CarriedChanges,
        isExchange: Bool, under kernel: inout Kernel, _ outcome: inout Outcome
    ) throws {
        var rest = changes
        var transaction = Transaction(
            namespace: namespace, time: time, isExchange: isExchange, number: carried.makeNumber())
        while !rest.isEmpty {
            FaultInjection.reached(.beforeWrite)
            let attempt = try kernel.fenced { kernel in
                do {
                    return try self.attempt(rest, &transaction, &carried, kernel)
                } catch let error as MongoError where error.isOverload {
                    endTransaction()
                    throw error
                }
            }
            FaultInjection.reached(.afterWrite)
            switch attempt {
            case .done(let unchanged):
                outcome.unchanged += unchanged
                return
            case .unfenced:
                // This call extends the lease for the next attempt, or throws if another runner holds the lease.
                try kernel.renew()
            case .refused(let index, let code, let key):
                let holder = try key.flatMap { try self.holder(of: $0, namespace, kernel) }
                outcome.refused.append(Refused(change: rest.remove(at: index), code: code, holder: holder))
                guard !isExchange else {
                    outcome.refused += rest.map { Refused(change: $0, code: code) }
                    return
                }
            case .failed(let error):
                guard rest.count > 1, !isExchange else {
                    if error.code == .writeConflict {
                        outcome.unchanged += rest
                    } else {
                        outcome.refused += rest.map { Refused(change: $0, code: error.code) }
                    }
                    return
                }
                // The changes are halved, and each half is written in its own transaction, until only the failing
                // change is left out.
                let half = (rest.count + 1) / 2
                for part in [rest.prefix(half), rest.dropFirst(half)] {
                    try write(
                        Array(part), namespace, time, &carried, isExchange: false, under: &kernel, &outcome)
                }
                return
            }
        }
    }

    // MARK: one transaction

    /// Ends the session's transaction after an overload error, because the server may also have refused to abort it.
    ///
    /// Otherwise, the transaction would lock the lease's document in the state database, and the lease could not be
    /// extended.
    private func endTransaction() {
        for _ in 0..<5 {
            guard (try? client.killSessions([session.id])) == nil else { return }
        }
    }

    private func attempt(
        _ changes: [Change], _ transaction: inout Transaction, _ carried: inout CarriedChanges,
        _ kernel: borrowing Kernel
    ) throws -> Attempt {
        let limit = kernel.lease.terms.writeLimit
        try session.startTransaction(commitLimit: limit)
        defer { session.abortTransaction() }
        let options = try session.options(adding: [
            "maxTimeMS": .long(limit.milliseconds), "comment": "shipshape partner",
        ])
        let records = Namespace(database: kernel.store.client.database, collection: StateStore.streams)
        if let unchanged = transaction.unchanged,
            try carried.isRecorded(transaction.number, in: records.database, of: client, options: options)
        {
            // The earlier attempt was committed, but perhaps not yet on a majority of the members. This commit waits
            // for a majority, so that no later election can undo the earlier attempt.
            guard try fence(records, options, kernel) else { return .unfenced }
            try session.commitTransaction()
            return .done(unchanged: unchanged)
        }
        let (due, unchanged) = try compare(changes, transaction.namespace, options)
        guard !due.isEmpty, !transaction.isExchange || unchanged.isEmpty else { return .done(unchanged: changes) }
        guard try fence(records, options, kernel) else { return .unfenced }
        do {
            if let (index, error) = try send(
                due, transaction.namespace, options, isExchange: transaction.isExchange)
            {
                let place = changes.firstIndex { $0.key == due[index].key } ?? index
                return .refused(place, error.code, key: error.takenKey)
            }
        } catch let error as MongoError where error.isOfOneDocument || error.code == .writeConflict {
            return .failed(error)
        }
        try carried.record(
            due.map(\.key), until: transaction.time, as: transaction.number, in: records.database, of: client,
            options: options)
        FaultInjection.reached(.beforeCommit)
        transaction.unchanged = unchanged
        try session.commitTransaction()
        return .done(unchanged: unchanged)
    }

    /// Writes to the lease's document in the state database.
    /// - Returns: whether the runner held the lease.
    private func fence(
        _ records: Namespace, _ options: BSONDocument, _ kernel: borrowing Kernel
    ) throws(MongoError) -> Bool {
        try client.collection(records).update(
            [UpdateStatement(kernel.fencedRecord, [["$set": ["written": "$$NOW"]]])], options: options
        ).matched == 1
    }

    /// Divides the changes by whether their document has changed since it was read.
    ///
    /// `due` has the changes of documents that are still the same. `unchanged` has the changes of the other documents;
    /// these changes are not made.
    private func compare(
        _ changes: [Change], _ namespace: Namespace, _ options: BSONDocument
    ) throws -> (due: [Change], unchanged: [Change]) {
        let present = try IDReader(collection: client.collection(namespace), options: options).documents(
            changes.map(\.id))
        var (due, unchanged): ([Change], [Change]) = ([], [])
        for change in changes {
            if present[IDKey(change.id)] == change.before { due.append(change) } else { unchanged.append(change) }
        }
        return (due, unchanged)
    }

    /// Sends the writes of a transaction.
    /// - Returns: the error of the first write that the server refuses, with the index of the write's change in
    ///   `changes`; `nil` if the server refuses none.
    private func send(
        _ changes: [Change], _ namespace: Namespace, _ options: BSONDocument, isExchange: Bool
    ) throws -> (index: Int, error: WriteError)? {
        let collection = client.collection(namespace)
        let numbered = Array(changes.enumerated())
        func filter(_ change: Change) -> BSONDocument { ["_id": ["$eq": change.id]] }
        let deletes = numbered.filter { $0.element.before != nil && (isExchange || $0.element.after == nil) }
        if !deletes.isEmpty {
            // Deletes come first, because they free unique keys for the other writes.
            try collection.delete(deletes.map { DeleteStatement(filter($0.element)) }, options: options)
        }
        let updates = numbered.filter { $0.element.before != nil && $0.element.after != nil && !isExchange }
        let inserts = numbered.filter { $0.element.after != nil && ($0.element.before == nil || isExchange) }
        let made = inserts.map { ($0.offset, $0.element.id, $0.element.after ?? [:]) }
        for slice in made.slices(bytes: 12 << 20, size: \.2.bytes.count) {
            let reply = try collection.insert(slice.map(\.2), collectsWriteErrors: true, options: options)
            if let error = reply.writeErrors.first { return (slice[error.index].0, error) }
        }
        // The server replaces an empty timestamp in an inserted document by its own time, but keeps an empty timestamp
        // that a pipeline writes. A document with an empty timestamp is therefore written again, by a pipeline.
        let stamped = inserts.filter { $0.element.after?.hasEmptyTimestamp ?? false }
        for slice in (updates + stamped).slices(bytes: 12 << 20, size: { $0.element.byteCount }) {
            let statements = slice.map { item -> UpdateStatement in
                let whole: BSONDocument = ["$replaceWith": ["$literal": .object(item.element.after ?? [:])]]
                return UpdateStatement(filter(item.element), [.object(whole)])
            }
            let reply = try collection.update(statements, collectsWriteErrors: true, options: options)
            if let error = reply.writeErrors.first { return (slice[error.index].offset, error) }
        }
        return nil
    }

    /// Returns the `_id` of the document that has this key in a unique index; `nil` if that document no longer exists.
    private func holder(
        of key: BSONDocument, _ namespace: Namespace, _ kernel: borrowing Kernel
    ) throws -> BSONValue? {
        let filter = BSONDocument(try key.elements().map { ($0.name, ["$eq": $0.value]) })
        return try kernel.retrying {
            try kernel.client.collection(namespace).findBatch([
                "filter": .object(filter), "projection": ["_id": 1], "limit": 1,
            ]).first?["_id"]
        }
    }
}

extension BSONDocument {
    /// Whether a top-level field is an empty timestamp, `Timestamp(0, 0)`, which the server would replace in an insert.
    fileprivate var hasEmptyTimestamp: Bool {
        ((try? elements()) ?? []).contains { $0.value == .timestamp(0) }
    }
}
