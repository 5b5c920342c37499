import BSON
import Glibc
import TestSupport
import Testing

/// Tests undo if a user changes a field after a job has journaled its old value, and before the job overwrites the
/// field.
@Suite struct JournaledWriteTests {
    private static let fault = "after-journal:1:stop"

    /// Runs the job.
    ///
    /// A user makes an update after the job has journaled a chunk, and before the job writes it. Then runs `check`.
    private func run(_ step: String, user: BSONValue, _ check: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", (0..<10).map { ["_id": .integer($0), "a": 1, "b": 2] })
            try test.job(steps: [step])
            let run = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s", fault: Self.fault) { program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                defer { program.send(SIGCONT) }
                try await test.database.run(["update": "people", "updates": [["q": ["_id": 3], "u": user]]])
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            try await check(test)
        }
    }

    @Test(
        arguments: [
            "unset: {field: a}", "copy: {from: b, to: a, whenPresent: replace}",
            "expression: {field: a, when: {$ne: ['$a', 9]}, value: 9}",
        ])
    func undoGivesBackTheUsersValue(_ step: String) async throws {
        try await run(step, user: ["$set": ["a": "mine"]]) { test in
            #expect(try await test.database.count("people", ["a": "mine"]) == 0, "the job did its work on it too")
            let undone = try await test.undo()
            // The job's first journal entry has an outdated value, because the user changed the field before the write.
            // The job then journaled the document again, and undo restores the user's value from the newer entry.
            #expect(undone.exitCode == 0, "\(undone.errors)")
            #expect(!undone.output.contains("changed since"), "\(undone.output)")
            let expected = (0..<10).map { id -> BSONDocument in
                ["_id": .integer(id), "a": id == 3 ? "mine" : 1, "b": 2]
            }
            #expect(try await test.database.documents("people") == expected)
        }
    }

    @Test func aNullInThePlaceOfNothingIsRestored() async throws {
        try await run(
            "default: {field: c, value: 0, when: missingOrNull}", user: ["$set": ["c": nil]]
        ) { test in
            #expect(try await test.database.count("people", ["c": 0]) == 10)
            let undone = try await test.undo()
            // The job's first journal entry has an outdated value, because the user changed the field before the write.
            // The job then journaled the document again, and undo restores the user's value from the newer entry.
            #expect(undone.exitCode == 0, "\(undone.errors)")
            #expect(!undone.output.contains("changed since"), "\(undone.output)")
            let document = try await test.database.documents("people", ["_id": 3])
            #expect(document == [["_id": 3, "a": 1, "b": 2, "c": nil]])
        }
    }
}
