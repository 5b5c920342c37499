import BSON
import Foundation
import Jobs
import TestSupport
import Testing

/// Tests commands on jobs that have already run.
@Suite struct DoneJobTests {
    private func withDone(_ more: String = "", _ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 20)
            try test.job(steps: [#"default: {field: email, value: ""}"#], more: more)
            let run = try await test.backfillFolder()
            try #require(run.exitCode == 0, "\(run.errors)")
            try await body(test)
        }
    }

    @Test func aDoneJobWhoseCommentsChangedIsNotAChangedJob() async throws {
        try await withDone { test in
            let text = try String(contentsOfFile: test.path(), encoding: .utf8)
            try test.write("job.yml", "# Reviewed.\n" + text)
            #expect(try await test.backfill("job", "--dry-run", yes: false).exitCode == 0)
            #expect(try await test.backfill("job").exitCode == 0)
            #expect(try await test.folderRows() == [["job", "applied", "ok"]])
            #expect(try await test.backfillFolder().exitCode == 0)
            // The file now has a changed step. The program refuses it, because a job with this name was already applied
            // with other steps.
            try test.write("job.yml", text.replacing(#"value: """#, with: #"value: "x""#))
            let changed = try await test.backfill("job", "--dry-run", yes: false)
            #expect(changed.exitCode == 65)
        }
    }

    @Test func aFolderSaysThatAJobWasUndoneAndDoesNotRunItAgain() async throws {
        try await withDone { test in
            let undo = try await Program.run([
                "undo", "job", "--yes", "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
            ])
            try #require(undo.exitCode == 0, "\(undo.errors)")
            #expect(try await test.folderRows().map { $0[1] } == ["applied, then undone"])
            let run = try await test.backfillFolder()
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.errors.contains("Note: job.yml: job \"job\" was undone at "), "\(run.errors)")
            #expect(try await test.database.count("people", ["email": ["$exists": true]]) == 0)
        }
    }

    @Test func aPendingJobThatWasUndoneIsRefusedBeforeAnythingRuns() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 20)
            try test.job("b", steps: [#"default: {field: email, value: ""}"#])
            try await test.backfill("b")
            let undo = try await Program.run([
                "undo", "b", "--yes", "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
            ])
            try #require(undo.exitCode == 0, "\(undo.errors)")
            try test.job("a", steps: [#"default: {field: nick, value: ""}"#])
            let run = try await test.backfillFolder()
            #expect(run.exitCode == 65)
            #expect(run.errors.contains("b.yml: job \"b\" was undone at "), "\(run.errors)")
            #expect(run.errors.contains("nothing was run"))
            #expect(try await test.applied() == [])
        }
    }

    @Test func aFolderRunsAJobOnceMoreAfterItsDeploy() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 20)
            try test.write(
                "next.json",
                #"{"bsonType": "object", "required": ["_id"], "properties": {"_id": {"bsonType": "int"}, "email": {"bsonType": "string"}}}"#
            )
            try test.job(steps: [#"default: {field: email, value: ""}"#], more: "schema: {next: next.json}")
            try #require(try await test.backfillFolder().exitCode == 0)
            // A client with the old schema inserts a document without `email`. Then the operator reports with
            // `job deployed` that the job's schema `next` is deployed.
            try await test.database.fill("people", [["_id": 1_000]])
            let deployed = try await Program.run([
                "job", "deployed", "job", "--yes", "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
            ])
            try #require(deployed.exitCode == 0, "\(deployed.errors)")
            #expect(try await test.folderRows().map { $0[1] } == ["pending, once more after the deploy"])
            let again = try await test.backfillFolder()
            #expect(again.exitCode == 0, "\(again.errors)")
            #expect(try await test.database.count("people", ["email": ["$exists": false]]) == 0)
            let nothing = try await test.backfillFolder()
            #expect(nothing.output == "Nothing to do: every job was applied.\n")
        }
    }
}
