import BSON
import Jobs
import Mongo
import TestSupport
import Testing

@testable import JobState

/// The shards and routers of a cluster have no common clock.
///
/// A lease allows for the difference between these clocks, and the program reports this allowance.
@Suite struct RouterClockTests {
    private func withRouter(_ body: (BackfillCase, String) async throws -> Void) async throws {
        let mongod = try await Mongod.shared
        try await mongod.withBackfill { test in
            let proxy = try RouterProxy(before: mongod.host)
            defer { proxy.close() }
            try await test.database.fill("people", count: 40) { ["_id": .integer($0), "age": .string("\($0)")] }
            try test.job(steps: ["convert: {field: age, to: int}"], limits: "{chunk: {documents: 10}}")
            try await body(test, proxy.uri)
        }
    }

    @Test func aJobRunsAndIsUndoneBehindARouterAndNamesItsClocks() async throws {
        try await withRouter { test, uri in
            let before = try await test.database.documents("people")
            let said = "clocks of the cluster are within 10s of each other"
            let run = try await test.backfill(uri: uri)
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.errors.contains(said), "\(run.errors)")
            #expect(try await test.database.count("people", ["age": ["$type": "int"]]) == 40)
            let undo = try await Program.run([
                "undo", "job", "--uri", uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)", "SHIPSHAPE_LEASE_TTL=60s",
                "--yes",
            ])
            #expect(undo.exitCode == 0, "\(undo.errors)")
            #expect(undo.errors.contains(said), "\(undo.errors)")
            #expect(undo.output.contains("undid 40 of 40 changes"), "\(undo.output)")
            #expect(try await test.database.documents("people") == before)
            // Without a router there is a single clock, so there is nothing to report.
            #expect(try await !test.undo(flags: ["--dry-run"], yes: false).output.contains(said))
        }
    }

    /// The lease of another runner ended three seconds ago by the clock of a router.
    ///
    /// A runner that connects through this router still waits, because the shards check the other runner's writes by
    /// their own clocks. If a shard's clock is slow, the lease has not ended by that clock.
    @Test func aSuccessorWaitsForAsMuchAsTheClocksMayBeApart() async throws {
        try await withRouter { test, uri in
            try await test.state.run([
                "update": "ranges",
                "updates": [
                    [
                        "q": ["_id": ["job": "job", "range": 0]],
                        "u": [
                            [
                                "$set": [
                                    "version": .integer(JobStore.version),
                                    "lease.end": ["$subtract": ["$$NOW", 3_000]],
                                ]
                            ]
                        ],
                        "upsert": true,
                    ]
                ],
            ])
            for (uri, isTaken) in [(uri, false), (test.uri, true)] {
                let pool = try ClientPool.open(ConnectionOptions(uri: uri))
                let state = test.state.name
                let taken = try await pool.run { client in
                    let store = RangeStore(
                        client: StoreClient(database: state, client: try pool.client()), job: "job",
                        identity: .current(), given: LeaseTerms(duration: .seconds(600)))
                    if case .taken = try store.acquire(for: .backfill) { return true }
                    return false
                }
                #expect(taken == isTaken, "\(uri)")
            }
        }
    }

    @Test func aFenceHoldsLongEnoughForTheLeaseToBeKept() {
        for seconds in [1, 5, 30, 600] {
            let terms = LeaseTerms(duration: .seconds(seconds)).behindRouters
            #expect(terms.duration - terms.writeLimit - terms.spread >= terms.duration / 2)
            #expect(terms.skew >= terms.spread)
        }
    }
}
