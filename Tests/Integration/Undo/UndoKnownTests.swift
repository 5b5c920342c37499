import BSON
import Glibc
import TestSupport
import Testing

/// Undo changes a field only if the job has written it, and the field has not changed since.
@Suite struct UndoKnownTests {
    /// Returns a document with fields that the jobs of this suite change.
    private static func document(_ id: Int) -> BSONDocument {
        ["_id": .integer(id), "nick": .string("n\(id)"), "age": .string("\(id)"), "born": .integer(1900 + id)]
    }

    private func withPeople(
        _ step: String, count: Int = 10, limits: String? = nil, _ body: (BackfillCase) async throws -> Void
    ) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: count, Self.document)
            try test.job(steps: [step], limits: limits)
            try await body(test)
        }
    }

    // MARK: A journal whose state was lost

    /// Undo also restores the fields that a run removed after the job's state was lost.
    ///
    /// The job runs again with `--restart`, as the program's error advises.
    @Test(arguments: [["ranges"], ["ranges", "jobs"]])
    func fieldsThatARunAfterALostRangeRemovesAreRestoredToo(_ lost: [String]) async throws {
        try await withPeople("unset: {field: nick}", count: 3) { test in
            #expect(try await test.backfill().exitCode == 0)
            for collection in lost { try await test.state.run(["drop": .string(collection)]) }
            try await test.database.fill("people", (3..<6).map(Self.document))
            let run = try await test.backfill("job", "--restart")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.database.count("people", ["nick": ["$exists": true]]) == 0)
            let undone = try await test.undo()
            #expect(undone.exitCode == 0, "\(undone.errors)")
            #expect(try await test.database.documents("people") == (0..<6).map(Self.document))
        }
    }

    @Test func aRangeThatIsLostDuringARunCostsNothing() async throws {
        try await withPeople("unset: {field: nick}", count: 100, limits: "{chunk: {documents: 10}}") { test in
            let first = try await test.backfill(held: true) { program in
                try await test.slowly(program) {
                    try await test.waitForChunks(3)
                    try await test.state.run(["drop": "ranges"])
                    try await test.state.run(["drop": "jobs"])
                }
            }
            #expect(first.exitCode == 65, "\(first.status): \(first.errors)")
            let run = try await test.backfill("job", "--restart")
            #expect(run.exitCode == 0, "\(run.errors)")
            let undone = try await test.undo()
            #expect(undone.exitCode == 0, "\(undone.errors)")
            #expect(try await test.database.documents("people") == (0..<100).map(Self.document))
        }
    }

    // MARK: A signal in a chunk

    /// A signal does not end a chunk that is being written: all of the chunk is done, or nothing is.
    @Test func aChunkThatASignalMeetsIsDoneOrNot() async throws {
        try await withPeople("default: {field: key, generate: uuid}", count: 2_000) { test in
            let before = try await test.database.documents("people")
            let run = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s", fault: "before-write:1:stop") {
                program in
                try await waitUntil("the runner is stopped") { try program.isStopped }
                program.send(SIGINT)
                program.send(SIGCONT)
            }
            #expect(run.exitCode == 75, "\(run.errors)")
            let written = try await test.database.count("people", ["key": ["$exists": true]])
            #expect(written == (try await test.checkpoint()?.modified ?? 0))
            let undone = try await test.undo()
            #expect(undone.exitCode == 0, "\(undone.output) \(undone.errors)")
            #expect(try await test.database.documents("people") == before)
        }
    }

    // MARK: Changes that a user made like the job

    /// Each element has a step, a user's update that makes the same change as the step, and document 3 after that
    /// update.
    private static let byHand: [(String, BSONDocument, BSONDocument)] = [
        (
            "unset: {field: nick}", ["$unset": ["nick": ""]],
            ["_id": 3, "age": "3", "born": 1903]
        ),
        (
            "default: {field: email, value: none}", ["$set": ["email": "none"]],
            document(3).appending("email", "none")
        ),
        (
            "convert: {field: age, to: int}", ["$set": ["age": 3]],
            ["_id": 3, "nick": "n3", "age": 3, "born": 1903]
        ),
    ]

    @Test(arguments: byHand)
    func aUsersWriteAfterADeadRunnersJournalStays(
        _ step: String, _ user: BSONDocument, _ expected: BSONDocument
    ) async throws {
        try await withPeople(step) { test in
            let killed = try await test.backfill(fault: "after-journal:1:kill")
            #expect(killed.wasKilled)
            try await test.waitForLeaseEnd()
            try await test.database.run([
                "update": "people", "updates": [["q": ["_id": 3], "u": .object(user)]],
            ])
            let before = try await test.database.documents("people")
            let undone = try await test.undo(flags: ["--output", "json"])
            #expect(undone.exitCode == 0, "\(undone.errors)")
            #expect(try test.report(undone)["restored"]?.integer == 0)
            #expect(try await test.database.documents("people") == before)
            #expect(try await test.database.documents("people", ["_id": 3]) == [expected])
        }
    }

    /// Undo keeps a user's write that equals the change of the step, and restores all other documents.
    ///
    /// The user writes document 3 while a runner sleeps after it has journaled a chunk, and before it writes the chunk.
    @Test(arguments: byHand)
    func aUsersWriteDuringARunStays(
        _ step: String, _ user: BSONDocument, _ expected: BSONDocument
    ) async throws {
        try await withPeople(step) { test in
            let run = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s", fault: "after-journal:1:stop") {
                program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                defer { program.send(SIGCONT) }
                try await test.database.run([
                    "update": "people", "updates": [["q": ["_id": 3], "u": .object(user)]],
                ])
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            let undone = try await test.undo(flags: ["--output", "json"])
            #expect(undone.exitCode == 0, "\(undone.errors)")
            #expect(try test.report(undone)["restored"]?.integer == 9)
            #expect(try await test.database.documents("people", ["_id": 3]) == [expected])
        }
    }

    /// A runner that is killed between its write and the commit has written nothing of the chunk, so undo restores
    /// everything.
    @Test func afterAKillNothingIsUncertain() async throws {
        try await withPeople("unset: {field: nick}", count: 40, limits: "{chunk: {documents: 10}}") { test in
            let original = try await test.database.documents("people")
            #expect(try await test.backfill(fault: "after-write:3:kill").wasKilled)
            try await test.waitForLeaseEnd()
            #expect(try await test.database.count("people", ["nick": ["$exists": true]]) == 20)
            #expect(try await test.backfill().exitCode == 0)
            let undone = try await test.undo(flags: ["--output", "json"])
            #expect(undone.exitCode == 0, "\(undone.errors)")
            #expect(try test.report(undone)["restored"]?.integer == 40)
            #expect(try await test.database.documents("people") == original)
        }
    }

    // MARK: Another document with the same `_id`

    private static let other: BSONDocument = ["_id": 3, "name": "another", "age": "77", "born": 2001]

    @Test(arguments: ["unset: {field: nick}", "rename: {from: nick, to: alias}"], [true, false])
    func aValueIsNotGivenToAnotherDocumentOfTheSameID(_ step: String, deletes: Bool) async throws {
        try await withPeople(step) { test in
            #expect(try await test.backfill().exitCode == 0)
            if deletes {
                try await test.database.run(["delete": "people", "deletes": [["q": ["_id": 3], "limit": 1]]])
                try await test.database.fill("people", [Self.other])
            } else {
                try await test.database.run([
                    "update": "people", "updates": [["q": ["_id": 3], "u": .object(Self.other)]],
                ])
            }
            let undone = try await test.undo(flags: ["--output", "json"])
            #expect(undone.exitCode == 1, "\(undone.errors)")
            #expect(try await test.database.documents("people", ["_id": 3]) == [Self.other])
            #expect(try await test.database.count("people", ["nick": ["$exists": true]]) == 9)
        }
    }

    /// A user's change of a field that the job did not write does not prevent the undo.
    ///
    /// If a user sets the field that the job removed, and then removes the field again, undo cannot notice this.
    @Test func anotherFieldMayChange() async throws {
        try await withPeople("unset: {field: nick}") { test in
            #expect(try await test.backfill().exitCode == 0)
            try await test.database.set("people", 3, ["born": 2000])
            let undone = try await test.undo()
            #expect(undone.exitCode == 0, "\(undone.errors)")
            #expect(
                try await test.database.documents("people", ["_id": 3])
                    == [["_id": 3, "nick": "n3", "age": "3", "born": 2000]])
        }
    }

    // MARK: The order in which jobs are undone

    /// A job runs, another job runs, and the first job is resumed.
    ///
    /// The first job made the last writes, so it is undone first.
    @Test func theOrderFollowsTheWritesAndNotTheBeginnings() async throws {
        try await withPeople("unset: {field: nick}", count: 40, limits: "{chunk: {documents: 10}}") { test in
            try test.job("later", steps: ["rename: {from: nick, to: alias}"])
            #expect(try await test.backfill(fault: "after-checkpoint:2:kill").wasKilled)
            #expect(try await test.backfill("later").exitCode == 0)
            try await test.database.set("people", 35, ["nick": "mine"])
            try await test.waitForLeaseEnd()
            #expect(try await test.backfill().exitCode == 0)
            #expect(try await test.database.count("people", ["nick": ["$exists": true]]) == 0)
            let early = try await test.undo("later")
            #expect(early.exitCode == 65, "\(early.output)")
            #expect(early.errors.contains("undo that one first: shipshape undo job"), "\(early.errors)")
            #expect(try await test.undo().exitCode == 0)
            #expect(try await test.undo("later").exitCode == 1)
            #expect(try await test.database.documents("people", ["_id": 35]).first?["nick"] == "mine")
        }
    }

    // MARK: An incomplete journal

    @Test(arguments: [1, 2, 4]) func aJournalWithAHoleIsReportedBeforeItBegins(_ chunk: Int) async throws {
        try await withPeople("unset: {field: nick}", count: 40, limits: "{chunk: {documents: 10}}") { test in
            #expect(try await test.backfill().exitCode == 0)
            let journal = try await test.state.documents("journal", ["groups": ["$exists": true]])
            #expect(journal.count == 4)
            let id = try #require(journal[chunk - 1]["_id"])
            try await test.state.run(["delete": "journal", "deletes": [["q": ["_id": id], "limit": 1]]])
            let plan = try await test.undo(yes: false)
            #expect(plan.errors.contains("1 of 4 chunks"), "\(plan.errors)")
            let undone = try await test.undo()
            #expect(undone.exitCode == 1, "\(undone.errors)")
            #expect(try await test.database.count("people", ["nick": ["$exists": true]]) == 30)
        }
    }

    @Test func aJournalThatIsDroppedDuringARunIsReported() async throws {
        try await withPeople("unset: {field: nick}", count: 40, limits: "{chunk: {documents: 10}}") { test in
            #expect(try await test.backfill(fault: "after-checkpoint:2:kill").wasKilled)
            try await test.state.run(["drop": "journal"])
            try await test.waitForLeaseEnd()
            #expect(try await test.backfill().exitCode == 0)
            let undone = try await test.undo()
            #expect(undone.exitCode == 1, "\(undone.errors)")
            #expect(undone.output.contains("2 of 4 chunks"), "\(undone.output)")
        }
    }

    // MARK: Documents that a job inserts into another collection

    /// The job inserts a document for an embedded object, and then skips the object, because a user has changed it.
    ///
    /// No document links to the inserted one, but undo still removes it.
    @Test(.fencedDeletes) func createdButUnlinkedDocumentsAreRemoved() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 5) {
                ["_id": .integer($0), "home": ["key": .integer($0 + 100), "city": "Oslo"]]
            }
            try test.job(steps: ["extract: {field: home, to: \(test.database.name).homes, idFrom: key}"])
            let run = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s", fault: "after-creation:1:stop") {
                program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                defer { program.send(SIGCONT) }
                try await test.database.set("people", 3, ["home.city": "Bergen"])
            }
            #expect(run.exitCode.map { $0 < 2 } == true, "\(run.errors)")
            let undone = try await test.undo()
            #expect(undone.exitCode == 0, "\(undone.output)\(undone.errors)")
            #expect(try await test.database.count("homes") == 0)
            #expect(try await test.database.count("people", ["home.city": ["$exists": true]]) == 5)
        }
    }

    // MARK: Jobs with many steps

    private static let manyKinds = [
        "rename: {from: a#, to: b#}", "rename: {from: o.a#, to: o.b#}", "dedupe: {field: l#}",
        "expression: {field: e#, value: {$ifNull: [$e#, 1]}}", "map: {field: r#, values: {a: b}}",
    ]

    /// A job of 28 steps still fits into one command.
    @Test(arguments: manyKinds) func manyStepsAreOneJob(_ step: String) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 3) {
                ["_id": .integer($0), "a27": [1], "l27": [1, 1], "r27": "a", "o": ["a27": [1]]]
            }
            let original = try await test.database.documents("people")
            try test.job(steps: (0..<28).map { step.replacing("#", with: "\($0)") })
            let dry = try await test.backfill("job", "--dry-run", yes: false)
            #expect(dry.exitCode == 0, "\(dry.status): \(dry.errors)")
            let run = try await test.backfill()
            #expect(run.exitCode == 0, "\(run.status): \(run.errors)")
            #expect(try await test.database.documents("people") != original)
            let undone = try await test.undo()
            #expect(undone.exitCode == 0, "\(run.output)\(run.errors)\(undone.output)\(undone.errors)")
            #expect(try await test.database.documents("people") == original)
        }
    }

    /// A job with a hundred steps is refused before anything is written, because a server does not accept so many
    /// steps.
    ///
    /// The error states the line of the steps.
    @Test(arguments: manyKinds[..<3]) func stepsThatComeToTooMuchAreRefused(_ step: String) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 3)
            try test.job(steps: (0..<100).map { step.replacing("#", with: "\($0)") })
            let run = try await test.backfill()
            #expect(run.exitCode == 65, "\(run.status): \(run.errors)")
            #expect(run.errors.contains("job.yml:"), "\(run.errors)")
            #expect(run.errors.contains("too many steps that build on each other"), "\(run.errors)")
            #expect(try await !test.hasState())
        }
    }

    // MARK: Commands on a job that was undone

    @Test func anUndoneJobIsNotSteered() async throws {
        try await withPeople("unset: {field: nick}") { test in
            #expect(try await test.backfill().exitCode == 0)
            #expect(try await test.undo().exitCode == 0)
            for arguments in [["pause", "job"], ["tune", "job", "nice=1"]] {
                let run = try await test.steer(arguments[0], arguments[1], arguments.count > 2 ? arguments[2] : "--yes")
                #expect(run.exitCode != 0, "\(arguments): \(run.output)")
            }
        }
    }

    @Test(arguments: [false, true]) func aCollectionThatIsDroppedDuringARunIsReported(recreates: Bool) async throws {
        try await withPeople("unset: {field: nick}", count: 40, limits: "{chunk: {documents: 10}}") { test in
            let run = try await test.backfill(fault: "after-checkpoint:2:stop") { program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                try await test.database.run(["drop": "people"])
                if recreates { try await test.database.fill("people", count: 5, Self.document) }
                program.send(SIGCONT)
            }
            #expect(run.exitCode == 65, "\(run.status): \(run.output)\(run.errors)")
            #expect(run.errors.contains("dropped"), "\(run.errors)")
        }
    }

    // MARK: Values that a newer entry restored

    @Test func fieldsThatANewerEntryRestoredAreNotReportedAsChanged() async throws {
        try await withPeople("unset: {field: nick}") { test in
            #expect(try await test.backfill().exitCode == 0)
            try await test.database.set("people", 3, ["nick": "mine"])
            #expect(try await test.backfill().exitCode == 0)
            let undone = try await test.undo(flags: ["--output", "json"])
            #expect(undone.exitCode == 0, "\(undone.errors)")
            #expect(try test.report(undone).left("changed").isEmpty)
            #expect(
                try await test.database.documents("people", ["_id": 3]).first?["nick"] == "mine")
        }
    }
}
