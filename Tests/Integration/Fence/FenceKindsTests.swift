import BSON
import Glibc
import TestSupport
import Testing

/// A runner that checks its lease and then sleeps past the lease's end changes nothing when it wakes up.
///
/// Each kind of write is tried several times.
@Suite struct FenceKindsTests {
    /// The kinds of write that a job makes.
    enum Write: String, CaseIterable, Sendable {
        /// Updates for a whole chunk; their filters list the `_id`s of the chunk.
        case range
        /// Updates like those of ``range``, but of a job with schemas, so that the unsync budget checks each chunk
        /// before its write.
        case listed
        /// One update for each document, with a value that the client computed.
        ///
        /// The update's filter requires that the document has not changed.
        case compared

        var steps: [String] {
            self == .compared
                ? ["default: {field: priority, generate: uuid, when: missingOrNull}"]
                : ["convert: {field: priority, to: int}"]
        }

        /// The fields that a user sets so that every document needs the job again.
        var reset: BSONDocument { self == .compared ? ["priority": nil] : ["priority": "7"] }
    }

    /// The command that runs from start to end while the first runner sleeps.
    enum Successor: CaseIterable, Sendable { case runner, undo }

    private static let tries = TestScale.pick(2, full: 5, torture: 20)
    private static let documents = 60

    @Test(arguments: [Write.range, .listed], Successor.allCases)
    func aSleeperChangesNothing(_ kind: Write, _ successor: Successor) async throws {
        try await sleepers(of: kind, until: successor)
    }

    @Test(arguments: Successor.allCases)
    func aSleeperBeforeADocumentOfTheClientsChangesNothing(_ successor: Successor) async throws {
        try await sleepers(of: .compared, until: successor)
    }

    private func sleepers(of kind: Write, until successor: Successor) async throws {
        let mongod = try await Mongod.shared
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<Self.tries {
                if number >= 5 { try await group.next() }
                group.addTask { try await sleep(kind, until: successor, visit: 1 + number % 4, on: mongod) }
            }
            try await group.waitForAll()
        }
        FaultTable.note(
            "backfill", "SIGSTOP past the lease, which another takes", tries: Self.tries, continued: 0)
    }

    private func sleep(_ kind: Write, until successor: Successor, visit: Int, on mongod: Mongod) async throws {
        try await mongod.withBackfill { test in
            try await prepare(kind, test)
            let flags = [
                "SHIPSHAPE_LEDGER=none", "--allow-unsync", "60", "SHIPSHAPE_LEASE_TTL=1s", "SHIPSHAPE_LEASE_WAIT=30s",
            ]
            var left: [BSONDocument] = []
            let first = try await test.backfill(flags: flags, fault: "before-write:\(visit):stop") { program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                defer { program.send(SIGCONT) }
                switch successor {
                case .runner:
                    let second = try await test.backfill(flags: flags)
                    #expect(second.exitCode == 0, "\(second.errors)")
                    // A user reverts what both runners wrote, so that every document needs the job again.
                    let update: BSONValue = ["q": [:], "u": ["$set": .object(kind.reset)], "multi": true]
                    try await test.database.run(["update": "tasks", "updates": [update]])
                case .undo:
                    let undo = try await Program.run(
                        [
                            "undo", test.path(), "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
                            "--yes",
                        ] + flags)
                    #expect(undo.exitCode == 0, "\(undo.errors)")
                }
                left = try await test.database.documents("tasks")
            }
            #expect(first.exitCode == 76, "\(first.status): \(first.errors)")
            #expect(left.count == Self.documents)
            #expect(try await test.database.documents("tasks") == left)
        }
    }

    private func prepare(_ kind: Write, _ test: BackfillCase) async throws {
        try await test.database.fill("tasks", count: Self.documents) {
            ["_id": .integer($0), "priority": kind == .compared ? nil : .string("\($0)")]
        }
        try BudgetCase.writeSchemas(retyping: "priority", in: test)
        try test.job(
            on: "tasks", steps: kind.steps, limits: "{chunk: {documents: 10}}",
            more: kind == .listed ? "schema: {active: active.json, next: next.json}" : "")
    }
}
