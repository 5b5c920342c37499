import BSON
import Concurrency
import Mongo
import Running
import TestSupport
import Testing

@testable import JobState

/// If the runner that holds the lease is known to be dead, the next runner waits until the lease has ended.
///
/// If the holder may still be alive, the next runner waits only with the setting `lease-wait`, and is refused
/// otherwise.
@Suite struct LeaseSeekingTests {
    /// Returns an aggregation expression for the lease of a dead runner; the lease ends after the given seconds.
    ///
    /// - Parameter living: the identity of a runner on this machine. The dead runner has another owner id, and a start
    ///   time that no process has.
    private static func lease(of runner: UInt64, seconds: Int, _ living: RunnerIdentity) -> BSONDocument {
        let dead = living.document.appending("token", .integer(Int(runner)))
        let holder = BSONDocument(
            ((try? dead.elements()) ?? []).map { name, value in
                switch name {
                case "owner": (name, .objectID(ObjectID(high: runner, low: 0)))
                case "processStart": (name, 1)
                default: (name, value)
                }
            })
        return [
            "$mergeObjects": [
                ["$literal": .object(holder)],
                ["start": "$$NOW", "end": ["$add": ["$$NOW", .integer(seconds * 1_000)]]],
            ]
        ]
    }

    @Test func theLeaseOfARunnerThatDiedAfterTheFirstIsWaitedForToo() async throws {
        try await Mongod.shared.withBackfill { test in
            let pool = try ClientPool.open(ConnectionOptions(uri: test.uri))
            let (state, identity) = (test.state.name, RunnerIdentity.current())
            try await pool.run { client in
                let store = StateStore(
                    client: StoreClient(database: state, client: try pool.client()), job: "job", identity: identity,
                    terms: LeaseTerms(duration: .seconds(1)))
                let seeker = LeaseSeeker(
                    options: RunOptions(), identity: identity,
                    retry: RetryPolicy(limit: .zero, passes: { _ in false }), events: { _ in })
                var attempts = 0
                let (lease, _) = try seeker.take(store, for: .backfill) {
                    attempts += 1
                    guard attempts <= 2 else { return }
                    // Before the first attempt, a dead runner has a lease of one second. Before the second attempt,
                    // another dead runner has a lease of six seconds instead.
                    let lease = Self.lease(of: UInt64(attempts), seconds: attempts == 1 ? 1 : 6, identity)
                    let change: BSONDocument = [
                        "lease": .object(lease), "version": .integer(JobStore.version), "state": "running",
                    ]
                    let update: BSONValue = [
                        "q": ["_id": ["job": "job", "range": 0]], "u": [["$set": .object(change)]], "upsert": true,
                    ]
                    _ = try client.runCommand(["update": "ranges", "updates": [update]], on: state)
                }
                #expect(lease.lease.token == 3)
                #expect(attempts > 2)
            }
        }
    }
}
