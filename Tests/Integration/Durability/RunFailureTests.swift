import BSON
import Glibc
import JobState
import TestSupport
import Testing

/// Tests that a run retries temporary failures, and ends with the same documents as an undisturbed run.
@Suite(.serialized) struct RunFailureTests {
    private static let documents = 400
    private static let steps = [
        #"default: {field: email, value: ""}"#, "copy: {from: n, to: m}", "convert: {field: n, to: string, into: text}",
    ]

    enum Failure: CaseIterable {
        case notPrimary, steppedDown, connectionLost, notMajority, noSuchMajority

        func point(_ command: String, _ mode: FailPoint.Mode, _ appName: String) -> FailPoint {
            var point = FailPoint(command, appName: appName, mode: mode)
            switch self {
            case .notPrimary: point.errorCode = 10_107
            case .steppedDown: point.errorCode = 11_602
            case .connectionLost: point.closesConnection = true
            case .notMajority: point.writeConcernError = ["code": 64, "errmsg": "waiting for replication timed out"]
            case .noSuchMajority: point.writeConcernError = ["code": 100, "errmsg": "not enough data-bearing nodes"]
            }
            return point
        }
    }

    /// A server for this suite alone.
    ///
    /// A server has only one fail point at a time, and these tests must not wait for the fail points of other suites.
    private static let server = Task { try await Mongod.start() }

    private func withPeople(_ body: (BackfillCase) async throws -> ProgramRun) async throws {
        try await Self.server.value.withBackfill { test in
            let person = { (number: Int) -> BSONDocument in ["_id": .integer(number), "n": .integer(number)] }
            try await test.database.fill("people", count: Self.documents, person)
            try await test.database.fill("whole", count: Self.documents, person)
            try test.job(steps: Self.steps, limits: "{chunk: {documents: 10}, nice: 1}")
            try test.job("whole", on: "whole", steps: Self.steps)
            let run = try await body(test)
            #expect(run.exitCode == 0, "\(run.status): \(run.errors)")
            #expect(try await test.backfill("whole").exitCode == 0)
            let whole = try await test.database.documents("whole")
            #expect(try await test.database.documents("people") == whole)
            #expect(try await test.checkpoint()?.state == "done")
            // A run without failures writes chunks of ten documents. If a read fails within a chunk, or a write is
            // retried, some chunks are smaller, so there are more of them.
            #expect(try #require(try await test.checkpoint()).chunks >= Self.documents / 10)
        }
    }

    @Test(arguments: Failure.allCases, ["update", "findAndModify"])
    func aPassingFailureIsRetried(_ failure: Failure, _ command: String) async throws {
        try await withPeople { test in
            try await test.backfill { _ in
                try await test.waitForChunks(3)
                try await test.mongod.failing(failure.point(command, .times(3), test.appName)) {
                    try await test.waitForChunks(8)
                }
            }
        }
    }

    /// A run retries a failed write to the state database, which holds the job, its progress and its lease.
    ///
    /// The program cannot know whether the server executed the write before the failure.
    @Test(arguments: [Failure.connectionLost, .notMajority], ["update", "findAndModify"])
    func aFailureAtTheStartIsRetried(_ failure: Failure, _ command: String) async throws {
        try await withPeople { test in
            try await test.mongod.failing(failure.point(command, .times(2), test.appName)) {
                try await test.backfill()
            }
        }
    }

    /// A run retries a command that the server ends with error 50 (MaxTimeMSExpired), as it may under load.
    @Test(arguments: ["findAndModify", "insert", "find", "aggregate", "getMore", "createIndexes", "update"])
    func aTimeLimitOutsideOfAChunksWriteIsRetried(_ command: String) async throws {
        try await withPeople { test in
            let point = FailPoint.error(50, command, appName: test.appName, mode: .times(3))
            return try await test.mongod.failing(point) { try await test.backfill() }
        }
    }

    @Test func changesOfAFailedWriteAreCounted() async throws {
        try await withPeople { test in
            let point = Failure.notMajority.point("update", .times(3), test.appName)
            let run = try await test.mongod.failing(point) { try await test.backfill("job", "--output", "json") }
            let report = try #require(try BSONValue(extendedJSON: run.output).document)
            #expect(report["changed"]?.integer == Self.documents)
            #expect(try await test.checkpoint()?.modified == Self.documents)
            return run
        }
    }

    /// A report counts the changed documents exactly, although an insert into another collection fails and is retried.
    @Test func afterAFailedInsertOfAChildTheCountIsExact() async throws {
        try await Self.server.value.withBackfill { test in
            try await test.database.fill("people", count: 20) {
                ["_id": .integer($0), "home": ["key": .integer($0), "city": .integer($0)]]
            }
            let homes = "\(test.database.name).homes"
            try test.job(steps: ["extract: {field: home, to: \(homes), idFrom: key}"])
            var point = Failure.steppedDown.point("aggregate", .times(3), test.appName)
            point.namespace = homes
            let flags = ["--output", "json", "SHIPSHAPE_LEASE_TTL=60s"]
            let run = try await test.backfill("job", flags: flags, fault: "before-write:1:stop") { program in
                try await waitUntil("the runner is stopped before the insert") { try program.isStopped }
                try await test.mongod.failing(point) {
                    program.send(SIGCONT)
                    try await waitUntil("the children are inserted") { try await test.database.count("homes") > 0 }
                }
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            let report = try #require(try BSONValue(extendedJSON: run.output).document)
            #expect(report["changed"]?.integer == 20, "\(run.output)")
        }
    }

    @Test func aStepDownIsRetried() async throws {
        try await withPeople { test in
            try await test.backfill(held: true) { program in
                try await test.slowly(program) {
                    try await test.waitForChunks(3)
                    try await test.mongod.stepDown()
                    #expect(try #require(try await test.checkpoint()).isInside)
                }
            }
        }
    }

    @Test func aChunkThatTakesTooLongIsHalved() async throws {
        try await Self.server.value.withBackfill { test in
            try await test.database.fill("people", count: Self.documents)
            try test.job(steps: [#"default: {field: email, value: ""}"#], limits: "{chunk: {documents: 64}, nice: 10}")
            let run = try await test.backfill("job") { _ in
                try await test.waitForChunks(1)
                let point = FailPoint.error(50, "update", appName: test.appName, mode: .times(3))
                try await test.mongod.failing(point) {
                    try await test.waitForChunks(4)
                }
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.output.contains("changed \(Self.documents) "), "\(run.output)")
            for size in [32, 16, 8] { #expect(run.errors.contains("continuing with \(size) documents")) }
            #expect(try await test.database.count("people", ["email": ""]) == Self.documents)
        }
    }
}
