package import BSON
package import Concurrency
package import JobState
package import Mongo

/// The services that are common to runs, undos, watches and mirrors: the lease, the throttle, retries, pauses and the
/// deadline.
///
/// The kernel of a dry run has no lease, because a dry run writes nothing, neither to collections nor to the state
/// database.
package struct Kernel: ~Copyable {
    /// The policy by which operations are retried after temporary failures.
    package let retry: RetryPolicy
    /// Called with each event that the runner reports, such as a finished chunk.
    package let events: @Sendable (RunEvent) -> Void
    /// The pool from which clients other than ``client`` are taken, for long reads and for concurrent commands.
    package let pool: ClientPool
    /// The client for commands that are sent one after another.
    package let client: Client
    /// The job's documents in the state database.
    package let store: StateStore
    /// The throttle; `nil` if the run is not throttled.
    package let throttler: Throttler?
    /// The time at which the run has to stop; `nil` without a time limit.
    package let deadline: ContinuousClock.Instant?
    /// The lease, and the measurements of waits.
    ///
    /// The two are in a class, so that functions that are not `mutating` can change them.
    private let state: State
    private var lostBefore = Duration.zero
    private var started = ContinuousClock.now

    private final class State {
        /// The lease that this runner holds; `nil` in a dry run.
        var heldLease: HeldLease?
        /// The number of this runner's last transaction, as the job's record has it.
        var sequence: Int64 = 0
        /// Whether the job's record, or that of a thread, is not as the last transaction left it.
        var isFallenBack = false
        /// The threads that run transactions beside the runner's own one.
        var threads: [WritingThread] = []
        /// The session of the runner's transactions; `nil` before ``beginTransactions(after:)``.
        var session: TransactionSession?
        /// When a majority last had all transactions; `nil` if it has all of them.
        var unconfirmedSince: ContinuousClock.Instant?
        /// How long the run has waited, since the last ``restart()``, for writes to reach a majority of the replica
        /// set; ``worked`` does not include this time.
        var waited = Duration.zero
        /// Whether the state database shows operators that the run is waiting for an overloaded server.
        var isWaitRecorded = false
        /// When the runner last tried to renew the lease while it waited for an overloaded server; `nil` before the
        /// first attempt.
        var triedAt: ContinuousClock.Instant?

        init(_ heldLease: HeldLease?) { self.heldLease = heldLease }
    }

    package init(
        retry: RetryPolicy, events: @Sendable @escaping (RunEvent) -> Void, pool: ClientPool,
        client: consuming Client, store: consuming StateStore, throttler: Throttler?,
        deadline: ContinuousClock.Instant?,
        heldLease: HeldLease?
    ) {
        (self.retry, self.events) = (retry, events)
        (self.pool, self.throttler) = (pool, throttler)
        (self.deadline, state) = (deadline, State(heldLease))
        self.client = client
        self.store = store
    }

    package var stop: StopSignal { retry.stop }

    /// Runs an operation until it succeeds, fails for good, or has been retried for too long.
    ///
    /// The operation must be repeatable. While the server refuses commands because of its load, this function keeps the
    /// lease and records the wait in the state database. It waits in the same way for a majority that confirms writes,
    /// but not longer than for an unreachable deployment.
    /// - Parameter those: returns `true` for a failure that must not be retried although ``retry`` would retry it.
    ///   `nil` if there are no such failures.
    package func retrying<R>(
        refusing those: (@Sendable (any Error) -> Bool)? = nil, _ operation: () throws -> R
    ) throws -> R {
        let refusing = those.map { self.retry.refusing($0) } ?? self.retry
        let retry = refusing.waiting { ($0 as? MongoError)?.isWriteConcern == true }
        let result = try retry.run(operation) { try wait($0) }
        // If the state database shows that the run waits, this update removes the wait from it. If the update fails,
        // the next operation that succeeds tries it again.
        if state.isWaitRecorded, (try? renewOnce(setting: RangeChange.continuing)) != nil {
            state.isWaitRecorded = false
        }
        return result
    }

    /// How long a wait for an overloaded server lasts before the state database shows it, and the shortest time between
    /// two attempts to record the wait there.
    private static var silence: Duration { .seconds(1) }

    private func wait(_ wait: RetryPolicy.Wait) throws {
        let waitReason = WaitReason(wait.error)
        throttler?.count([waitReason], wait.added)
        let isForMajority = waitReason.reason == .majority
        if let deadline, .now >= deadline {
            let kind: RunError.Kind = isForMajority ? .unconfirmed : .stopped
            throw RunError(kind, "stopped at --max-runtime: \(waitReason); run it again")
        }
        guard !isForMajority else {
            // Each attempt at the operation waits for some seconds, and a record of the wait would wait, too.
            guard wait.waited >= retry.limit else { return }
            throw RunError(.unconfirmed, "stopped: \(waitReason); run it again")
        }
        let isToRecord = wait.waited >= Self.silence && !state.isWaitRecorded
        guard isToRecord || state.heldLease?.isHalfOver == true else { return }
        if let triedAt = state.triedAt, triedAt.duration(to: .now) < Self.silence { return }
        state.triedAt = .now
        do {
            try renewOnce(setting: RangeChange.waiting(for: [waitReason]))
            state.isWaitRecorded = true
        } catch let error as MongoError where error.isTransient || error.isTimeLimit {}  // the next call tries again
    }

    /// Extends the lease by a single command, without retries; does nothing in a dry run.
    private func renewOnce(setting changes: BSONDocument) throws {
        guard let lease = state.heldLease?.lease else { return }
        let askedAt = ContinuousClock.now
        let known = state.threads.map(\.place)
        let (renewed, record) = try Overload.within(.atOnce) { try store.ranges.renew(lease, setting: changes) }
        state.heldLease?.extend(renewed, askedAt: askedAt)
        try note(record, known)
    }

    /// Compares the records of the job and of the threads with their last transactions.
    ///
    /// The record of a runner without transactions has no number, so it never differs.
    /// - Parameter known: the places of the threads before a majority had the record.
    private func note(_ record: BSONDocument, _ known: [WritingThread.Place]) throws {
        guard state.session != nil else { return }
        if RangeStore.sequence(of: record) != state.sequence { state.isFallenBack = true }
        if !known.isEmpty {
            let stored = try retry.run { try store.ranges.sequences() }
            if known.contains(where: { !$0.fits(stored[$0.thread]) }) { state.isFallenBack = true }
        }
        state.unconfirmedSince = nil
    }

    // MARK: The lease

    /// Whether this is a dry run, which has no lease and must not write.
    package var isDry: Bool { state.heldLease == nil }

    package var leaseIfAny: Lease? { state.heldLease?.lease }

    /// The lease.
    /// - Precondition: this is not a dry run.
    package var lease: Lease {
        guard let heldLease = state.heldLease else { preconditionFailure("nothing is written without a lease") }
        return heldLease.lease
    }

    /// Whether all writes so far certainly reached the server before their lease ended.
    ///
    /// Each write contains a fence: the condition that the lease has not ended. A write that arrives later changes
    /// nothing, and its reply looks like the reply to a write that had nothing to change.
    package var isFenceCertain: Bool { state.heldLease?.isCertain ?? true }

    /// Extends the lease, and makes `changes` to the lease's document in the state database.
    ///
    /// Does nothing in a dry run.
    /// - Throws: ``RunError``, for example of kind `leaseLost`; ``MongoError``.
    package func renew(setting changes: BSONDocument = [:]) throws {
        guard let lease = state.heldLease?.lease else { return }
        let known = state.threads.map(\.place)
        let (renewed, askedAt) = try retrying {
            let askedAt = ContinuousClock.now
            return (try store.ranges.renew(lease, setting: changes), askedAt)
        }
        state.heldLease?.renew(renewed.0, askedAt: askedAt)
        try note(renewed.1, known)
        // The renewal waited for a majority. A wait for a majority does not count as time worked.
        state.waited += askedAt.duration(to: .now)
    }

    /// Extends the lease if more than half of its time has passed, or if some transactions were not confirmed by a
    /// majority for ``longestUnconfirmed``; must not be called during a write.
    package func keepLease() throws {
        state.heldLease?.refence()
        let isUnconfirmed = state.unconfirmedSince.map { $0.duration(to: .now) > Self.longestUnconfirmed } ?? false
        if isUnconfirmed || state.heldLease?.isHalfOver ?? false { try renew() }
    }

    /// How long transactions may stay unconfirmed by a majority while the runner continues.
    private static var longestUnconfirmed: Duration { .seconds(3) }

    // MARK: Transactions

    /// Opens and records the session of the runner's transactions, so that another runner can end it.
    /// - Parameter record: the job's record, as the runner found it when it took the lease.
    package func beginTransactions(after record: BSONDocument) throws {
        guard !isDry else { return }
        state.sequence = RangeStore.sequence(of: record)
        state.session = try retrying { try TransactionSession.open(on: pool, for: store) }
    }

    /// Starts threads that run transactions beside the runner's own one; a failed transaction starts none.
    /// - Returns: the threads, which must be idle whenever the runner calls ``leave()``.
    package func startThreads(_ count: Int) throws -> [WritingThread] {
        let lease = lease
        let records = (1...count).map { store.ranges.record(ofThread: $0, under: lease) }
        let outcome = try transaction { transaction in
            try transaction.fence(setting: [:])
            try transaction.record(records, in: store.ranges.collection)
        }
        guard case .committed = outcome else { return [] }
        state.threads = (1...count).map { WritingThread($0, of: store, under: lease, on: pool) }
        return state.threads
    }

    /// Whether ``takeFallenBack()`` has a record.
    package var hasFallenBack: Bool { state.isFallenBack }

    /// Returns the job's record if it is not as this runner left it, and `nil` otherwise.
    ///
    /// An election undid transactions of this runner, or a transaction was committed although its reply was lost. The
    /// runner continues from the record.
    /// - Precondition: no thread is at work.
    package func takeFallenBack() throws -> BSONDocument? {
        guard state.isFallenBack else { return nil }
        let (record, sequences) = try retrying { (try store.ranges.document(), try store.ranges.sequences()) }
        guard let record else { throw try store.ranges.gone() }
        state.sequence = RangeStore.sequence(of: record)
        for thread in state.threads {
            guard let sequence = sequences[thread.number] else { throw try store.ranges.gone() }
            thread.resume(after: sequence)
        }
        state.isFallenBack = false
        return record
    }

    /// Runs a transaction, and repeats it after temporary failures.
    ///
    /// `body` reads, calls ``FencedTransaction/fence(setting:)`` and writes. It is called again for each attempt.
    /// - Parameter halves: whether the caller makes the transaction smaller if it takes too long, so that it is not
    ///   repeated unchanged.
    /// - Returns: the outcome; if the job's record was not as this runner left it, ``takeFallenBack()`` then has it.
    /// - Throws: ``RunError``, for example of kind `leaseLost`; ``MongoError``; the errors of `body`.
    package func transaction<R>(
        halves: Bool = false, _ body: (borrowing FencedTransaction) throws -> R
    ) throws -> FencedTransaction.Outcome<R> {
        guard let session = state.session else { preconditionFailure("transactions were not begun") }
        let tooLong: @Sendable (any Error) -> Bool = { ($0 as? MongoError)?.isTimeLimit == true }
        return try retrying(refusing: halves ? tooLong : nil) { () throws -> FencedTransaction.Outcome<R> in
            try keepLease()
            guard !state.isFallenBack else { return .fallenBack }
            let transaction = FencedTransaction(
                in: session, on: store.ranges, under: lease, after: state.sequence, isLocal: !client.isBehindRouter)
            let result: FencedTransaction.Outcome<R>
            do {
                result = try transaction.run(body)
            } catch {
                // A commit without a reply may have been done. The job's record shows it.
                if transaction.isCommitUnknown {
                    try renew()
                    if state.isFallenBack { return .fallenBack }
                }
                throw error
            }
            switch result {
            case .committed:
                state.sequence += 1
                if state.unconfirmedSince == nil { state.unconfirmedSince = .now }
            case .fallenBack: try renew()
            case .abandoned, .refused, .conflict: break
            }
            return result
        }
    }

    /// Records that the server may still execute a write that failed with the given error.
    ///
    /// Does nothing if the error shows that the server will not execute the write any more.
    package func doubt(_ error: MongoError) { state.heldLease?.doubt(error) }

    /// Calls `write`, and repeats the call until the write certainly reached the server before its fence ended.
    ///
    /// The fence is the write's condition that the lease has not ended. A write that reaches the server later changes
    /// nothing. It is repeated under an extended lease, so `write` must be repeatable.
    package func fenced<R>(_ write: (borrowing Kernel) throws -> R) throws -> R {
        while true {
            try keepLease()
            let result = try retrying { () throws -> R in
                state.heldLease?.refence()
                do { return try write(self) } catch let error as MongoError {
                    state.heldLease?.doubt(error)
                    throw error
                }
            }
            if isFenceCertain { return result }
            try renew()
        }
    }

    /// Releases the lease, unless the server may still execute a write under it.
    /// - Returns: a note for the operator if the lease is kept until it ends; otherwise `nil`.
    package func leave() -> String? {
        state.session?.close()
        for thread in state.threads { thread.close() }
        return state.heldLease.flatMap { held in
            // If this fails, the next runner does it.
            if !state.threads.isEmpty { _ = try? store.ranges.gather(under: held.lease) }
            return store.ranges.leave(held)
        }
    }

    // MARK: Waiting

    /// Waits until there is no throttle reason, or until the run has to stop; keeps the lease in the meantime.
    /// - Parameter whileWaiting: called repeatedly during the wait.
    /// - Returns: why the run has to stop; `nil` if it can continue.
    package mutating func waitForThrottle(whileWaiting: () -> Void = {}) throws -> RunStop? {
        guard let throttler else {
            if stop.isRaised { return .signal }
            return deadline.map { .now >= $0 } == true ? .timeBudget : nil
        }
        var recorded: [ThrottleReason] = []
        let (stop, deadline, events) = (stop, deadline, events)
        return try throttler.wait(stop: stop, deadline: deadline, events: events) { waitReasons in
            whileWaiting()
            guard recorded != waitReasons.map(\.reason) || state.heldLease?.isHalfOver == true else { return }
            try renew(setting: RangeChange.waiting(for: waitReasons))
            recorded = waitReasons.map(\.reason)
        }
    }

    /// Sleeps for a time, and keeps the lease; returns early after a stop signal or at the deadline.
    package mutating func sleep(_ time: Duration) throws {
        let end = min(ContinuousClock.now + time, deadline ?? .now + time)
        while .now < end, !stop.isRaised {
            PosixThread.sleep(min(ContinuousClock.now.duration(to: end), .milliseconds(200)))
            try keepLease()
        }
    }

    /// Runs a read as a background task with another client, and keeps the lease until the read ends.
    /// - Throws: ``StopAsked`` after a stop signal; the errors of `body`, and of keeping the lease.
    package mutating func reading<R: Sendable>(
        _ namespace: Namespace, _ body: @Sendable @escaping (MongoCollection) throws -> R
    ) throws -> R {
        let retry = retry
        let read = BackgroundTask(on: pool) { client in
            let collection = client.collection(namespace)
            return try retry.run { try body(collection) }
        }
        return try read.wait(stop: stop) { try keepLease() }
    }

    // MARK: Time

    /// Starts to measure ``worked`` from 0, for example for the next chunk.
    package mutating func restart() { (started, state.waited, lostBefore) = (.now, .zero, retry.lost.total) }

    /// The time since ``restart()``, except waits for a majority, failed attempts, and the pauses after failed
    /// attempts.
    package var worked: Duration {
        max(.zero, started.duration(to: .now) - state.waited - (retry.lost.total - lostBefore))
    }
}

extension Error {
    /// Whether the server may still execute a write of the run after the run ended with this error.
    ///
    /// The result is `true` only for a ``MongoError`` and for a ``RunError`` of kind `stopped`. If the ``MongoError``
    /// reports a missing privilege, the result is `false`, because the server then refuses the write.
    package var leavesDoubt: Bool {
        if let error = self as? MongoError { return !error.isAuthorization }
        return (self as? RunError)?.kind == .stopped
    }
}
