import BSON
import Glibc
import TestSupport
import Testing

/// A step-down, a lost commit, or the time limit of transactions disturbs the transaction of a chunk.
///
/// The run continues, and the counts of the run and of its undo are exact.
@Suite(.serialized) struct TransactionFaultTests {
    private static let documents = 100

    /// A server for this suite alone, because a server has only one fail point at a time, and because all tests of a
    /// server notice a step-down.
    private static let server = Task { try await Mongod.start() }

    private func withPeople(on mongod: Mongod, _ body: (BackfillCase) async throws -> Void) async throws {
        try await mongod.withBackfill { test in
            try await test.database.fill("people", count: Self.documents) { ["_id": .integer($0), "n": .integer($0)] }
            try test.job(
                steps: [#"default: {field: email, value: ""}"#, "convert: {field: n, to: string}"],
                limits: "{chunk: {documents: 10}}")
            let before = try await committed(test)
            try await body(test)
            #expect(try await committed(test) > before, "no chunk is a transaction")
        }
    }

    /// Returns the number of transactions that the server has committed.
    private func committed(_ test: BackfillCase) async throws -> Int {
        let status = try await test.mongod.admin(["serverStatus": 1])
        return status["transactions"]?.document?["totalCommitted"]?.integer ?? 0
    }

    private func expectDone(_ run: ProgramRun, _ test: BackfillCase) async throws {
        #expect(run.exitCode == 0, "\(run.status): \(run.errors)")
        let report = try test.report(run)
        #expect(report["changed"]?.integer == Self.documents)
        #expect(report["changed_is_lower_bound"] != true)
        #expect(try await test.database.count("people", ["email": "", "n": ["$type": "string"]]) == Self.documents)
    }

    private func expectUndone(_ run: ProgramRun, _ test: BackfillCase, earlier: Int = 0) async throws {
        #expect(run.exitCode == 0, "\(run.status): \(run.output)\(run.errors)")
        #expect(try test.report(run)["restored"]?.integer == Self.documents - earlier)
        let expected = (0..<Self.documents).map { ["_id": .integer($0), "n": .integer($0)] as BSONDocument }
        #expect(try await test.database.documents("people") == expected)
    }

    private static let flags = ["--output", "json", "SHIPSHAPE_LEASE_TTL=60s"]

    // MARK: Step-downs

    /// The primary steps down before the write of a chunk, after it, and before the commit.
    @Test func stepDownsLeaveNothingUncertain() async throws {
        try await withPeople(on: try await Self.server.value) { test in
            let fault = "before-write:2:stop,after-write:4:stop,before-commit:6:stop"
            var stepDowns = 0
            let run = try await test.backfill(flags: Self.flags, fault: fault) { program in
                try await program.atEachStop {
                    try await test.mongod.stepDown()
                    stepDowns += 1
                }
            }
            #expect(stepDowns > 1)
            try await expectDone(run, test)
            let undone = try await test.undo(flags: Self.flags, fault: "before-write:2:stop") { program in
                try await program.atEachStop { try await test.mongod.stepDown() }
            }
            try await expectUndone(undone, test)
        }
    }

    // MARK: Lost commits

    private static let commitFaults: [(String, FailPoint)] =
        {
            func point(_ change: (inout FailPoint) -> Void) -> FailPoint {
                var point = FailPoint("commitTransaction", mode: .times(2))
                change(&point)
                return point
            }
            return [
                ("the connection is closed", point { $0.closesConnection = true }),
                (
                    "no majority",
                    point { $0.writeConcernError = ["code": 64, "errmsg": "waiting for replication timed out"] }
                ),
                ("the primary steps down", point { $0.errorCode = 11_602 }),
                ("the time is over", point { $0.errorCode = 50 }),
                (
                    "the transaction is gone",
                    point {
                        $0.errorCode = 251
                        $0.errorLabels = ["TransientTransactionError"]
                    }
                ),
            ]
        }()

    @Test(arguments: commitFaults.indices) func aCommitThatFailsIsNeitherLostNorDoneTwice(_ index: Int) async throws {
        let (name, fault) = Self.commitFaults[index]
        try await withPeople(on: try await Self.server.value) { test in
            var point = fault
            point.appName = test.appName
            let run = try await test.mongod.failing(point) { try await test.backfill(flags: Self.flags) }
            try await expectDone(run, test)
            let undone = try await test.mongod.failing(point) { try await test.undo(flags: Self.flags) }
            try await expectUndone(undone, test)
            print("commit fault: \(name)")
        }
    }

    /// A request to commit, or the reply to it, is lost, or the program is killed at that moment.
    @Test(arguments: [RequestFault.requestLost, .replyLost, .killedBefore, .killedAfter], [1, 3])
    func aCommitWhoseReplyIsLostIsNotDoneTwice(_ fault: RequestFault, _ visit: Int) async throws {
        try await withPeople(on: try await Self.server.value) { test in
            for command in ["backfill", "undo"] {
                let proxy = try RequestProxy(before: test.mongod.host, at: visit, of: "commitTransaction", fault)
                defer { proxy.close() }
                let words =
                    [command, command == "undo" ? "job" : test.path(), "--yes", "--output", "json"]
                    + ["SHIPSHAPE_LEASE_TTL=4s", "SHIPSHAPE_LEASE_WAIT=60s"]
                let state = "SHIPSHAPE_STATE_DATABASE=\(test.state.name)"
                let first = try await Program.run(words + [state, "--uri", proxy.uri]) { program in
                    proxy.program(is: program.process)
                }
                #expect(proxy.hit != nil, "\(command) commits no transaction")
                guard first.wasKilled else {
                    if command == "undo" {
                        try await expectUndone(first, test)
                    } else {
                        try await expectDone(first, test)
                    }
                    continue
                }
                let done: BSONDocument = ["email": ["$exists": .bool(command == "backfill")]]
                let earlier = try await test.database.count("people", done)
                let next = try await Program.run(words + [state, "--uri", test.uri])
                #expect(next.exitCode == 0, "\(next.status): \(next.output)\(next.errors)")
                if command == "undo" { try await expectUndone(next, test, earlier: earlier) }
            }
        }
    }

    // MARK: The time limit

    /// The server aborts each transaction that is open for longer than a second.
    @Test func transactionsThatTheServerAbortsAreRepeated() async throws {
        let mongod = try await Mongod.start(.replicaSet, ["--setParameter", "transactionLifetimeLimitSeconds=1"])
        try await withPeople(on: mongod) { test in
            var wereOpen = 0
            func open() async throws -> Int {
                let status = try await mongod.admin(["serverStatus": 1])
                return status["transactions"]?.document?["currentOpen"]?.integer ?? 0
            }
            let waiting: (LiveProgram) async throws -> Void = { program in
                try await program.atEachStop {
                    if try await open() > 0 { wereOpen += 1 }
                    try await waitUntil("the server has aborted the transactions") { try await open() == 0 }
                }
            }
            let fault = "before-write:2:stop,after-write:4:stop,before-commit:6:stop"
            let run = try await test.backfill(flags: Self.flags, fault: fault, during: waiting)
            #expect(wereOpen > 0, "no transaction was open at a fault point")
            try await expectDone(run, test)
            let undone = try await test.undo(flags: Self.flags, fault: "before-write:2:stop", during: waiting)
            try await expectUndone(undone, test)
        }
    }
}
