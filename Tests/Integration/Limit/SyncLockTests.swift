import BSON
import TestSupport
import Testing

/// A run writes no document that the sync translator has locked.
///
/// With `--unset-locks`, it removes the locks that stay the same during `lock-wait`, and then writes the documents.
@Suite struct SyncLockTests {
    private func withPeople(
        on mongod: Mongod? = nil, _ body: (BackfillCase) async throws -> Void
    ) async throws {
        let mongod = if let mongod { mongod } else { try await Mongod.shared }
        try await mongod.withBackfill { test in
            try await test.database.fill("people", count: 100) { number in
                switch number {
                case 10: ["_id": 10, "_id__baas_transaction": "t1"]
                case 20: ["_id": 20, "_id_realm_transaction": ["id": 2]]
                default: ["_id": .integer(number)]
                }
            }
            try test.job(steps: [#"default: {field: email, value: ""}"#])
            try await body(test)
        }
    }

    /// Waits until the run has counted the locked documents again, at least `times` times.
    ///
    /// The profiler of the database must be on.
    private func waitForCounts(_ times: Int, _ test: BackfillCase) async throws {
        func counts() async throws -> Int {
            try await test.database.count(
                "system.profile", ["command.aggregate": "people", "command.pipeline.1.$group.n.$sum": 1])
        }
        let before = try await counts()
        try await waitUntil("the locks are counted again and again") { try await counts() >= before + times }
    }

    private func unlock(_ test: BackfillCase, writeConcern: BSONValue) async throws {
        let unlock: BSONValue = ["$unset": ["_id__baas_transaction": 1, "_id_realm_transaction": 1]]
        try await test.database.run([
            "update": "people", "updates": [["q": [:], "u": unlock, "multi": true]], "writeConcern": writeConcern,
        ])
    }

    private func unwritten(_ test: BackfillCase) async throws -> [Int] {
        try await test.database.documents("people", ["email": ["$exists": false]]).compactMap { $0["_id"]?.integer }
    }

    @Test func theyArePassedOverAndListed() async throws {
        try await withPeople { test in
            let dryRun = try await test.backfill("job", "--dry-run")
            #expect(dryRun.output.contains("would change 98 of 100 documents"), "\(dryRun.output)")
            #expect(dryRun.output.contains("skipped, locked by the sync translator: 2, such as _id 10, 20"))
            let run = try await test.backfill("job", "SHIPSHAPE_LOCK_WAIT=500ms")
            #expect(run.exitCode == 1, "\(run.status): \(run.errors)")
            #expect(run.output.contains("skipped, locked by the sync translator: 2, such as _id 10, 20"))
            #expect(run.output.contains("skipped, locked by the sync translator: 2"))
            #expect(try await unwritten(test) == [10, 20])
        }
    }

    @Test func oneThatComesFreeIsWritten() async throws {
        try await withPeople { test in
            let run = try await test.backfill("job", "SHIPSHAPE_LOCK_WAIT=30m") { _ in
                try await waitUntil("the others are written") { try await unwritten(test) == [10, 20] }
                try await unlock(test, writeConcern: ["w": "majority"])
            }
            #expect(run.exitCode == 0, "\(run.status): \(run.errors)")
            #expect(try await unwritten(test) == [])
            #expect(try await test.state.count("failed") == 0)
        }
    }

    /// After the removal of a document's lock, a run waits until a majority of the members has this change, and then
    /// writes the document.
    ///
    /// A fail point delays the moment when a majority has the change.
    @Test func oneWhoseLockIsRemovedIsWaitedForUntilAMajorityHasTheRemoval() async throws {
        let mongod = try await Mongod.start()
        try await withPeople(on: mongod) { test in
            try await test.database.run(["profile": 2])
            let run = try await test.backfill("job", "SHIPSHAPE_LOCK_WAIT=30m") { _ in
                try await waitForCounts(4, test)
                try await mongod.admin(["configureFailPoint": "disableSnapshotting", "mode": "alwaysOn"])
                try await unlock(test, writeConcern: ["w": 1])
                try await waitForCounts(4, test)
                try await mongod.admin(["configureFailPoint": "disableSnapshotting", "mode": "off"])
                // With its next write, the server notices that a majority has the removal.
                try await test.database.fill("more", count: 1)
            }
            #expect(run.exitCode == 0, "\(run.status): \(run.errors)")
            #expect(try await unwritten(test) == [])
        }
    }

    @Test func aDocumentThatIsDeletedDuringTheScanIsNotReported() async throws {
        try await withPeople { test in
            try await test.database.run(["profile": 2])
            let run = try await test.backfill("job", "SHIPSHAPE_LOCK_WAIT=30m") { _ in
                try await waitForCounts(4, test)
                let locked: BSONDocument = ["_id": ["$in": [10, 20]]]
                try await test.database.run(["delete": "people", "deletes": [["q": .object(locked), "limit": 0]]])
            }
            #expect(run.exitCode == 0, "\(run.status): \(run.output)\(run.errors)")
            #expect(!run.output.contains("locked by the sync translator"), "\(run.output)")
        }
    }

    @Test func allAreCountedHoweverMany() async throws {
        try await withPeople { test in
            try await test.database.fill("people", count: 10_050) {
                ["_id": .integer(1_000 + $0), "_id__baas_transaction": "t"]
            }
            let run = try await test.backfill("job", "SHIPSHAPE_LOCK_WAIT=0s")
            #expect(run.exitCode == 1, "\(run.status)")
            #expect(run.output.contains("skipped, locked by the sync translator: 10,052"), "\(run.output)")
            #expect(try await test.state.count("failed") == 10_000)
        }
    }

    /// The run waits for a locked document, but not for another document that the server refused.
    ///
    /// Both documents still need the job. While the run waits, it surveys the collection only a few times.
    @Test func lockedDocumentsAreWaitedForAlthoughAnotherWasSkipped() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 3) {
                ["_id": .integer($0), "v": "00112233-4455-6677-8899-aabbccddeeff"]
            }
            try await test.database.fill(
                "people",
                [["_id": 10, "v": "00112233-4455-6677-8899-aabbccddeeff", "_id__baas_transaction": "t"]])
            try test.job(steps: ["convert: {field: v, to: uuid}"])
            let isRefused: BSONValue = ["$and": [["$eq": ["$_id", 1]], ["$eq": [["$type": "$v"], "binData"]]]]
            try await test.database.run(["collMod": "people", "validator": ["$expr": ["$not": [isRefused]]]])
            try await test.database.run(["profile": 2])
            let run = try await test.backfill("job", "SHIPSHAPE_LOCK_WAIT=4s")
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(try await test.state.count("failed") == 2)
            let surveys = try await test.database.count(
                "system.profile", ["command.comment": "shipshape survey", "command.aggregate": "people"])
            #expect(surveys < 12, "\(surveys)")
        }
    }

    /// The time of `--max-runtime` ends before that of `lock-wait`.
    @Test func aRunThatIsOutOfTimeRemovesNoLock() async throws {
        try await withPeople { test in
            let run = try await test.backfill("job", "SHIPSHAPE_LOCK_WAIT=60s", "--max-runtime", "4s", "--unset-locks")
            #expect(run.exitCode == 75, "\(run.status): \(run.errors)")
            #expect(try await unwritten(test) == [10, 20])
            #expect(try await test.state.count("failed") == 0)
        }
    }

    @Test func onlyALockThatDoesNotChangeIsTakenAway() async throws {
        try await withPeople { test in
            let run = try await test.backfill("job", "SHIPSHAPE_LOCK_WAIT=3s", "--unset-locks") { _ in
                try await waitUntil("the others are written") { try await unwritten(test) == [10, 20] }
                // The pass has ended and the run waits for the locks. A lock that changes now belongs to a new
                // transaction, so the run must not remove it.
                try await waitUntil("the locks are waited for") { try await test.checkpoint()?.upper == nil }
                try await Task.sleep(for: .seconds(1))
                try await test.database.run([
                    "update": "people",
                    "updates": [["q": ["_id": 10], "u": ["$set": ["_id__baas_transaction": "t2"]]]],
                ])
            }
            #expect(run.exitCode == 1, "\(run.status): \(run.errors)")
            #expect(try await unwritten(test) == [10])
            #expect(
                try await test.database.count("people", ["_id": 20, "_id_realm_transaction": ["$exists": true]]) == 0)
            #expect(try await test.state.count("failed") == 1)
        }
    }
}
