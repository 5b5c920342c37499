import BSON
import Glibc
import TestSupport
import Testing

/// Tests runs of a job to which few documents are relevant.
///
/// Such a run follows the changes of its collection, and at its end surveys only the documents that changed.
@Suite struct SparseRunTests {
    private static let documents = 12_000

    /// Runs a test with 12,000 people, every 400th of which has the field `old`, and a job that copies it to `new`.
    private func withPeople(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: Self.documents) {
                $0.isMultiple(of: 400) ? ["_id": .integer($0), "old": .integer($0)] : ["_id": .integer($0)]
            }
            try test.job(steps: ["copy: {from: old, to: new}"])
            try await body(test)
        }
    }

    /// Returns how many documents the server examined for the surveys of a run.
    private func examined(_ test: BackfillCase, during body: () async throws -> Void) async throws -> Int {
        try await test.database.run(["profile": 2])
        try await body()
        try await test.database.run(["profile": 0])
        let surveys: BSONDocument = ["command.comment": "shipshape survey"]
        return try await test.database.documents("system.profile", surveys).reduce(0) {
            $0 + ($1["docsExamined"]?.integer ?? 0)
        }
    }

    private func change(_ test: BackfillCase, _ filter: BSONDocument, _ update: BSONDocument) async throws {
        try await test.database.run([
            "update": "people", "updates": [["q": .object(filter), "u": .object(update), "multi": true]],
        ])
    }

    private func unfinished(_ test: BackfillCase) async throws -> Int {
        try await test.database.count("people", ["$expr": ["$ne": ["$old", "$new"]]])
    }

    @Test func aSparseRunReadsTheCollectionOnce() async throws {
        try await withPeople { test in
            let examined = try await examined(test) {
                let run = try await test.backfill()
                #expect(run.exitCode == 0, "\(run.errors)")
                #expect(run.output.contains("changed 30 of 12,000 documents"), "\(run.output)")
            }
            #expect(examined < Self.documents, "the search for few relevant documents reads 5,000")
            #expect(try await unfinished(test) == 0)
        }
    }

    @Test func withoutTheChangesTheRunSurveysTheWholeCollection() async throws {
        try await withPeople { test in
            let examined = try await examined(test) {
                // The only `getMore` is that of the change stream, because each other read has a single reply.
                var refusal = FailPoint.error(13, "getMore", appName: test.appName)
                refusal.namespace = "\(test.database.name).people"
                try await test.mongod.failing(refusal) {
                    let run = try await test.backfill()
                    #expect(run.exitCode == 0, "\(run.errors)")
                }
            }
            #expect(examined > Self.documents)
            #expect(try await unfinished(test) == 0)
        }
    }

    /// While the runner sleeps after its only chunk, a user inserts a document, changes one that did not need the job,
    /// and takes back the job's change of another.
    @Test func whatChangesDuringTheRunIsDoneInAnotherPass() async throws {
        try await withPeople { test in
            let examined = try await examined(test) {
                let run = try await test.backfill(fault: "after-checkpoint:1:stop") { program in
                    try await waitUntil("the runner sleeps") { try program.isStopped }
                    defer { program.send(SIGCONT) }
                    try await test.database.fill("people", [["_id": -1, "old": "a"], ["_id": -2]])
                    try await change(test, ["_id": 7], ["$set": ["old": "b"]])
                    try await change(test, ["_id": 400], ["$unset": ["new": ""]])
                    try await change(test, ["_id": 800], ["$set": ["other": 1]])
                    try await test.database.run(["delete": "people", "deletes": [["q": ["_id": 1_200], "limit": 1]]])
                }
                #expect(run.exitCode == 0, "\(run.errors)")
            }
            #expect(examined < Self.documents)
            #expect(try await unfinished(test) == 0)
            #expect(try await test.database.count("people", ["new": ["$in": ["a", "b", 400, 800]]]) == 4)
        }
    }

    /// A run that was killed leaves nothing that the next run does not see.
    @Test func afterAKillTheNextRunFindsTheRest() async throws {
        try await withPeople { test in
            #expect(try await test.backfill(fault: "after-write:1:kill").wasKilled)
            try await change(test, ["_id": 400], ["$unset": ["new": ""]])
            let run = try await test.backfill()
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await unfinished(test) == 0)
        }
    }

    /// The report of a sparse run has the counts and the samples that a survey of the whole collection has.
    @Test func theReportHasTheCountsOfAWholeSurvey() async throws {
        try await withPeople { test in
            try await change(test, ["_id": ["$mod": [1_200, 0]]], ["$set": ["new": "other"]])
            let run = try await test.backfill("job", "-o", "json", fault: "after-checkpoint:1:stop") { program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                defer { program.send(SIGCONT) }
                // The first skipped documents, which were noted as samples, are repaired, and another one appears.
                try await change(test, ["_id": ["$mod": [1_200, 0], "$lte": 6_000]], ["$unset": ["new": ""]])
                try await change(test, ["_id": 9], ["$set": ["old": 1, "new": 2]])
            }
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(try skipped(run) == ["target holds another value": 5])
            try await expectSameReport(run, test)
        }
    }

    /// A step may skip a document because of a value that it wrote itself.
    @Test(
        arguments: [
            "unwrap: {field: v, from: a}", "unwrap: {field: 'l.[]', from: a}",
            "wrap: {field: 'l.[]', under: a}, where: {$in: [1, {$ifNull: ['$l', []]}]}",
        ])
    func theFindingsAfterTheWriteAreReported(_ step: String) async throws {
        try await withPeople { test in
            try await change(
                test, ["old": ["$exists": true]],
                ["$set": ["v": ["a": ["b": 1]], "l": [1, ["a": ["b": 2]], ["b": 1]]]])
            try test.job(steps: ["{\(step)}"])
            let run = try await test.backfill("job", "-o", "json")
            #expect(try await test.database.count("people", ["v": ["$exists": true]]) == 30)
            try await expectSameReport(run, test)
        }
    }

    /// Expects the counts of a dry run, which surveys the whole collection, in the report of a run.
    private func expectSameReport(_ run: ProgramRun, _ test: BackfillCase) async throws {
        let plan = try await test.backfill("job", "--dry-run", "-o", "json")
        #expect(try skipped(run) == skipped(plan), "\(run.output)\(run.errors)")
        #expect(run.exitCode == plan.exitCode, "\(run.output)\(plan.output)")
    }

    /// Returns the reasons to skip documents in a report, each with the number of documents; expects samples of each.
    private func skipped(_ run: ProgramRun) throws -> [String: Int] {
        let steps = try JSONValue(run.output)["steps"]?.elements ?? []
        var counts: [String: Int] = [:]
        for entry in steps.flatMap({ $0["left_alone"]?.elements ?? [] }) {
            guard case .string(let reason)? = entry["reason"], case .number(let count)? = entry["documents"] else {
                continue
            }
            counts[reason] = Int(count)
            #expect(entry["sample_ids"]?.elements.isEmpty == false)
        }
        return counts
    }
}
