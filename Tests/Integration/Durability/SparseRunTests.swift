import BSON
import Glibc
import TestSupport
import Testing

/// Tests runs of a job whose steps find something in only few documents of the collection.
///
/// Such a run follows the changes of the collection. At its end, it therefore reads only the changed documents, to
/// count those that still need the job.
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

    /// Returns how many documents the server examined while a run counted the documents that need the job.
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

    /// While the runner sleeps after its only chunk, a user inserts, changes and deletes documents.
    ///
    /// One change makes a document need the job that did not need it before, and another one undoes a change of the
    /// job.
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

    /// If a run is killed, the next run finds all documents that still need the job, also those that a user changed
    /// since.
    @Test func afterAKillTheNextRunFindsTheRest() async throws {
        try await withPeople { test in
            #expect(try await test.backfill(fault: "after-write:1:kill").wasKilled)
            try await change(test, ["_id": 400], ["$unset": ["new": ""]])
            let run = try await test.backfill()
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await unfinished(test) == 0)
        }
    }

    /// A run that reads only the changed documents at its end reports the counts of the whole collection.
    ///
    /// The report also has samples of the skipped documents.
    @Test func theReportHasTheCountsOfAWholeSurvey() async throws {
        try await withPeople { test in
            try await change(test, ["_id": ["$mod": [1_200, 0]]], ["$set": ["new": "other"]])
            let run = try await test.backfill("job", "-o", "json", fault: "after-checkpoint:1:stop") { program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                defer { program.send(SIGCONT) }
                // A user repairs the first skipped documents, which the run has noted as samples, and changes another
                // document so that the job skips it.
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

    /// Expects that the report of a run has the same counts as a dry run, which reads the whole collection.
    private func expectSameReport(_ run: ProgramRun, _ test: BackfillCase) async throws {
        let plan = try await test.backfill("job", "--dry-run", "-o", "json")
        #expect(try skipped(run) == skipped(plan), "\(run.output)\(run.errors)")
        #expect(run.exitCode == plan.exitCode, "\(run.output)\(plan.output)")
    }

    /// Returns the number of documents that a run skipped for each reason, and expects that the report has samples of
    /// them.
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
