import BSON
import Glibc
import Mongo
import TestSupport
import Testing

@testable import Backfill
@testable import JobState
@testable import Jobs

/// Tests `job cleanup`, by which the operator drops the state of a finished job.
@Suite struct CleanupTests {
    private func withPeople(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 100)
            try test.job(steps: [#"default: {field: email, value: ""}"#], limits: "{chunk: {documents: 10}}")
            try await body(test)
        }
    }

    private func journalCount(_ test: BackfillCase) async throws -> Int { try await test.state.count("journal") }

    @Test func itDropsTheJournalAndKeepsTheJobsRecord() async throws {
        try await withPeople { test in
            #expect(try await test.backfill().exitCode == 0)
            #expect(try await journalCount(test) > 0)
            let run = try await test.steer("cleanup", "job", "--yes")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.output.contains("the job can no longer be undone"))
            #expect(try await journalCount(test) == 0)
            #expect(try await test.status()["state"] == "done")
            #expect(try await test.log() == ["cleaned up"])
            let again = try await test.steer("cleanup", "job", "--yes")
            #expect(again.output == "job job has nothing to drop\n")
        }
    }

    /// A job that runs again after its cleanup keeps a journal of the later run.
    ///
    /// With this journal, `undo` undoes only the later run.
    @Test func aRunAfterTheCleanupCanBeUndone() async throws {
        try await withPeople { test in
            #expect(try await test.backfill().exitCode == 0)
            #expect(try await test.steer("cleanup", "job", "--yes").exitCode == 0)
            let refused = try await test.undo()
            #expect(refused.exitCode == 65)
            #expect(refused.errors.contains("its journal was dropped"), "\(refused.errors)")
            let late: [BSONDocument] = (100..<105).map { ["_id": .integer($0)] }
            try await test.database.fill("people", late)
            #expect(try await test.backfill().exitCode == 0)
            let undo = try await test.undo()
            #expect(undo.exitCode == 1, "\(undo.errors)")
            #expect(undo.output.contains("the journal is incomplete: 10 of 11 chunks are missing"), "\(undo.output)")
            #expect(try await test.database.documents("people", ["_id": ["$gte": 100]]) == late)
            #expect(try await test.database.count("people", ["email": ""]) == 100)
        }
    }

    /// A cleanup removes the job's markers from the documents, so the job cannot run again.
    ///
    /// The job recognizes the documents that it has done by these markers.
    @Test func itTakesTheMarkersOutOfTheDocumentsAndTheJobCannotRunAgain() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill(
                "people", (0..<50).map { ["_id": .integer($0), "age": .integer($0), "o": ["x": 1]] })
            try test.job(
                steps: ["expression: {field: age, value: {$add: ['$age', 1]}, when: true, once: ageWasRaised}"],
                limits: "{chunk: {documents: 10}}")
            #expect(try await test.backfill().exitCode == 0)
            let marked: BSONDocument = ["ageWasRaised": true, "age": ["$exists": true]]
            #expect(try await test.database.count("people", marked) == 50)
            let plan = try await test.steer("cleanup", "job")
            #expect(plan.errors.contains("the field \"ageWasRaised\" in the documents"), "\(plan.errors)")
            let run = try await test.steer("cleanup", "job", "--yes")
            #expect(run.exitCode == 0, "\(run.errors)")
            let after = try await test.database.documents("people")
            #expect(after == (0..<50).map { ["_id": .integer($0), "age": .integer($0 + 1), "o": ["x": 1]] })
            #expect(try await test.state.documents("jobs").map { $0["_id"] } == ["job"])
            let again = try await test.backfill()
            #expect(again.exitCode == 65)
            #expect(again.errors.contains("cannot run again: it was cleaned up"), "\(again.errors)")
            #expect(try await test.database.documents("people") == after)
        }
    }

    private func withCounter(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 50) { ["_id": .integer($0), "age": .integer($0)] }
            try test.job(
                steps: ["expression: {field: age, value: {$add: ['$age', 1]}, when: true, once: raised}"],
                limits: "{chunk: {documents: 10}}")
            try await body(test)
        }
    }

    @Test func aMarkerThatDocumentsHaveAlreadyIsRefused() async throws {
        try await withCounter { test in
            try await test.database.set("people", 7, ["raised": "by hand"])
            let people = try await test.database.documents("people")
            let run = try await test.backfill()
            #expect(run.exitCode == 1)
            #expect(run.errors.contains("job.yml:4:5: expression for age"), "\(run.errors)")
            #expect(run.errors.contains(#"a field "raised" already, such as { "_id" : 7 }"#), "\(run.errors)")
            #expect(try await test.database.documents("people") == people)
            #expect(try await !test.hasState())
            // Once the job has begun, a marker in a document may come from the job itself, so the next run is not
            // refused.
            try await test.database.run([
                "update": "people", "updates": [["q": ["_id": 7], "u": ["$unset": ["raised": ""]]]],
            ])
            #expect(try await test.backfill(fault: "after-checkpoint:2").wasKilled)
            try await test.waitForLeaseEnd()
            #expect(try await test.backfill().exitCode == 0)
        }
    }

    @Test func onlyWhatTheJobWroteIsTakenAway() async throws {
        try await withCounter { test in
            #expect(try await test.backfill().exitCode == 0)
            try await test.database.set("people", 7, ["raised": "mine"])
            let run = try await test.steer("cleanup", "job", "--yes")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.database.documents("people", ["raised": ["$exists": true]]).map { $0["_id"] } == [7])
        }
    }

    /// If a marker cannot be removed from a document, the cleanup reports the document and drops none of the job's
    /// state.
    @Test func aDocumentThatCannotBeWrittenIsReportedAndNothingElseIsDropped() async throws {
        try await withCounter { test in
            #expect(try await test.backfill().exitCode == 0)
            let journal = try await journalCount(test)
            try await test.database.run([
                "collMod": "people", "validator": ["$or": [["_id": ["$ne": 7]], ["raised": true]]],
            ])
            let run = try await test.steer("cleanup", "job", "--yes")
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(run.errors.contains("out of 1 documents (refused by the collection's validator)"), "\(run.errors)")
            #expect(try await test.state.count("failed") == 0)
            #expect(try await journalCount(test) == journal)
            #expect(try await test.database.count("people", ["raised": true]) == 1)
            try await test.database.run(["collMod": "people", "validator": [:]])
            let again = try await test.steer("cleanup", "job", "--yes")
            #expect(again.exitCode == 0, "\(again.errors)")
            #expect(try await test.database.count("people", ["raised": true]) == 0)
            #expect(try await journalCount(test) == 0)
            #expect(try await test.state.documents("jobs").map { $0["_id"] } == ["job"])
        }
    }

    @Test func aSignalStopsItAndTheNextContinues() async throws {
        try await withCounter { test in
            #expect(try await test.backfill().exitCode == 0)
            let journal = try await journalCount(test)
            var point = FailPoint("update", appName: test.appName)
            point.blockTime = .milliseconds(300)
            let stopped = try await test.mongod.failing(point) {
                try await Program.run(
                    [
                        "job", "cleanup", "job", "--yes", "--uri", test.uri,
                        "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
                    ]
                ) { program in
                    try await waitUntil("the removal has begun") {
                        try await test.state.count("ranges", ["_id.job": "job.cleanup", "state": "running"]) > 0
                    }
                    program.send(SIGTERM)
                }
            }
            #expect(stopped.exitCode == 75, "\(stopped.status): \(stopped.errors)")
            #expect(try await journalCount(test) == journal)
            let again = try await test.steer("cleanup", "job", "--yes")
            #expect(again.exitCode == 0, "\(again.errors)")
            #expect(try await test.database.count("people", ["raised": ["$exists": true]]) == 0)
            #expect(try await journalCount(test) == 0)
        }
    }

    /// A run begins after a cleanup was planned and before it is done, so the cleanup is refused and drops nothing.
    @Test func aJobThatIsNotDoneAnyMoreIsNotCleanedUp() async throws {
        try await withPeople { test in
            #expect(try await test.backfill().exitCode == 0)
            let journal = try await journalCount(test)
            let registry = JobRegistry(test.state.name, on: test.state.pool)
            let plan = try await test.state.pool.run { _ in try registry.planCleanup(of: "job") }
            try await test.state.run([
                "update": "ranges", "updates": [["q": ["_id.job": "job"], "u": ["$set": ["state": "stopped"]]]],
            ])
            await #expect(throws: RunError.self) {
                try await test.state.pool.run { _ in try registry.cleanUp(plan) }
            }
            #expect(try await journalCount(test) == journal)
            let record = try await test.state.documents("jobs").first
            #expect(record?["cleaned"] == nil)
        }
    }

    @Test func offATerminalItNeedsYes() async throws {
        try await withPeople { test in
            try await test.backfill()
            let journal = try await journalCount(test)
            let run = try await test.steer("cleanup", "job")
            #expect(run.exitCode == 64)
            #expect(run.errors.contains("cleanup of job job drops:\n  its journal"))
            #expect(run.errors.contains("without a terminal, job cleanup needs --yes"))
            #expect(try await journalCount(test) == journal)
        }
    }

    @Test func aJobThatIsNotDoneIsRefused() async throws {
        try await withPeople { test in
            #expect(try await test.stoppedHalfway().exitCode == 75)
            let journal = try await journalCount(test)
            let run = try await test.steer("cleanup", "job", "--yes")
            #expect(run.exitCode == 64)
            #expect(run.errors.contains("job \"job\" is not done"))
            #expect(try await journalCount(test) == journal)
        }
    }

    @Test func onlyTheJobsOwnRecordsAreDroppedAndPendingReservationsStay() async throws {
        try await withPeople { test in
            try await test.backfill()
            let mine: BSONDocument = ["job": "job", "ns": "a.b", "id": 1]
            let seen: BSONDocument = ["job": "job", "ns": "a.b", "id": 2]
            let other: BSONDocument = ["job": "other", "ns": "a.b", "id": 2]
            try await test.state.fill(
                "harm",
                [
                    ["_id": .object(mine), "seen": false], ["_id": .object(seen), "seen": true],
                    ["_id": .object(other), "seen": true],
                ])
            try await test.state.fill(
                "failed",
                [["_id": ["job": "job", "id": 1], "code": 121], ["_id": ["job": "other", "id": 1], "code": 121]])
            let run = try await test.steer("cleanup", test.path(), "--yes")
            #expect(run.output.contains("kept: the records of 1 document made unsyncable"))
            #expect(try await test.state.documents("harm").map { $0["_id"] } == [.object(mine), .object(other)])
            #expect(try await test.state.documents("failed").map { $0["_id"]?.document?["job"] } == ["other"])
        }
    }
}
