import BSON
import Glibc
import TestSupport
import Testing

/// A run on several threads writes, journals and counts as a run on one thread does.
@Suite struct ThreadedRunTests {
    private static let documents = 3_000
    private static let threads = 4
    private static let limits = "{chunk: {documents: 20}, concurrency: \(threads)}"
    private static let steps = ["convert: {field: n, to: int}", #"default: {field: email, value: ""}"#]

    private static func document(_ number: Int) -> BSONDocument {
        ["_id": .integer(number), "n": .string("\(number)"), "name": .string("p\(number % 7)")]
    }

    /// Returns the document that the steps make, by their definitions.
    private static func converted(_ number: Int) -> BSONDocument {
        ["_id": .integer(number), "n": .int(Int32(number)), "name": .string("p\(number % 7)"), "email": ""]
    }

    private func withPeople(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: Self.documents, Self.document)
            try test.job(steps: Self.steps, limits: Self.limits)
            try await body(test)
        }
    }

    /// Expects every document to be as the model says, with its fields in any order.
    private func expect(
        _ model: (Int) -> BSONDocument, in test: BackfillCase, location: SourceLocation = #_sourceLocation
    ) async throws {
        let documents = try await test.database.documents("people").sorted {
            ($0["_id"]?.integer ?? 0) < ($1["_id"]?.integer ?? 0)
        }
        let others = zip(documents, 0..<Self.documents).filter { !$0.hasSameFields(as: model($1)) }
        #expect(documents.count == Self.documents, sourceLocation: location)
        let first = String(describing: others.first)
        #expect(others.isEmpty, "\(others.count), such as \(first)", sourceLocation: location)
    }

    private func written(_ test: BackfillCase) async throws -> Int {
        try await test.database.count("people", ["email": ["$exists": true]])
    }

    /// During the run, each thread has a record, and the command `status` shows one job.
    ///
    /// At the end, the job has one record.
    @Test func aRunOnSeveralThreadsIsOneJob() async throws {
        try await withPeople { test in
            let run = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s", fault: "after-checkpoint:80:stop") {
                program in
                try await waitUntil("the program is stopped") { try program.isStopped }
                #expect(try await test.state.count("ranges") == 1 + Self.threads)
                #expect(try await test.state.count("sessions") == 1 + Self.threads)
                let status = try await test.status()
                #expect(status["changed"]?.integer == (try await test.checkpoint()?.modified))
                #expect(status["changed"]?.integer == (try await written(test)))
                program.send(SIGCONT)
            }
            #expect(run.exitCode == 0, "\(run.output) \(run.errors)")
            #expect(run.output.contains("changed 3,000 of 3,000 documents in "), "\(run.output)")
            try await expect(Self.converted, in: test)
            #expect(try await test.state.count("ranges") == 1)
            #expect(try await test.state.count("sessions") == 0)
            #expect(try await test.checkpoint()?.modified == Self.documents)
            #expect(try await test.state.documents("journal").reduce(0) { $0 + ($1["count"]?.integer ?? 0) } == 3_000)
            let undo = try await test.undo()
            #expect(undo.exitCode == 0, "\(undo.output) \(undo.errors)")
            #expect(undo.output.contains("undid 3,000 of 3,000 changes in "), "\(undo.output)")
            try await expect(Self.document, in: test)
        }
    }

    /// Wherever a run is killed, the records of its threads count exactly what was written; the next run continues, and
    /// an undo restores what both wrote.
    @Test(arguments: ["before-commit", "after-write", "after-journal", "after-checkpoint", "after-state-write"])
    func aKilledRunIsCountedExactly(_ point: String) async throws {
        try await withPeople { test in
            let killed = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s", fault: "\(point):60:kill")
            #expect(killed.wasKilled, "\(killed.status): \(killed.errors)")
            try await test.mongod.waitForNoCommand(of: test.appName)
            try await test.endLease(of: "job")
            let count = try #require(try await test.checkpoint()).modified
            #expect(count == (try await written(test)))
            #expect(count > 0 && count < Self.documents)
            let next = try await test.backfill()
            #expect(next.exitCode == 0, "\(next.output) \(next.errors)")
            let left = (Self.documents - count).grouped
            #expect(next.output.contains("changed \(left) of"), "\(next.output)")
            try await expect(Self.converted, in: test)
            #expect(try await test.checkpoint()?.modified == Self.documents)
            let undo = try await test.undo()
            #expect(undo.exitCode == 0, "\(undo.output) \(undo.errors)")
            try await expect(Self.document, in: test)
        }
    }

    /// An undo right after the kill adds up the counts of all threads, and restores what they wrote.
    @Test func aKilledRunIsUndone() async throws {
        try await withPeople { test in
            let killed = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s", fault: "after-checkpoint:60:kill")
            #expect(killed.wasKilled)
            try await test.mongod.waitForNoCommand(of: test.appName)
            try await test.endLease(of: "job")
            let count = try await written(test)
            #expect(try await test.state.count("ranges") == 1 + Self.threads)
            let undo = try await test.undo()
            #expect(undo.exitCode == 0, "\(undo.output) \(undo.errors)")
            #expect(undo.output.contains("undid \(count.grouped) of \(count.grouped) changes"), "\(undo.output)")
            #expect(try await test.state.count("ranges") == 1)
            try await expect(Self.document, in: test)
        }
    }

    /// A pass whose reader finds the documents by `_id` ends although its threads are still at work.
    @Test func aPassByListsEndsWithThreads() async throws {
        try await withPeople { test in
            try test.job(
                "some", steps: ["default: {field: email, value: \"\"}"], limits: Self.limits,
                more: "where: {name: {$in: [p1, p2]}}")
            let run = try await test.backfill("some", "SHIPSHAPE_LEASE_TTL=60s")
            #expect(run.exitCode == 0, "\(run.output) \(run.errors)")
            let due = (0..<Self.documents).count { [1, 2].contains($0 % 7) }
            #expect(run.output.contains("changed \(due.grouped) of"), "\(run.output)")
            #expect(try await written(test) == due)
        }
    }

    /// A user's update of all documents waits for no transaction of a killed run, once the next runner is there.
    @Test func allThreadsOfAKilledRunFreeTheirDocuments() async throws {
        try await withPeople { test in
            let killed = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=2s", fault: "after-write:60:kill")
            #expect(killed.wasKilled)
            let start = ContinuousClock.now
            async let user: Void = {
                _ = try await test.database.run([
                    "update": "people", "updates": [["q": [:], "u": ["$set": ["seen": 1]], "multi": true]],
                ])
            }()
            let next = try await test.backfill()
            #expect(next.exitCode == 0, "\(next.output) \(next.errors)")
            try await user
            #expect(start.duration(to: .now) < .seconds(30))
            try await expect({ Self.converted($0).appending("seen", 1) }, in: test)
        }
    }

    /// Users write another field of every document all the time; each of their writes stays, and so does each of the
    /// job's.
    @Test func usersWriteBesideTheThreads() async throws {
        try await withPeople { test in
            let run = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s") { _ in
                try await withThrowingTaskGroup { group in
                    for user in 0..<3 {
                        group.addTask {
                            for number in stride(from: user, to: Self.documents, by: 3) {
                                _ = try await test.database.run([
                                    "update": "people",
                                    "updates": [["q": ["_id": .integer(number)], "u": ["$inc": ["visits": 1]]]],
                                ])
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(run.exitCode == 0, "\(run.output) \(run.errors)")
            #expect(run.output.contains("changed 3,000 of 3,000"), "\(run.output)")
            let visited: (Int) -> BSONDocument = { Self.converted($0).appending("visits", 1) }
            try await expect(visited, in: test)
            let undo = try await test.undo()
            #expect(undo.exitCode == 0, "\(undo.output) \(undo.errors)")
            try await expect({ Self.document($0).appending("visits", 1) }, in: test)
        }
    }
}
