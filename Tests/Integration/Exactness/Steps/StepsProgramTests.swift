import BSON
import Mongo
import Proving
import TestSupport
import Testing

@testable import JobState
@testable import Jobs
@testable import Steps

/// Tests steps by running the program.
///
/// The dry run and the real run must report the same counts for each step, and a second run must change nothing.
@Suite struct StepsProgramTests {
    static let forms = [
        "default: {field: v, value: 1, when: missingOrNull}", "copy: {from: v, to: w, whenPresent: replace}",
        "rename: {from: v, to: w}", "convert: {field: 'v.[]', to: string, onLoss: allow}",
        "combine: {into: t, template: '{v}-{name}'}", "split: {field: v, by: '-', into: [x, y, w]}", "wrap: {field: v}",
        "unwrap: {field: v}", "dedupe: {field: v}", "drop-nulls: {field: v}", "unset: {field: o.a}",
        "map: {field: v, values: {1: 2, 2: 36}, once: _done}", "expression: {field: w, value: {$type: $v}}",
    ]

    @Test(arguments: forms) func theDryRunCountsWhatTheRunDoes(_ form: String) async throws {
        try await Mongod.shared.withBackfill { test in
            // The test sends the command itself, because the driver's own insert refuses names that are empty or
            // contain a dot.
            try await test.database.run([
                "insert": "people", "documents": .array(of: StepCases.documents.map { .object($0) }),
            ])
            try test.job(steps: [form])
            let reported = try test.report(try await test.backfill("job", "--dry-run", "--output", "json", yes: false))
            let done = try test.report(try await test.backfill("job", "--output", "json"))
            #expect(reported["steps"] == done["steps"])
            // A rename changes each document in two passes, so the dry run and the run have different counts.
            if !form.hasPrefix("rename") { #expect(reported["changed"] == done["changed"]) }
            let again = try test.report(try await test.backfill("job", "--output", "json"))
            #expect(again["changed"] == 0)
            #expect(reported["changed"] != 0)
        }
    }

    /// A run's updates must have the same result as an aggregation with the stages of the job's steps.
    ///
    /// The updates leave out some checks that these stages contain.
    @Test(
        arguments: StepCases.forms.filter { !$0.contains("$now") } + [
            "expression: {field: v, value: {k: $v}, once: _done}", "expression: {field: v, value: {}, once: _done}",
        ])
    func theRunMakesWhatTheStageMakes(_ form: String) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.run([
                "insert": "people", "documents": .array(of: StepCases.documents.map { .object($0) }),
            ])
            try test.job(steps: [form])
            let job = try CompiledJob(try JobFile.read(at: test.path()), active: nil, next: nil)
            let pipeline = job.steps.filter { $0.client == nil }.map(\.stage) + [["$sort": ["_id": 1]]]
            let people = test.database.namespace("people")
            let wanted = try await test.database.pool.run { try $0.collection(people).aggregate(pipeline).documents() }
            let run = try test.report(try await test.backfill("job", "--output", "json"))
            #expect(run["changed"] != 0)
            let found = try await test.database.documents("people")
            #expect(found.count == wanted.count)
            for (document, wanted) in zip(found, wanted) { #expect(document == wanted) }
        }
    }

    @Test func nowIsTheStartOfTheJobInEveryRunOfIt() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 10)
            try test.job(
                steps: [
                    "default: {field: at, value: $now}", "expression: {field: then, value: $$NOW}",
                    "default: {field: text, value: {$literal: $now}}",
                ])
            #expect(try await test.backfill("job", "--dry-run", yes: false).exitCode == 0)
            #expect(try await test.backfill("job").exitCode == 0)
            try await test.database.fill("people", [["_id": 11]])
            #expect(try await test.backfill("job").exitCode == 0)
            let created = try #require(try await test.state.documents("jobs").first?["created"])
            let people = try await test.database.documents("people")
            #expect(people.count == 11)
            #expect(people.allSatisfy { $0["at"] == created && $0["then"] == created && $0["text"] == "$now" })
        }
    }

    /// A step that uses its own earlier result would change the document again in every run.
    ///
    /// Such a step must name a field with `once`, which marks the documents that it has changed.
    @Test func aStepThatDoesNotEndIsRefusedUnlessItNamesAMarker() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", [["_id": 1, "n": 1]])
            try test.job(steps: ["expression: {field: n, value: {$add: [$n, 1]}}"])
            let run = try await test.backfill("job")
            #expect(run.exitCode == 65)
            #expect(run.errors.contains("such as \"once: _done\""))
            try test.job("other", steps: ["expression: {field: n, value: {$add: [$n, 1]}, once: _done}"])
            for _ in 0..<2 { #expect(try await test.backfill("other").exitCode == 0) }
            #expect(try await test.database.documents("people") == [["_id": 1, "n": 2, "_done": true]])
        }
    }

    @Test func withOnErrorFailNothingIsWritten() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", [["_id": 1, "n": "1"], ["_id": 2, "n": "x"]])
            try test.job(steps: ["convert: {field: n, to: int, onError: fail}"])
            let run = try await test.backfill("job")
            #expect(run.exitCode == 65)
            #expect(run.errors.contains("such as _id 2: fix it"))
            #expect(try await test.database.documents("people").first?["n"] == "1")
        }
    }
}
