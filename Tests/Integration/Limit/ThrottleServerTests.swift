import BSON
import Glibc
import Mongo
import TestSupport
import Testing

/// Tests the throttle rules for the server's health.
///
/// Each test brings a server into a state in which a run has to wait.
@Suite(.serialized) struct ThrottleServerTests {
    /// A run waits if its user loses the right to read the server metrics.
    ///
    /// Without the metrics, the run can no longer check the throttle rules.
    @Test func aRunWhoseUserCanNoLongerReadMetricsWaits() async throws {
        let mongod = try await Mongod.withAuthentication
        try await ThrottleCase.withPeople(on: mongod, limits: "") { test in
            let name = "watched-\(test.database.name)"
            let watch: BSONValue = ["role": "clusterMonitor", "db": "admin"]
            let roles = [test.database.name, test.state.name].map { name -> BSONValue in
                ["role": "readWrite", "db": .string(name)]
            }
            let user = try await mongod.addUser(name, roles: roles + [watch])
            let run = try await test.backfill(
                flags: ["SHIPSHAPE_LEASE_TTL=60s"], uri: user, fault: "after-checkpoint:1:stop"
            ) { program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                try await mongod.admin(["revokeRolesFromUser": .string(name), "roles": [watch]])
                // The runner reads the metrics again only if its last reading is at least a second old.
                try await Task.sleep(for: .milliseconds(1_200))
                program.send(SIGCONT)
                try await ThrottleCase.waitForThrottle("reading", test)
                #expect(try await test.checkpoint()?.chunks == 1)
                try await mongod.admin(["grantRolesToUser": .string(name), "roles": [watch]])
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.errors.contains("waiting: server status: unreadable"), "\(run.errors)")
        }
    }

    @Test func theLagOfASecondaryThatDoesNotApplyWrites() async throws {
        let set = try await ThreeNodes.start()
        try await ThrottleCase.withPeople(on: set.primary, limits: "lag: 2s") { test in
            try await set.stopSecondary(behindBy: 3)
            let run = try await ThrottleCase.expectWait("secondaryLag", "lag of \(set.secondaries[0])", test) {
                try set.continueSecondary()
            }
            #expect(run.output.contains("  2 s  "), "\(run.output)")
        }
    }

    @Test func anOplogThatReachesBackTooLittle() async throws {
        let mongod = try await Mongod.start(.replicaSet, ["--oplogSize", "1"])
        // `nice: 10` makes the job slow. The runner reads the oplog window again only after a hundredth of the oplog
        // has been written, and a fast job would end before that.
        try await ThrottleCase.withPeople(on: mongod, limits: "oplog: 1h, nice: 10", chunk: 1) { test in
            let text = BSONValue.string(String(repeating: "x", count: 10_000))
            try await test.database.fill("more", count: 200) { ["_id": .integer($0), "text": text] }
            // The documents of this test make the oplog window shorter than the limit of one hour. The job `small` does
            // not wait for a longer window, because its two documents add almost nothing to the oplog.
            try await test.database.fill("few", count: 2)
            try test.job("small", on: "few", steps: ["default: {field: email, value: none}"], limits: "{oplog: 1h}")
            let few = try await test.backfill("small", "--max-runtime", "60s")
            #expect(few.exitCode == 0, "\(few.errors)")
            #expect(!few.errors.contains("waiting: "), "\(few.errors)")
            try await ThrottleCase.expectWait("oplog", "oplog window", test) {
                try await ThrottleCase.steer("tune", test, "oplog=off")
            }
        }
    }

    @Test func aSmallCacheThatIsDirty() async throws {
        let mongod = try await Mongod.start(.replicaSet, ["--wiredTigerCacheSizeGB", "0.25"])
        try await ThrottleCase.withPeople(on: mongod, limits: "cache: {dirty: 1%}", chunk: 1) { test in
            let text = BSONValue.string(String(repeating: "x", count: 100))
            try await withThrowingTaskGroup { group in
                group.addTask {
                    while !Task.isCancelled {
                        try await test.database.fill("more", count: 5_000) { _ in ["text": text] }
                    }
                }
                // The job is short, so the test starts it only after the cache is dirty. The server also writes dirty
                // pages by itself, so the run can stop waiting for a short time (`isSteady: false`).
                try await waitUntil("the cache is dirty") {
                    let status = try await mongod.admin(["serverStatus": 1, "repl": 0, "metrics": 0])
                    let cache = status["wiredTiger"]?.document?["cache"]?.document
                    let dirty = cache?["tracked dirty bytes in the cache"]?.integer ?? 0
                    return dirty > (cache?["maximum bytes configured"]?.integer ?? .max) / 30
                }
                try await ThrottleCase.expectWait("cacheDirty", "dirty cache", test, isSteady: false) {
                    group.cancelAll()
                    try await group.waitForAll()
                    // `fsync` makes the server write all dirty pages to disk, so the run no longer has a reason to
                    // wait.
                    try await mongod.admin(["fsync": 1])
                }
            }
        }
    }

    @Test func aSmallCacheThatIsFull() async throws {
        let mongod = try await Mongod.start(.replicaSet, ["--wiredTigerCacheSizeGB", "0.25"])
        try await ThrottleCase.withPeople(on: mongod, limits: "cache: {used: 2%}") { test in
            let text = BSONValue.string(String(repeating: "x", count: 10_000))
            // The text is in three collections: in a single one, it would fill a page of 10 MB, and the server evicts a
            // page of that size at once.
            for name in ["more", "and more", "and again"] {
                try await test.database.fill(name, count: 600) { ["_id": .integer($0), "text": text] }
            }
            try await ThrottleCase.expectWait("cacheUsed", "cache in use", test) {
                try await ThrottleCase.steer("tune", test, "cache.used=off")
            }
        }
    }

    @Test func ticketsThatOthersHold() async throws {
        let mongod = try await Mongod.start(
            .replicaSet, ["--setParameter", "wiredTigerConcurrentWriteTransactions=5"])
        try await ThrottleCase.withPeople(on: mongod, limits: "") { test in
            // An insert that hangs on the server keeps its write ticket, so four hanging inserts use four of the five
            // tickets.
            let hang: BSONDocument = ["configureFailPoint": "hangWithLockDuringBatchInsert"]
            try await mongod.admin(hang.merging(["mode": "alwaysOn"]))
            try await withThrowingTaskGroup { group in
                for number in 0..<4 {
                    group.addTask { try await test.database.fill("other\(number)", count: 1) }
                }
                do {
                    try await waitUntil("four inserts hold their tickets") { try await Self.ticketsInUse(mongod) >= 4 }
                    try await ThrottleCase.expectWait("tickets", "execution tickets in use", test) {
                        try await mongod.admin(hang.merging(["mode": "off"]))
                    }
                } catch {
                    // The fail point is removed even after a failure. Otherwise, the inserts and this test would hang.
                    try await mongod.admin(hang.merging(["mode": "off"]))
                    throw error
                }
                try await group.waitForAll()
            }
        }
    }

    private static func ticketsInUse(_ mongod: Mongod) async throws -> Int {
        let status = try await mongod.admin(["serverStatus": 1])
        let tickets = status["wiredTiger"]?.document?["concurrentTransactions"]?.document?["write"]?.document
        return tickets?["out"]?.integer ?? 0
    }

    @Test func flowControlThatSlowsWritersDown() async throws {
        let mongod = try await Mongod.start()
        try await ThrottleCase.withPeople(on: mongod, limits: "flowControl: 200ms", chunk: 1) { test in
            let override: BSONDocument = ["configureFailPoint": "flowControlTicketOverride"]
            try await mongod.admin(override.merging(["mode": "alwaysOn", "data": ["numTickets": 10]]))
            try await withThrowingTaskGroup { group in
                for number in 0..<3 {
                    group.addTask {
                        while !Task.isCancelled { try await test.database.fill("other\(number)", [["n": 1]]) }
                    }
                }
                // The fail point limits the flow-control tickets that the server hands out to writers, but takes effect
                // only after some seconds.
                try await waitUntil("writers wait for flow control") {
                    let status = try await mongod.admin(["serverStatus": 1])
                    return status["flowControl"]?.document?["timeAcquiringMicros"]?.integer ?? 0 > 1_000_000
                }
                try await ThrottleCase.expectWait("flowControl", "writers' wait for flow control", test, lease: "20s") {
                    group.cancelAll()
                    try await mongod.admin(override.merging(["mode": "off"]))
                }
            }
        }
    }
}

extension BSONDocument {
    /// Returns the document with the fields of another document at its end.
    fileprivate func merging(_ more: BSONDocument) throws -> BSONDocument {
        BSONDocument(try (elements() + more.elements()).map { ($0.name, $0.value) })
    }
}
