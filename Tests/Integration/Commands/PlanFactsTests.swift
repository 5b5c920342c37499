import BSON
import TestSupport
import Testing

/// Tests that a dry run shows the values that a run would write, and that an error names the line of its step.
@Suite struct PlanFactsTests {
    /// If a job was already started, a dry run shows the time of that start as the value of `$now` and `$$NOW`.
    @Test(arguments: [
        "default: {field: at, value: $now}", "expression: {field: at, value: $$NOW, when: {$not: ['$at']}}",
    ])
    func aDryRunOfAStartedJobHasTheJobsTime(_ step: String) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 40)
            try test.job(steps: [step], limits: "{chunk: {documents: 10}}")
            #expect(try await test.backfill(fault: "after-checkpoint:1").wasKilled)
            try await test.waitForLeaseEnd()
            let started = try #require(try await test.state.documents("jobs").first?["created"])
            let dry = try await test.backfill("job", "--dry-run", "--show-values", "--output", "json")
            #expect(dry.exitCode == 0, "\(dry.errors)")
            let samples = try test.report(dry)["samples"]?.document?.values.compactMap(\.document) ?? []
            #expect(!samples.isEmpty)
            #expect(samples.allSatisfy { $0["after"]?.document?["at"] == started }, "\(dry.output)")
        }
    }

    @Test(
        arguments: [
            ("expression: {field: a, value: {$mod: ['$b', '$c']}}", "mod by zero"),
            ("expression: {field: a, value: {$divide: ['$b', '$c']}}", "divide by zero"),
        ]) func aDocumentForWhichTheServerCannotComputeAnExpressionIsSkipped(_ step: String, _ error: String)
        async throws
    {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 50) { ["_id": .integer($0), "b": 1, "c": $0 == 37 ? 0 : 1] }
            try test.job(steps: [#"default: {field: email, value: ""}"#, step])
            let dry = try await test.backfill("job", "--dry-run", "--output", "json")
            #expect(dry.exitCode == 1, "\(dry.errors)")
            #expect(try await !test.hasState())
            for _ in 1...2 {
                let run = try await test.backfill("job", "--output", "json")
                #expect(run.exitCode == 1, "\(run.errors)")
                #expect(try test.report(run)["failures"] == test.report(dry)["failures"], "\(run.output)\(dry.output)")
                let left = try await test.database.documents("people").filter { $0["a"] == nil }
                #expect(left == [["_id": 37, "b": 1, "c": 0]])
            }
        }
    }

    @Test func aRunThatFindsOnlySuchADocumentNamesIt() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", [["_id": 1, "a": "x"]])
            try test.job(steps: ["expression: {field: c, value: {$add: [$a, 1]}}"])
            for flags in [["--dry-run"], [], []] {
                let run = try await test.backfill("job", flags: flags)
                #expect(run.exitCode == 1, "\(run.output)\(run.errors)")
            }
        }
    }

    /// An expression that fails for more than a hundred documents is an error of the job.
    @Test(
        arguments: [
            ("expression: {field: a, value: {$mod: ['$b', '$c']}}", "mod by zero"),
            ("expression: {field: a, value: {$divide: ['$b', '$c']}}", "divide by zero"),
        ]) func anExpressionThatTheServerCannotComputeIsReportedWithItsLine(_ step: String, _ error: String)
        async throws
    {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 300) { ["_id": .integer($0), "b": 1, "c": $0 > 37 ? 0 : 1] }
            try test.job(steps: [#"default: {field: email, value: ""}"#, step])
            let run = try await test.backfill()
            #expect(run.exitCode == 65, "\(run.errors)")
            #expect(run.errors.contains("job.yml:5:5: expression for a: the server cannot compute it"), "\(run.errors)")
            #expect(run.errors.contains(error), "\(run.errors)")
            // The document is named, and the condition that leaves it alone.
            #expect(
                run.errors.contains(", for more than 100 documents, such as for _id 38; give the step a \"when\""),
                "\(run.errors)")
            #expect(try await !test.hasState())
        }
    }
}
