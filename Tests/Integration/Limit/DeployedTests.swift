import BSON
import Foundation
import TestSupport
import Testing

/// `shipshape job deployed` records that the next schema is active; from then on, that schema decides what syncs.
@Suite struct DeployedTests {
    private func deployed(_ test: BackfillCase, _ job: String, _ flags: String...) async throws -> ProgramRun {
        try await Program.run(
            ["job", "deployed", job, "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)"] + flags)
    }

    @Test func aJobThatTheThresholdStoppedEnds() async throws {
        try await BudgetCase.withTasks { test in
            #expect(try await BudgetCase.run(test, "--allow-unsync", "200").exitCode == 75)
            let run = try await deployed(test, test.path(), "--yes")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.output.contains("not verified (a sync engine's schema cannot be read"), "\(run.output)")
            let control = try await test.state.documents("jobs")[0]["control"]?.document?["deployed"]?.document
            #expect(control?["by"]?.text?.isEmpty == false)
            #expect(control?["at"]?.type == .date)
            #expect(control?["verified"] == false)
            let log = try await test.state.documents("jobs")[0]["log"]?.document?.values.compactMap(\.document)
            #expect(log?.last?["what"]?.text?.contains("next schema is active") == true)

            let last = try await BudgetCase.run(test)
            #expect(last.exitCode == 0, "\(last.errors)")
            #expect(try await BudgetCase.unsyncable(test).count == 200)
        }
    }

    @Test func aRunningJobTakesItOver() async throws {
        try await BudgetCase.withTasks { test in
            let flags = ["--allow-unsync", "200", "SHIPSHAPE_LEDGER=none", "SHIPSHAPE_LEASE_TTL=60s"]
            let run = try await test.backfill(flags: flags, fault: "before-write:2") { program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                #expect(try await deployed(test, "job", "--yes").exitCode == 0)
                program.send(SIGCONT)
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await BudgetCase.unsyncable(test).count == 200)
            // The job reserved 60 documents, those of its first two chunks, because it checked these chunks against its
            // unsync limit before `shipshape job deployed` recorded the deploy of the next schema. After that, the job
            // reserves no documents.
            #expect(try await BudgetCase.recorded(test).count == 60)
        }
    }

    @Test func itCanBeUndone() async throws {
        try await BudgetCase.withTasks { test in
            #expect(try await BudgetCase.run(test, "--allow-unsync", "200").exitCode == 75)
            #expect(try await deployed(test, "job", "--yes").exitCode == 0)
            let revoked = try await deployed(test, "job", "--revoke")
            #expect(revoked.exitCode == 0, "\(revoked.errors)")
            #expect(try await BudgetCase.run(test, "--allow-unsync", "200").exitCode == 75)
            #expect(try await BudgetCase.unsyncable(test).count == 99)
        }
    }

    @Test func offATerminalItAsksForYes() async throws {
        try await BudgetCase.withTasks { test in
            #expect(try await BudgetCase.run(test, "--allow-unsync", "200").exitCode == 75)
            let run = try await deployed(test, "job")
            #expect(run.exitCode == 64, "\(run.errors)")
            #expect(run.errors.contains("nothing was recorded"), "\(run.errors)")
            #expect(try await test.state.count("jobs", ["control.deployed": ["$exists": true]]) == 0)
        }
    }

    @Test func aValidatorIsCompared() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("tasks", count: 5) { ["_id": .integer($0), "priority": .string("\($0)")] }
            for (name, type) in [("active", "string"), ("next", "int")] {
                try test.write(
                    "\(name).json", #"{"$jsonSchema": {"properties": {"priority": {"bsonType": "\#(type)"}}}}"#)
            }
            try test.job(
                on: "tasks", steps: ["convert: {field: priority, to: int}"],
                more: "schema: {active: active.json, next: next.json}")
            #expect(try await test.backfill().exitCode == 0)
            #expect(try await deployed(test, test.path(), "--yes").output.contains("has no validator"))

            func carry(_ type: String) async throws {
                try await test.database.run([
                    "collMod": "tasks",
                    "validator": ["$jsonSchema": ["properties": ["priority": ["bsonType": .string(type)]]]],
                ])
            }
            try await carry("string")
            let refused = try await deployed(test, test.path(), "--yes")
            #expect(refused.exitCode == 65, "\(refused.errors)")
            #expect(refused.errors.contains("is not the next schema of job \"job\""), "\(refused.errors)")
            try await carry("int")
            let verified = try await deployed(test, test.path())
            #expect(verified.exitCode == 0, "\(verified.errors)")
            #expect(verified.output.contains("as the collection's validator says"), "\(verified.output)")
            #expect(try await test.state.count("jobs", ["control.deployed.verified": true]) == 1)
        }
    }

    @Test func aJobWithoutANextSchemaHasNothingToDeploy() async throws {
        try await ThrottleCase.withPeople(on: try await .shared, limits: "") { test in
            #expect(try await test.backfill().exitCode == 0)
            let run = try await deployed(test, "job", "--yes")
            #expect(run.exitCode == 65)
            #expect(run.errors.contains("names no next schema"), "\(run.errors)")
            let unknown = try await deployed(test, "jop", "--yes")
            #expect(unknown.errors.contains("no job \"jop\" was started"), "\(unknown.errors)")
        }
    }
}
