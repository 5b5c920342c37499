import BSON
import Checking
import Foundation
import ServerSchema
import SystemPackage
import TestSupport
import Testing

/// Tests that the number of unsynced documents stays below the limit, although the simulated ledger shows each of them
/// only some seconds later.
@Suite(.serialized) struct LedgerSimulatorTests {
    private static let documents = TestScale.pick(2_000, full: 10_000, torture: 50_000)
    private static let limit = TestScale.pick(200, full: 500, torture: 1_000)
    private static let lag = Duration.seconds(TestScale.pick(2, full: 3, torture: 5))
    /// The ledger lag that the job file states: ten seconds more than the real lag.
    ///
    /// If the real lag were longer than stated, a run could exceed the limit. For the same reason, the tests wait for
    /// the simulated ledger between runs.
    private static let reported = lag + .seconds(10)
    private static let ceiling = limit - limit / 10

    /// Runs a test with tasks that have a text as priority, a job that converts the priority, and a ledger that lags.
    /// - Parameter removesEntries: whether the ledger drops a document that was repaired.
    private func withLateLedger(
        removesEntries: Bool = false, chunk: Int, _ body: (BackfillCase, LedgerSimulator) async throws -> Void
    ) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("tasks", count: Self.documents) {
                ["_id": .integer($0), "priority": .string("\($0)")]
            }
            try BudgetCase.writeSchemas(retyping: "priority", in: test)
            try test.job(
                on: "tasks", steps: ["convert: {field: priority, to: int}"],
                limits:
                    "{chunk: {documents: \(chunk)}, unsynced: \(Self.limit), ledgerLag: "
                    + "\(Self.reported.components.seconds)s}",
                more: "schema: {active: active.json, next: next.json}")
            try await LedgerSimulator.keeping(
                "ledger", of: "tasks", in: test.database, active: try schema("active", test),
                LedgerSimulator.Behaviour(lag: Self.lag, removesEntries: removesEntries)
            ) { try await body(test, $0) }
        }
    }

    private func schema(_ name: String, _ test: BackfillCase) throws -> CompiledSchema {
        let namespace = test.database.namespace("tasks")
        let schema = try ServerSchema.read(
            at: test.folder.appending("\(name).json").string, namespace: namespace)
        return CompiledSchema(try #require(schema[namespace]), of: schema)
    }

    private let accepted = ["--allow-unsync", "\(Self.documents)"]

    @Test(.timeLimit(.minutes(60))) func aRetypeStopsBelowTheLimitAndEndsOnceItIsDeployed() async throws {
        try await withLateLedger(chunk: 50) { test, ledger in
            let flags = accepted + ["SHIPSHAPE_LEDGER=\(test.database.name).ledger"]
            let stopped = try await test.backfill(flags: flags)
            #expect(stopped.exitCode == 75, "\(stopped.errors)")
            #expect(try await BudgetCase.unsyncable(test).count == Self.ceiling - 1)
            try await ledger.catchUp()
            #expect(ledger.highest == Self.ceiling - 1)
            // The ledger now has the documents that the first run made unsyncable, so they count as ledger entries
            // instead of as reservations. Their number is the same, so the second run cannot make any further document
            // unsyncable.
            #expect(try await test.backfill(flags: flags).exitCode == 75)
            #expect(try await BudgetCase.unsyncable(test).count == Self.ceiling - 1)

            try ledger.deploy(try schema("next", test))
            #expect(try await ThrottleCase.steer("deployed", test, "--yes").exitCode == 0)
            let last = try await test.backfill(flags: flags)
            #expect(last.exitCode == 0, "\(last.errors)")
            #expect(try await BudgetCase.unsyncable(test).count == Self.documents)
            try await ledger.catchUp()
            #expect(ledger.highest < Self.ceiling)
            print("highest count ever seen: \(ledger.highest) of \(Self.limit), ledger \(Self.lag) late")
        }
    }

    @Test(.timeLimit(.minutes(60))) func killedTenTimesItStaysBelowTheLimit() async throws {
        try await withLateLedger(chunk: Self.ceiling / 15) { test, ledger in
            let flags = accepted + ["SHIPSHAPE_LEDGER=\(test.database.name).ledger"]
            for round in 0..<10 {
                let place = ["after-harm", "after-write", "after-checkpoint"][round % 3]
                let killed = try await test.backfill(flags: flags, fault: "\(place):1")
                #expect(killed.wasKilled, "\(round): \(killed.errors)")
            }
            let stopped = try await test.backfill(flags: flags)
            #expect(stopped.exitCode == 75, "\(stopped.errors)")
            try await ledger.catchUp()
            #expect(try await BudgetCase.unsyncable(test).count == Self.ceiling - 1)
            #expect(ledger.highest == Self.ceiling - 1)
            print("highest count ever seen: \(ledger.highest) of \(Self.limit), killed 10 times")
        }
    }

    @Test(.timeLimit(.minutes(60))) func usersRepairsAreNotSpentTwice() async throws {
        try await withLateLedger(removesEntries: true, chunk: 50) { test, ledger in
            let flags = accepted + ["SHIPSHAPE_LEDGER=\(test.database.name).ledger"]
            #expect(try await test.backfill(flags: flags).exitCode == 75)
            // Users repair half of the unsyncable documents before the ledger shows any of them.
            try await test.database.run([
                "update": "tasks",
                "updates": [
                    [
                        "q": ["_id": ["$lt": .integer(Self.ceiling / 2)]], "u": ["$set": ["priority": "1"]],
                        "multi": true,
                    ]
                ],
            ])
            // The job is run again and again. The repaired documents stop counting towards the limit, but only after
            // the ledger has dropped them.
            try await waitUntil("the room is spent again") {
                try await ledger.keepUp()
                #expect(try await test.backfill(flags: flags).exitCode == 75)
                let unsyncable = try await BudgetCase.unsyncable(test).count
                try #require(unsyncable < Self.ceiling)
                return unsyncable == Self.ceiling - 1
            }
            try await ledger.catchUp()
            #expect(ledger.highest < Self.ceiling)
            print("highest count ever seen: \(ledger.highest) of \(Self.limit), with repairs")
        }
    }
}
