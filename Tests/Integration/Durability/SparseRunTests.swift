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
                // One skipped document is repaired, and another one appears.
                try await change(test, ["_id": 1_200], ["$unset": ["new": ""]])
                try await change(test, ["_id": 9], ["$set": ["old": 1, "new": 2]])
            }
            #expect(run.exitCode == 1, "\(run.errors)")
            let plan = try await test.backfill("job", "--dry-run", "-o", "json")
            let (found, expected) = (try skipped(run), try skipped(plan))
            #expect(expected.map(\.0) == ["target holds another value"])
            #expect(expected.first?.1 == 10)
            #expect(found.map(\.0) == expected.map(\.0))
            #expect(found.map(\.1) == expected.map(\.1))
        }
    }

    /// Returns the reasons to skip documents in a report, each with the number of documents.
    private func skipped(_ run: ProgramRun) throws -> [(String, Int)] {
        let steps = try JSONValue(run.output)["steps"]?.elements ?? []
        return steps.flatMap { $0["left_alone"]?.elements ?? [] }.compactMap { entry in
            guard case .string(let reason)? = entry["reason"], case .number(let count)? = entry["documents"] else {
                return nil
            }
            return (reason, Int(count))
        }
    }
}
