import BSON
import Concurrency
package import JobState
package import Mongo
import Synchronization

/// The session of a runner's transactions, with a client of its own.
///
/// The state database has the session's number while it is open, and a thread shows there that the runner is alive. If
/// the runner is killed, another runner of the job ends the session, and with it the transaction.
package final class TransactionSession {
    package let client: Client
    package let session: Session
    private let heartbeat: Heartbeat?

    private init(_ client: consuming Client, _ session: consuming Session, _ heartbeat: Heartbeat?) {
        self.client = client
        self.session = session
        self.heartbeat = heartbeat
    }

    /// Opens a session and records it in the state database.
    /// - Parameter store: the state of the job, for the thread that uses the session.
    package static func open(
        on pool: ClientPool, for store: borrowing StateStore
    ) throws(MongoError) -> TransactionSession {
        let client = try pool.client()
        let session = try client.startSession()
        try store.sessions.open(session.id, by: client.sessionUser(), of: store.identity.owner)
        return TransactionSession(client, session, Heartbeat(on: pool, for: store))
    }

    /// Opens a session without a record, for transactions that no other runner has to end.
    package static func openUnrecorded(on pool: ClientPool) throws(MongoError) -> TransactionSession {
        let client = try pool.client()
        let session = try client.startSession()
        return TransactionSession(client, session, nil)
    }

    /// Refuses a deployment without transactions, in which jobs write.
    /// - Throws: ``RunError`` of kind `noTransactions`; ``MongoError``.
    package static func check(_ client: borrowing Client) throws {
        guard try client.hello().topology == .standalone else { return }
        throw RunError(
            .noTransactions,
            "this server is not a member of a replica set, and only a replica set has the transactions in which jobs "
                + "write: make it a replica set of one member (start mongod with --replSet rs0, then run "
                + "rs.initiate() in mongosh); --dry-run works as it is")
    }

    /// Ends the transaction that is open, if there is one.
    func abort() { if !session.abortTransaction() { kill() } }

    /// Ends the session on the server, and with it a transaction that is still open although its commit was sent.
    func kill() {
        // A server that sheds load may also refuse to abort a transaction.
        for _ in 0..<5 {
            do throws(MongoError) {
                return try client.killSessions([session.id])
            } catch  where !error.isOverload {
                return
            } catch {}
        }
    }

    /// Ends the session, and deletes its record.
    package func close() {
        abort()
        heartbeat?.end()
    }

    deinit { heartbeat?.end() }
}

/// A thread that shows in the state database that its runner is alive.
private final class Heartbeat: Sendable {
    private let isEnded = Mutex(false)
    private let isAsked = Semaphore()
    private let hasStopped = Semaphore()

    init(on pool: ClientPool, for store: borrowing StateStore) {
        let (job, thread, owner, database) = (store.job, store.thread, store.identity.owner, store.client.database)
        PosixThread.start(name: "heartbeat") { [isAsked, hasStopped] in
            defer { hasStopped.signal() }
            guard let client = try? pool.client() else { return }
            let sessions = SessionStore(
                client: StoreClient(database: database, client: client), job: job, thread: thread)
            // A failed renewal is tried again with the next one: at worst, another runner ends the session.
            while !isAsked.wait(milliseconds: Int(SessionStore.beat.milliseconds)) { try? sessions.renew(owner) }
            try? sessions.close(owner)
        }
    }

    /// Ends the thread, which deletes the record.
    func end() {
        let wasEnded = isEnded.withLock { isEnded in
            defer { isEnded = true }
            return isEnded
        }
        guard !wasEnded else { return }
        isAsked.signal()
        // A server that cannot be reached must not keep the program from ending.
        _ = hasStopped.wait(milliseconds: 2_000)
    }
}
