import BSON
import TestSupport
import Testing

/// Tests which documents a check counts as newly failing: they synced before a job changed them, and now fit neither
/// the active nor the new schema.
@Suite struct CheckJobsTests {
    private typealias Case = CheckVerdictCase
    private static let steps = ["convert: {field: a, to: int}", "convert: {field: b, to: int}"]

    /// Runs a test with three documents whose fields are strings in v1 and must be ints in v2.
    ///
    /// Document 1 has a string that is not a number, and document 3 already fails v1.
    private func withTasks(_ body: (CheckVerdictCase) async throws -> Void) async throws {
        try await Case.with { test in
            try await test.database.fill(
                "Task",
                [["_id": 1, "a": "1", "b": "x"], ["_id": 2, "a": "1", "b": "2"], ["_id": 3, "a": "1", "b": ["x"]]])
            try test.write("v1", ["Task": Case.schema("Task", ["a": "string", "b": "string"])])
            try test.write("v2", ["Task": Case.schema("Task", ["a": "int", "b": "int"])])
            try await body(test)
        }
    }

    private func expectOneNewlyFailing(
        _ test: CheckVerdictCase, already: Int = 1, sourceLocation: SourceLocation = #_sourceLocation
    )
        async throws
    {
        let run = try await test.check("--fail-on", "new")
        #expect(run.exitCode == 1, "\(run.output)", sourceLocation: sourceLocation)
        let row = run.output.split(separator: "\n").first { $0.hasPrefix("  \(test.database.name).Task ") }
        #expect(
            row?.split(separator: " ").dropFirst() == ["1", "\(already)", "1"], "\(run.output)",
            sourceLocation: sourceLocation)
        #expect(
            run.output.contains(
                "1 document of \(test.database.name).Task synced until a job changed it. It now fits neither"),
            "\(run.output)", sourceLocation: sourceLocation)
        #expect(
            run.output.contains("1 document would stop syncing"),
            sourceLocation: sourceLocation)
        let verdict = try await test.verdict()
        #expect(verdict["newly_failing"] == 1, sourceLocation: sourceLocation)
        #expect(
            verdict["parts"]?.document?["documents"]?.document?["converted_by_jobs"] == 1,
            sourceLocation: sourceLocation)
    }

    /// The job changes `{a: "1", b: "x"}` to `{a: 1, b: "x"}`, which fits neither the schema v1 nor the schema v2.
    @Test(arguments: ["v1", "v2"])
    func documentsConvertedBeforeTheDeployAreNewlyFailing(active: String) async throws {
        try await withTasks { test in
            // A job that `plan` writes for the time after the deploy of v2 names v2 as the active schema.
            let job = try await test.backfill("convert", on: "Task", steps: Self.steps, active: active)
            #expect(job.exitCode == 1, "\(job.errors)")
            try await expectOneNewlyFailing(test)
            // After the update, the document fits v2, so the check no longer counts it as newly failing.
            try await test.database.run(["update": "Task", "updates": [["q": ["_id": 1], "u": ["$set": ["b": 5]]]]])
            let repaired = try await test.check("--fail-on", "new")
            #expect(repaired.exitCode == 0, "\(repaired.output)")
        }
    }

    @Test func severalJobsAreSearched() async throws {
        try await withTasks { test in
            for (index, step) in Self.steps.enumerated() {
                try await test.backfill("part-\(index)", on: "Task", steps: [step], active: "v2")
            }
            try await expectOneNewlyFailing(test)
        }
    }

    /// If the job keeps no journal, the check uses the job's reservations to find the documents that the job made
    /// unsyncable.
    @Test func theReservationsShowItWithoutAJournal() async throws {
        try await withTasks { test in
            // Document 3 failed v1 before the job, but also gets a reservation. Without a journal, the check would
            // count it as newly failing, so the test deletes it.
            try await test.database.run(["delete": "Task", "deletes": [["q": ["_id": 3], "limit": 1]]])
            try await test.backfill("convert", on: "Task", steps: Self.steps, active: "v1", "--no-journal")
            try await expectOneNewlyFailing(test, already: 0)
            #expect(try await test.check().output.contains(#"job "convert" has no journal"#))
        }
    }

    @Test func aStateDatabaseThatCannotBeReadIsSaid() async throws {
        try await Mongod.withAuthentication.withBackfill { test in
            try await test.database.fill("Task", [["_id": 1, "a": true]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            for (version, type) in [("v1", "string"), ("v2", "int")] {
                try folder.write(
                    CheckVerdictCase.schema("Task", ["a": type]), to: "\(version)/\(test.database.name).Task.json")
            }
            let uri = try await test.mongod.addUser(
                "reader-\(test.database.name)", roles: [["role": "read", "db": .string(test.database.name)]])
            let run = try await Program.run(
                [
                    "check", "v2", "--active", "v1", "--uri", uri, "SHIPSHAPE_LEDGER=none",
                    "SHIPSHAPE_STATE_DATABASE=\(test.state.name)", "--fail-on", "new",
                ], in: folder.path)
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(
                run.output.contains("the user is not allowed to read the state database \"\(test.state.name)\": "),
                "\(run.output)")
            #expect(run.output.contains("  documents  unknown "))
        }
    }

    /// A job that was stopped before it reached all its documents is not done, so the check names it.
    @Test func aJobThatIsNotDoneIsNamed() async throws {
        try await withTasks { test in
            try await test.database.fill("Task", count: 200) { ["_id": .integer($0 + 10), "a": "7", "b": "8"] }
            let stopped = try await test.backfill(
                "convert", on: "Task", steps: Self.steps, active: "v2", "--max-runtime", "1ms")
            #expect(stopped.exitCode == 75, "\(stopped.errors)")
            let run = try await test.check()
            #expect(
                run.output.contains(#"Job "convert" on \#(test.database.name).Task is not done (stopped)"#),
                "\(run.output)")
        }
    }
}
