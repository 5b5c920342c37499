package import BSON
import Concurrency
package import JobState
package import Mongo

/// A transaction of a runner: everything that it writes happens together with the runner's checkpoint, or not at all.
///
/// The fence is a compare-and-set on the record of the runner's lease. It fails if another runner took the lease, and
/// if an election undid an earlier transaction of this runner. The commit waits for the primary alone, because an
/// election undoes the checkpoint together with everything else; ``Kernel`` makes sure of a majority now and then.
package struct FencedTransaction: ~Copyable {
    package enum Outcome<Result> {
        /// Everything was written.
        case committed(Result)
        /// The body wrote nothing, so nothing was committed.
        case abandoned(Result)
        /// The server refuses a statement, and nothing was written; `statement` is the index of the statement in the
        /// command, if the command names it.
        case refused(statement: Int?, MongoError)
        /// Another client wrote one of the documents in the meantime, and nothing was written.
        case conflict
        /// The record of the runner's lease is not as this runner left it, and nothing was written.
        case fallenBack
    }

    /// The error with which the body of a transaction ends it without a commit.
    private struct Refusal: Error {
        let statement: Int?
        let error: MongoError
    }

    private struct FallenBack: Error {}

    /// The progress of a transaction, which decides what an error means.
    private final class Progress {
        var isFenced = false
        var writesDocuments = false
        var isCommitting = false
        var isUnknown = false
    }

    private let session: TransactionSession
    private let ranges: RangeStore
    private let lease: Lease
    private let sequence: Int64
    private let isLocal: Bool
    private let progress = Progress()

    /// Makes a transaction that is not begun yet.
    /// - Parameters:
    ///   - ranges: the store of the record that the fence compares.
    ///   - sequence: the number of the runner's last transaction, as the record has it.
    ///   - isLocal: whether the transaction reads the newest data of the primary, as on a replica set.
    package init(
        in session: TransactionSession, on ranges: RangeStore, under lease: Lease, after sequence: Int64, isLocal: Bool
    ) {
        (self.session, self.ranges, self.lease) = (session, ranges, lease)
        (self.sequence, self.isLocal) = (sequence, isLocal)
    }

    /// Whether the commit was sent, and its reply was lost.
    var isCommitUnknown: Bool { progress.isUnknown }

    /// Runs the body and commits, if it wrote the fence.
    package func run<R>(_ body: (borrowing FencedTransaction) throws -> R) throws -> Outcome<R> {
        try session.session.startTransaction(
            commitLimit: lease.terms.writeLimit, isLocal: isLocal, isMajority: false)
        do {
            let result = try Overload.within(.brief) { try body(self) }
            guard progress.isFenced else {
                session.abort()
                return .abandoned(result)
            }
            FaultInjection.reached(.beforeCommit)
            try commit()
            FaultInjection.reached(.afterCheckpoint)
            return .committed(result)
        } catch {
            if progress.isUnknown { session.kill() } else { session.abort() }
            switch error {
            case is FallenBack: return .fallenBack
            case let refusal as Refusal: return .refused(statement: refusal.statement, refusal.error)
            case let error as MongoError where error.code == .writeConflict && progress.writesDocuments:
                return .conflict
            case let error as MongoError where error.code == .transactionTooOld && !progress.isCommitting:
                return .conflict
            case let error as MongoError where error.isOfOneDocument && progress.writesDocuments:
                return .refused(statement: nil, error)
            default: throw error
            }
        }
    }

    private func commit() throws(MongoError) {
        progress.isCommitting = true
        do throws(MongoError) {
            try session.session.commitTransaction()
        } catch {
            // The driver repeats a commit with a majority. If only the majority is missing, the commit was done.
            if error.isWriteConcern { return }
            progress.isUnknown = error.code != .noSuchTransaction
            throw error
        }
    }

    // MARK: What the body does

    /// Returns a collection whose reads and writes belong to the transaction.
    package func collection(_ namespace: Namespace) throws(MongoError) -> MongoCollection {
        try session.client.collection(namespace).inTransaction(of: session.session)
    }

    /// Writes the fence, with the checkpoint.
    /// - Parameter changes: fields of the record of the runner's lease, as expressions that the server evaluates.
    /// - Throws: ``MongoError``; an error that ends the transaction if the record is not as this runner left it.
    package func fence(setting changes: BSONDocument) throws {
        let records = try collection(Namespace(database: ranges.client.database, collection: ranges.collection))
        let statement = ranges.fence(lease, after: sequence, setting: changes)
        FaultInjection.reached(.beforeStateWrite)
        guard try records.update([statement]).matched == 1 else { throw FallenBack() }
        FaultInjection.reached(.afterStateWrite)
        progress.isFenced = true
    }

    /// Inserts documents into a collection of the state database, one command each, because they may be large.
    package func record(_ documents: [BSONDocument], in name: String) throws(MongoError) {
        let records = try collection(Namespace(database: ranges.client.database, collection: name))
        for document in documents { try records.insert([document]) }
    }

    /// Inserts documents into a collection of the user.
    /// - Throws: ``MongoError``; an error that ends the transaction if the server refuses a document.
    package func insert(_ documents: [BSONDocument], into namespace: Namespace) throws {
        guard !documents.isEmpty else { return }
        let collection = try collection(namespace)
        progress.writesDocuments = true
        for slice in documents.slices(count: 500, bytes: 8 << 20, size: \.bytes.count) {
            let reply = try collection.insert(slice, collectsWriteErrors: true)
            guard let first = reply.writeErrors.first else { continue }
            guard first.isOfOneDocument else { throw first.asWhole }
            throw Refusal(statement: nil, error: first.asWhole)
        }
        FaultInjection.reached(.afterCreation)
    }

    /// Sends the updates of documents of the user, in order.
    /// - Parameter options: options of each command, such as `collectionUUID`.
    /// - Returns: the number of documents that the filters matched.
    /// - Throws: ``MongoError``; an error that ends the transaction if the server refuses a statement.
    @discardableResult
    package func update(
        _ statements: [UpdateStatement], of namespace: Namespace, options: BSONDocument
    ) throws -> Int {
        let collection = try collection(namespace)
        progress.writesDocuments = true
        var (matched, sent) = (0, 0)
        for slice in statements.slices(count: 1_000, bytes: 8 << 20, size: \.byteCount) {
            FaultInjection.reached(.beforeWrite)
            let reply = try collection.update(slice, collectsWriteErrors: true, options: options)
            FaultInjection.reached(.afterWrite)
            if let first = reply.writeErrors.first {
                guard first.isOfOneDocument else { throw first.asWhole }
                throw Refusal(statement: sent + first.index, error: first.asWhole)
            }
            matched += reply.matched
            sent += slice.count
        }
        return matched
    }
}

extension FencedTransaction.Outcome: Sendable where Result: Sendable {}
