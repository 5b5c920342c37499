package import BSON
package import Concurrency
import JobState
package import Jobs
package import Mongo

extension Kernel {
    /// Takes the lease `name`, and returns a kernel for work that follows changes, such as a watch or a mirror.
    /// - Parameters:
    ///   - limits: the limits for the throttle; with `nil`, the kernel has no throttle.
    ///   - freeing: called before each attempt to take the lease. Its task is to end a transaction of a killed mirror,
    ///     which may still lock the lease's document after the lease has ended.
    /// - Throws: ``RunError``, for example of kind `leaseHeld` when another runner holds the lease; ``MongoError``.
    package static func following(
        _ name: String, _ options: RunOptions, limits: Job.Limits? = nil, on pool: ClientPool, stop: StopSignal,
        events: @Sendable @escaping (RunEvent) -> Void, freeing: () throws -> Void = {}
    ) throws -> Kernel {
        let (identity, started) = (RunnerIdentity.current(), ContinuousClock.now)
        // A command fails if its collection is dropped while the command runs. The policy retries such a command
        // instead of ending the run, because the change feed reports the drop afterwards.
        let retry = RetryPolicy(limit: options.retryLimit, stop: stop, events: events, survivesDrops: true)
        func openStore() throws(MongoError) -> StateStore {
            StateStore(
                client: StoreClient(database: options.stateDatabase, client: try pool.client()), job: name,
                identity: identity, terms: options.lease, leases: StateStore.streams)
        }
        let store = try openStore()
        try retry.run {
            try store.client.createIfAbsent(
                StateStore.streams, id: store.ranges.id, ["version": .integer(JobStore.version), "state": "idle"])
        }
        let seeker = LeaseSeeker(options: options, identity: identity, retry: retry, events: events)
        let (heldLease, record) = try seeker.take(store, for: .following, freeing: freeing)
        do throws(RunError) {
            try store.checkVersion(of: record)
        } catch {
            try? store.ranges.release(heldLease.lease)
            throw error
        }
        let throttler = try limits.map { try Throttler($0, store: openStore()) }
        return Kernel(
            retry: retry, events: events, pool: pool, client: try pool.client(), store: store, throttler: throttler,
            deadline: options.maxRuntime.map { started + $0 }, heldLease: heldLease)
    }

    /// A filter that matches the document of this runner's lease, but only until the lease ends by the server's clock.
    ///
    /// A pipeline that begins with this filter has no input after the lease has ended, so its `$merge` writes nothing.
    package var fencedRecord: BSONDocument {
        store.ranges.owned(lease).appending("$expr", lease.fence.bson)
    }
}

/// Work that follows changes under a lease, and usually continues until it is stopped: a watch or a mirror.
package protocol FollowingRun: ~Copyable {
    associatedtype Outcome

    /// The services that the work uses, such as the lease and the retries.
    var kernel: Kernel { get set }

    /// Does the work until a stop is requested, or until nothing is left to do.
    mutating func run() throws -> Outcome
    /// Closes the change feeds that the work follows.
    func close()
    /// Releases the lease, unless the server may still execute a write under it.
    func leave()
}

extension FollowingRun where Self: ~Copyable {
    /// Calls ``run()``, and releases the lease at the end, unless the server may still execute a write under it.
    /// - Parameter atTheEnd: called after ``run()`` has succeeded, while the lease is still held.
    package mutating func follow(
        _ atTheEnd: (Outcome, inout Kernel) throws -> Void = { _, _ in }
    ) throws -> Outcome {
        do {
            let outcome = try run()
            try atTheEnd(outcome, &kernel)
            leave()
            return outcome
        } catch {
            close()
            if !error.leavesDoubt { leave() }
            throw error
        }
    }
}
