import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests that the jobs which `plan` writes make documents of the older schema fit the newer one.
@Suite struct PlanTests {
    @Test(arguments: PlanCase.pairs)
    func thePlannedJobsLeaveNoDocumentNewlyFailing(_ name: String) async throws {
        try await PlanCase.with(name) { plan in
            let before = try await plan.check("--fail-on", "new")
            #expect(before.exitCode == 1, "the pair breaks documents: \(before.output)\(before.errors)")
            try await Self.expectThatNoDocumentIsLost(plan)
        }
    }

    /// Plans and runs all jobs, and expects that each document that fitted the older schema fits the newer one.
    private static func expectThatNoDocumentIsLost(_ plan: PlanCase) async throws {
        let broken = try await plan.failing(plan.old)
        let planned = try await plan.plan("--uri", plan.backfill.uri)
        #expect([0, 1].contains(planned.exitCode), "\(planned.output)\(planned.errors)")
        expectSteps(try await plan.run(plan.jobs))
        if plan.name != "validator" {
            for (id, line) in try await plan.failing(plan.old) where broken[id] == nil {
                Issue.record("the job before the deploy breaks \(id): \(line)")
            }
        }
        expectSteps(try await plan.run(plan.lateJobs, "--deployed"))
        for (id, line) in try await plan.failing(plan.new) where broken[id] == nil {
            Issue.record("\(id) fitted before, and does not now: \(line)")
        }
        // The check counts only documents that newly fail. The change itself may be breaking, which no job can fix.
        let after = try await plan.check("--fail-on", "new")
        #expect(after.exitCode == 0, "\(after.output)\(after.errors)")
    }

    /// Expects that each run ended with 0, or with 1, which means findings, such as skipped documents.
    private static func expectSteps(_ runs: [ProgramRun]) {
        for run in runs { #expect(run.exitCode == 0 || run.exitCode == 1, "\(run.output)\(run.errors)") }
    }

    @Test(arguments: PlanCase.pairs)
    func planningTwiceGivesTheSameBytes(_ name: String) async throws {
        try await PlanCase.with(name) { plan in
            _ = try await plan.plan()
            let first = try PlanCase.texts(below: plan.jobs)
            #expect(!first.isEmpty)
            // The commands in a job's header name its file, so the second plan is written to the same place.
            try FileManager.default.removeItem(atPath: plan.jobs.string)
            _ = try await plan.plan()
            #expect(try PlanCase.texts(below: plan.jobs) == first)
        }
    }

    @Test func theJobsOfTheDemoMakeItsDocumentsFit() async throws {
        try await Mongod.shared.withBackfill { backfill in
            let plan = PlanCase(backfill: backfill, name: "demo")
            try plan.copyDemo()
            try await DemoApp(database: plan.database).load()
            try await Self.expectThatNoDocumentIsLost(plan)
            let files = PlanCase.files(in: plan.jobs).map { $0.replacing("\(plan.database.name).", with: "") }
            #expect(files == ["Dog.yml", "Person.yml", "Task.yml"])
            #expect(PlanCase.files(in: plan.lateJobs).count == 2)
        }
    }

    @Test func aValidatorIsSetInTheStatedOrder() async throws {
        try await PlanCase.with("validator") { plan in
            func set(_ version: String, _ action: String) async throws {
                let file = plan.folder.appending(version).appending(plan.database.name).appending("Task/schema.json")
                let validator = try BSONDocument(extendedJSON: String(contentsOfFile: file.string, encoding: .utf8))
                try await plan.database.run([
                    "collMod": "Task", "validator": .object(validator), "validationAction": .string(action),
                ])
            }
            try await set("old", "error")
            let planned = try await plan.plan()
            let text = try #require(try PlanCase.texts(below: plan.jobs).values.first)
            for said in [planned.output, text] {
                let warns = try #require(said.range(of: "validationAction: \"warn\""))
                let refuses = try #require(said.range(of: "validationAction: \"error\""))
                #expect(warns.lowerBound < refuses.lowerBound)
            }
            try await set("new", "warn")
            Self.expectSteps(try await plan.run(plan.jobs))
            try await set("new", "error")
            for document in try await plan.database.documents("Task") {
                try await plan.database.run([
                    "update": "Task",
                    "updates": [["q": ["_id": document["_id"] ?? .null], "u": ["$set": ["status": "seen"]]]],
                ])
            }
            #expect(try await plan.database.count("Task", ["status": "seen"]) == 4)
        }
    }
}
