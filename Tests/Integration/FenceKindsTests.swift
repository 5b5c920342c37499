import BSON
import Glibc
import TestSupport
import Testing

/// A runner that sleeps between the look at its lease and its write, past the lease's end, changes nothing any more:
/// every kind of write, many times.
@Suite struct FenceKindsTests {
    /// The kinds of write that a job makes.
    enum Write: String, CaseIterable, Sendable {
        /// One update over a range of `_id`s.
        case range
        /// Updates over the `_id`s that the gate let through.
        case listed
    }

    private static let tries = PropertySettings.isFull ? 20 : 2
    private static let documents = 60

    @Test(arguments: Write.allCases) func aSleeperChangesNothing(_ kind: Write) async throws {
        let mongod = try await Mongod.shared
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<Self.tries {
                if number >= 5 { try await group.next() }
                group.addTask { try await sleep(kind, visit: 1 + number % 4, on: mongod) }
            }
            try await group.waitForAll()
        }
    }

    private func sleep(_ kind: Write, visit: Int, on mongod: Mongod) async throws {
        try await mongod.withBackfill { test in
            try await prepare(kind, test)
            let flags = ["--ledger", "none", "--allow-unsync", "60", "--lease-ttl", "1s", "--lease-wait", "30s"]
            var left: [BSONDocument] = []
            let first = try await test.backfill(flags: flags, fault: "before-write:\(visit):stop") { program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                defer { program.send(SIGCONT) }
                let second = try await test.backfill(flags: flags)
                #expect(second.exitCode == 0, "\(second.errors)")
                // Users take back what both wrote, so that every document needs the job again.
                try await test.database.run([
                    "update": "tasks",
                    "updates": [["q": [:], "u": ["$set": ["priority": "7"]], "multi": true]],
                ])
                left = try await test.database.documents("tasks")
            }
            #expect(first.exitCode == 76, "\(first.status): \(first.errors)")
            #expect(left.count == Self.documents)
            #expect(try await test.database.documents("tasks") == left)
        }
    }

    private func prepare(_ kind: Write, _ test: BackfillCase) async throws {
        try await test.database.fill("tasks", count: Self.documents) {
            ["_id": .integer($0), "priority": .string("\($0)")]
        }
        try GateCase.writeSchemas(retyping: "priority", in: test)
        try test.job(
            on: "tasks", steps: ["convert: {field: priority, to: int}"], limits: "{chunk: {documents: 10}}",
            more: kind == .listed ? "schema: {active: active.json, next: next.json}" : "")
    }
}
