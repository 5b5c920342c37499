import Concurrency
package import JobState
import Mongo
import Synchronization

/// A thread that runs transactions beside the runner's own thread, with a session and a record of its own.
///
/// The thread never repeats a transaction. The runner's own thread does so, which also keeps the lease and waits for
/// the throttle.
package final class WritingThread: Sendable {
    /// The work for a thread: one transaction.
    package typealias Work = @Sendable (Transactions) -> Void

    /// The last transaction of a thread.
    struct Place: Sendable {
        let thread: Int
        fileprivate var sequence: Int64 = 0
        /// Whether the thread may commit a transaction at any moment.
        fileprivate var isAtWork = false

        /// Whether a stored record is as the thread left it.
        func fits(_ stored: Int64?) -> Bool {
            stored.map { isAtWork ? $0 >= sequence : $0 == sequence } ?? false
        }
    }

    package let number: Int
    private let work = Mutex<Work?>(nil)
    private let now: Mutex<Place>
    private let isAsked = Semaphore()
    private let hasStopped = Semaphore()

    init(_ number: Int, of store: borrowing StateStore, under lease: Lease, on pool: ClientPool) {
        self.number = number
        now = Mutex(Place(thread: number))
        let (job, identity, terms) = (store.job, store.identity, store.terms)
        let (database, leases) = (store.client.database, store.leases)
        PosixThread.start(name: "write \(number)") { [self] in
            defer { hasStopped.signal() }
            let transactions = Transactions(of: self, under: lease) {
                let store = StateStore(
                    client: StoreClient(database: database, client: try pool.client()), job: job, identity: identity,
                    terms: terms, leases: leases, thread: number)
                return (store.ranges, store.journal, try TransactionSession.open(on: pool, for: store))
            }
            while let work = next() { work(transactions) }
            transactions.close()
        }
    }

    var place: Place { now.withLock { $0 } }

    /// Gives the thread its next work.
    /// - Precondition: the thread is idle: ``finish()`` was called after its last work.
    package func begin(_ work: @escaping Work) {
        now.withLock { $0.isAtWork = true }
        self.work.withLock { $0 = work }
        isAsked.signal()
    }

    /// Marks the thread as idle; the caller calls it once it has the result of the work.
    package func finish() { now.withLock { $0.isAtWork = false } }

    /// Continues after the transaction that the thread's record shows.
    func resume(after sequence: Int64) { now.withLock { $0.sequence = sequence } }

    /// Ends the thread and its session.
    func close() {
        isAsked.signal()
        // A server that cannot be reached must not keep the program from ending.
        _ = hasStopped.wait(milliseconds: 4_000)
    }

    private func next() -> Work? {
        isAsked.wait()
        return work.withLock { $0.take() }
    }

    /// The transactions of a thread, with a client and a session that the first one opens.
    package final class Transactions {
        private typealias Opened = (ranges: RangeStore, journal: JournalStore, session: TransactionSession)

        private let thread: WritingThread
        private let lease: Lease
        private let open: () throws -> Opened
        private var opened: Opened?

        fileprivate init(
            of thread: WritingThread, under lease: Lease,
            _ open: @escaping () throws -> (RangeStore, JournalStore, TransactionSession)
        ) {
            (self.thread, self.lease, self.open) = (thread, lease, open)
        }

        /// Runs a transaction once.
        /// - Parameter body: gets the transaction, and the journal of the job.
        /// - Throws: ``MongoError``; the errors of `body`.
        package func run<R>(
            _ body: (borrowing FencedTransaction, JournalStore) throws -> R
        ) throws -> FencedTransaction.Outcome<R> {
            let (ranges, journal, session) = try opened ?? open()
            opened = (ranges, journal, session)
            let transaction = FencedTransaction(
                in: session, on: ranges, under: lease, after: thread.place.sequence,
                isLocal: !session.client.isBehindRouter)
            let outcome = try transaction.run { try body($0, journal) }
            if case .committed = outcome { thread.now.withLock { $0.sequence += 1 } }
            return outcome
        }

        fileprivate func close() { opened?.session.close() }
    }
}
