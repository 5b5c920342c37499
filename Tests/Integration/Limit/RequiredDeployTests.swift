import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// A job with `requires: deployed` does not run until an operator states that its next schema is active.
@Suite struct RequiredDeployTests {
    /// Runs a test with twenty tasks that fit the active schema and not the next one.
    private func withTasks(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("tasks", count: 20) { ["_id": .integer($0), "priority": .string("\($0)")] }
            try BudgetCase.writeSchemas(retyping: "priority", in: test)
            try await body(test)
        }
    }

    private func job(_ name: String, requires: Bool = true, in test: BackfillCase) throws {
        try test.job(
            name, on: "tasks", steps: ["convert: {field: priority, to: int}"],
            more: (requires ? "requires: deployed\n" : "") + "schema: {active: active.json, next: next.json}")
    }

    /// Writes a job with one step to a file in a folder of jobs; the job has the name of the file.
    private func job(
        _ file: String, _ step: String, _ more: String, below folder: FilePath, in test: BackfillCase
    ) throws {
        let place = folder.pushing(FilePath(file))
        try FileManager.default.createDirectory(
            atPath: place.removingLastComponent().string, withIntermediateDirectories: true)
        let name = "job: \(place.stem ?? "")\ncollection: \(test.database.name).tasks\n"
        let text = "\(name)steps:\n  - \(step)\n\(more)\n"
        try text.write(toFile: place.string, atomically: true, encoding: .utf8)
    }

    private func converted(_ test: BackfillCase) async throws -> Int {
        try await test.database.count("tasks", ["priority": ["$type": "int"]])
    }

    private func run(_ name: String, _ flags: String..., test: BackfillCase) async throws -> ProgramRun {
        try await test.backfill(name, flags: ["SHIPSHAPE_LEDGER=none"] + flags)
    }

    @Test func thePlannedJobWaitsForTheDeploy() async throws {
        try await withTasks { test in
            let planned = try await Program.run([
                "plan", test.folder.appending("active.json").string, test.folder.appending("next.json").string,
                "--collection", "\(test.database.name).tasks", "--out", test.folder.appending("plan").string,
            ])
            #expect(planned.exitCode == 0, "\(planned.errors)")
            let file = "plan/after-deploy/\(test.database.name).tasks-after-deploy"
            let text = try String(contentsOfFile: test.path(file), encoding: .utf8)
            let schemas =
                /\nschema: {active: ..\/schemas\/[0-9a-f]{16}\/active.json, next: ..\/schemas\/[0-9a-f]{16}\/next.json}/
            #expect(text.contains(schemas), "\(text)")
            #expect(text.contains("\nrequires: deployed\n"))

            let early = try await run(file, test: test)
            #expect(early.exitCode == 75, "\(early.output)\(early.errors)")
            #expect(early.errors.contains("waits for the deploy of its next schema"), "\(early.errors)")
            #expect(try await converted(test) == 0)
            #expect(try await test.state.count("jobs", [:]) == 0)

            let dryRun = try await test.backfill(file, "--dry-run", "SHIPSHAPE_LEDGER=none", yes: false)
            #expect(dryRun.exitCode == 1, "\(dryRun.errors)")
            #expect(
                dryRun.output.contains("would make 20 documents unsyncable under the active schema"),
                "\(dryRun.output)")

            let late = try await run(file, "--deployed", test: test)
            #expect(late.exitCode == 0, "\(late.output)\(late.errors)")
            // The run suggests a `check` without the flag `--active`. With this flag, the check would compare
            // `next.json` with `active.json` again, and report the breaking change between them.
            let next = try #require(late.output.firstMatch(of: #/Next: shipshape check (\S+) --collection/#)?.1)
            #expect(next.hasSuffix("/next.json") && !late.output.contains("--active"), "\(late.output)")
            #expect(try await converted(test) == 20)
            #expect(try await test.state.count("harm", [:]) == 0)
            #expect(try await test.state.count("jobs", ["control.deployed.at": ["$type": "date"]]) == 1)
            // The previous run has recorded that `next.json` is deployed, so the flag `--deployed` is not needed again.
            #expect(try await run(file, test: test).exitCode == 0)
        }
    }

    @Test func theRecordOfTheOtherJobSuffices() async throws {
        try await withTasks { test in
            try test.job(
                "early", on: "tasks", steps: ["default: {field: priority, value: 0}"],
                more: "schema: {active: active.json, next: next.json}")
            try job("late", in: test)
            // The job `early` does not convert the tasks to the next schema, so it reports that they do not fit that
            // schema.
            #expect(try await run("early", test: test).exitCode == 1)
            #expect(try await run("late", test: test).exitCode == 75)
            let deployed = try await Program.run([
                "job", "deployed", "early", "--yes", "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
            ])
            #expect(deployed.exitCode == 0, "\(deployed.errors)")
            let late = try await run("late", test: test)
            #expect(late.exitCode == 0, "\(late.errors)")
            #expect(try await converted(test) == 20)
        }
    }

    /// `backfill` runs the jobs in the folder `after-deploy` last, and only once their next schema is recorded as
    /// deployed.
    @Test func itWaitsWithTheJobsOfTheFolderAfterDeploy() async throws {
        try await withTasks { test in
            let jobs = test.folder.appending("jobs")
            try job(
                "tasks.yml", "default: {field: priority, value: 0}",
                "schema: {active: ../active.json, next: ../next.json}", below: jobs, in: test)
            try job(
                "after-deploy/a-tasks.yml", "convert: {field: priority, to: int}",
                "requires: deployed\nschema: {active: ../../active.json, next: ../../next.json}", below: jobs, in: test)
            let words = [
                "--yes", "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)", "SHIPSHAPE_LEDGER=none",
                "--reviewed",
            ]
            let early = try await Program.run(["backfill", jobs.string] + words)
            #expect(
                early.errors.contains(
                    "Note: after-deploy/a-tasks.yml is not run, because it waits for the deploy of its next schema"),
                "\(early.errors)")
            #expect(early.output.hasPrefix("1 job applied, 1 job waits for the deploy.\n"), "\(early.output)")
            let record = "shipshape job deployed --yes \(jobs.appending("tasks.yml")), and backfill again"
            #expect(early.output.hasSuffix("Next: deploy the schema, then \(record)\n"), "\(early.output)")
            #expect(try await converted(test) == 0)
            let deployed = try await Program.run([
                "job", "deployed", "--yes", jobs.appending("tasks.yml").string, "--uri", test.uri,
                "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
            ])
            #expect(deployed.exitCode == 0, "\(deployed.errors)")
            let late = try await Program.run(["backfill", jobs.string] + words)
            // The job in `tasks.yml` runs again, because its next schema was recorded as deployed after the job's first
            // run. It leaves tasks that do not fit the next schema, but the job after it leaves none.
            #expect(late.exitCode == 0, "\(late.output)\(late.errors)")
            for line in [", again: its next schema was deployed since", "  after-deploy/a-tasks.yml: job "] {
                #expect(late.errors.contains(line), "\(late.errors)")
            }
            #expect(try await converted(test) == 20)
            #expect(try await Program.run(["backfill", jobs.string] + words).output.hasPrefix("Nothing to do"))
        }
    }

    @Test func aJobInTheFolderAfterDeployHasToRequireTheDeploy() async throws {
        try await withTasks { test in
            let jobs = test.folder.appending("jobs")
            try job("after-deploy/tasks.yml", "convert: {field: priority, to: int}", "", below: jobs, in: test)
            let run = try await Program.run(["backfill", jobs.string, "--uri", test.uri])
            #expect(run.exitCode == 65, "\(run.errors)")
            #expect(run.errors.contains("write \"requires: deployed\" into it"), "\(run.errors)")
        }
    }

    /// The job `early` records the deploy of `other.json`, so the job `late`, which requires the deploy of `next.json`,
    /// does not run.
    @Test func theRecordOfAnotherSchemaDoesNotSuffice() async throws {
        try await withTasks { test in
            try test.write(
                "other.json",
                #"{"title": "Task", "bsonType": "object", "properties": {"priority": {"bsonType": "string"}}}"#)
            try test.job(
                "early", on: "tasks", steps: ["default: {field: priority, value: \"\"}"],
                more: "schema: {active: active.json, next: other.json}")
            try job("late", in: test)
            #expect(try await run("early", "--deployed", test: test).exitCode == 0)
            #expect(try await run("late", test: test).exitCode == 75)
            #expect(try await converted(test) == 0)
        }
    }

    @Test func atATerminalItAsks() async throws {
        try await withTasks { test in
            try job("late", in: test)
            let words = [
                "backfill", test.path("late"), "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
                "SHIPSHAPE_LEDGER=none",
            ]
            let no = try await Program.atTerminal(words, askedFor: "[yes/no] ", types: #"no\n"#)
            #expect(no.exitCode == 75, "\(no.output)")
            #expect(try await converted(test) == 0)
            let yes = try await Program.atTerminal(words, askedFor: "[yes/no] ", types: #"yes\nyes\n"#)
            #expect(yes.exitCode == 0, "\(yes.output)")
            #expect(try await converted(test) == 20)
            #expect(try await test.state.count("harm", [:]) == 0)
        }
    }

    @Test func aFolderRunsTheOthersAndLeavesItPending() async throws {
        try await withTasks { test in
            try job("late", in: test)
            try test.job("other", on: "tasks", steps: ["default: {field: seen, value: true}"])
            let early = try await test.backfillFolder("SHIPSHAPE_LEDGER=none")
            #expect(early.exitCode == 0, "\(early.output)\(early.errors)")
            #expect(early.errors.contains("late.yml is not run, because it waits for the deploy"), "\(early.errors)")
            #expect(early.output.contains("1 job applied, 1 job waits for the deploy."), "\(early.output)")
            #expect(early.output.hasSuffix("backfill again with --deployed\n"), "\(early.output)")
            #expect(try await test.applied() == ["other"])
            #expect(try await converted(test) == 0)
            let rows = try await test.folderRows()
            #expect(rows == [["late", "pending, waits for the deploy", "-"], ["other", "applied", "ok"]])

            let late = try await test.backfillFolder("SHIPSHAPE_LEDGER=none", "--deployed")
            #expect(late.exitCode == 0, "\(late.output)\(late.errors)")
            #expect(try await test.applied() == ["late", "other"])
            #expect(try await converted(test) == 20)
        }
    }
}
