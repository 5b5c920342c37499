import BSON
import Foundation
import TestSupport
import Testing

/// Tests the records by which jobs reserve parts of the limit of unsynced documents.
///
/// All jobs with the same state database share the limit.
@Suite(.serialized) struct BudgetRecordTests {
    /// A server for this suite alone, because a server has only one fail point at a time.
    ///
    /// On a shared server, these tests would have to wait for other suites' fail points.
    private static let server = Task { try await Mongod.start() }

    /// Returns a job's reservation for document 1,000, for which the ledger of the test has an entry.
    ///
    /// - Parameter isStale: whether that entry is older than the reservation.
    private func record(_ job: String, isStale: Bool, in test: BackfillCase) -> BSONDocument {
        [
            "_id": ["job": .string(job), "ns": .string("\(test.database.name).tasks"), "id": 1_000], "seen": false,
            "stale": .bool(isStale), "at": .date(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1_000)),
        ]
    }

    @Test func eachReservationIsMarkedOnceTheLedgerShowsIt() async throws {
        try await BudgetCase.withTasks(ledger: 1) { test in
            // The ledger's entry is older than the second job's reservation. A user may have repaired the document
            // after that entry was added, so the entry does not prove that the second job has written the document.
            let records = [record("first", isStale: false, in: test), record("second", isStale: true, in: test)]
            try await test.state.fill("harm", records)
            let run = try await BudgetCase.run(test, "--allow-unsync", "200")
            #expect(run.exitCode == 75, "\(run.errors)")
            #expect(try await test.state.count("harm", ["_id.job": "first", "seen": true]) == 1)
            #expect(try await test.state.count("harm", ["_id.job": "second", "seen": false]) == 1)
            // The limit allows 99 documents: one is in the ledger, one is reserved by the second job, and 97 are left
            // for the run.
            #expect(try await BudgetCase.unsyncable(test).count == 97)
        }
    }

    @Test func theSumIsAskedOfAnIndex() async throws {
        try await BudgetCase.withTasks { test in
            #expect(try await BudgetCase.run(test, "--allow-unsync", "200").exitCode == 75)
            let plan = try await test.state.run([
                "explain": ["count": "harm", "query": ["seen": false]], "verbosity": "executionStats",
            ])
            let stats = plan["executionStats"]?.document
            #expect(stats?["totalKeysExamined"]?.integer == 100)
            #expect(stats?["totalDocsExamined"]?.integer == 0)
        }
    }

    /// Runs the job while the server has a fail point.
    ///
    /// The fail point is set before the first write. It is removed when more than 60 documents are converted, or when
    /// the program has ended.
    private func run(into point: FailPoint, _ test: BackfillCase) async throws -> ProgramRun {
        let flags = [
            "--allow-unsync", "200", "SHIPSHAPE_LEASE_TTL=10s", "SHIPSHAPE_LEDGER=\(test.database.name).ledger",
        ]
        return try await test.backfill(flags: flags, fault: "before-write:1") { program in
            try await waitUntil("the runner sleeps") { try program.isStopped }
            try await test.mongod.failing(point) {
                program.send(SIGCONT)
                try await waitUntil("the program is through it") {
                    let hasContinued = try await BudgetCase.unsyncable(test).count > 60
                    return program.hasEnded || hasContinued
                }
            }
        }
    }

    @Test func noDocumentIsToBlameForTheStateDatabase() async throws {
        try await BudgetCase.withTasks(on: try await Self.server.value) { test in
            var point = FailPoint.error(96, "aggregate", appName: test.appName)
            point.namespace = "\(test.state.name).harm"
            let run = try await run(into: point, test)
            #expect(run.exitCode == 69, "\(run.errors)")
            #expect(try await test.state.count("failed") == 0)
            #expect(try await BudgetCase.run(test, "--allow-unsync", "200").exitCode == 75)
            try await BudgetCase.expectUnderCeiling(test)
        }
    }

    @Test func aLedgerThatAnswersTooLateIsAskedAgain() async throws {
        try await BudgetCase.withTasks(on: try await Self.server.value, ledger: 5) { test in
            var point = FailPoint.error(50, "aggregate", "find", appName: test.appName, mode: .times(3))
            point.namespace = "\(test.database.name).ledger"
            let run = try await run(into: point, test)
            #expect(run.exitCode == 75, "\(run.errors)")
            #expect(run.errors.contains("trying again (3)"), "\(run.errors)")
            #expect(try await BudgetCase.unsyncable(test).count == 94)
        }
    }

    @Test func onlyWhatWasRunCountsAsPassed() async throws {
        try await BudgetCase.withTasks { test in
            try test.job(
                on: "tasks", steps: ["convert: {field: priority, to: int}"],
                limits: "{unsynced: \(BudgetCase.ceiling), reserve: 0}",
                more: "schema: {active: active.json, next: next.json}")
            #expect(try await BudgetCase.run(test, "--allow-unsync", "200").exitCode == 75)
            #expect(try await test.state.documents("ranges").map { $0["walked"] } == [99])
        }
    }
}
