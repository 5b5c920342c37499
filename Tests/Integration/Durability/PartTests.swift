import BSON
import TestSupport
import Testing

/// Tests that several runners can share a job with `--part`: each document is written by exactly one of them.
@Suite struct PartTests {
    /// Runs a test with 600 documents whose `_id`s are of four types.
    private func withPeople(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 600) { number in
                switch number % 4 {
                case 0: ["_id": .integer(number), "age": .integer(number)]
                case 1: ["_id": .string("person \(number)"), "age": .integer(number)]
                case 2: ["_id": .double(Double(number) + 0.5), "age": .integer(number)]
                default: ["_id": ["number": .integer(number)], "age": .integer(number)]
                }
            }
            try test.job(
                steps: ["convert: {field: age, to: string}", "default: {field: email, value: none}"],
                limits: "{chunk: {documents: 20}}")
            try await body(test)
        }
    }

    private func run(_ parts: [Int], of count: Int, in test: BackfillCase) async throws -> [ProgramRun] {
        try await withThrowingTaskGroup(of: ProgramRun.self) { group in
            for part in parts { group.addTask { try await test.backfill("job", "--part", "\(part)/\(count)") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    private func changed(_ runs: [ProgramRun]) throws -> Int {
        try runs.reduce(0) { sum, run in
            let found = try #require(run.output.firstMatch(of: /changed ([0-9]+) of/), "\(run.output)\(run.errors)")
            return try sum + #require(Int(found.1))
        }
    }

    private func needing(_ test: BackfillCase) async throws -> Int {
        try await test.database.count(
            "people", ["$or": [["age": ["$not": ["$type": "string"]]], ["email": ["$ne": "none"]]]])
    }

    @Test(arguments: [2, 4]) func allTogetherDoEachDocumentOnce(_ count: Int) async throws {
        try await withPeople { test in
            let runs = try await run(Array(1...count), of: count, in: test)
            #expect(runs.allSatisfy { $0.exitCode == 0 }, "\(runs.map(\.errors))")
            #expect(try changed(runs) == 600)
            #expect(try await needing(test) == 0)
            // Each part has written several chunks.
            for part in 1...count {
                let checkpoint = try #require(try await test.checkpoint("job.part-\(part)-of-\(count)"))
                #expect(checkpoint.chunks > 2, "part \(part)")
            }
            // A run of the job without `--part` finds nothing to do, and the job counts as done.
            #expect(try await test.backfill().output.contains("nothing to do"))
            #expect(try await test.status()["state"] == "done")
        }
    }

    @Test func aDocumentThatComesLaterIsInAPartToo() async throws {
        try await withPeople { test in
            _ = try await run([1, 2, 3], of: 3, in: test)
            let ids: [BSONValue] = [.minKey, .null, .integer(-5), "zzz", .bool(true), .date(milliseconds: 0), .maxKey]
            try await test.database.fill("people", ids.map { ["_id": $0, "age": 1] })
            #expect(try changed(await run([1, 2, 3], of: 3, in: test)) == ids.count)
            #expect(try await needing(test) == 0)
        }
    }

    @Test func aPartThatIsKilledContinuesAndTheOthersAreNotDisturbed() async throws {
        try await withPeople { test in
            let killed = try await test.backfill("job", "--part", "1/2", fault: "after-write:3")
            #expect(killed.wasKilled)
            // The runner was killed after the server had acknowledged its write, so the test can end the runner's lease
            // at once.
            try await test.endLease(of: "job.part-1-of-2")
            let runs = try await run([1, 2], of: 2, in: test)
            #expect(runs.allSatisfy { $0.exitCode == 0 }, "\(runs.map(\.errors))")
            #expect(try await needing(test) == 0)
        }
    }

    @Test func eachPartIsUndoneByItsName() async throws {
        try await withPeople { test in
            let before = try await test.database.documents("people")
            _ = try await run([1, 2], of: 2, in: test)
            // Undo refuses a job if a later job wrote the same fields. Other parts of the same job do not count as
            // later jobs.
            for part in [1, 2] {
                let undone = try await test.undo("job.part-\(part)-of-2")
                #expect(undone.exitCode == 0, "\(undone.output)\(undone.errors)")
            }
            #expect(try await test.database.documents("people") == before)
        }
    }

    @Test func anOpenLockOfAnotherPartIsNotWaitedFor() async throws {
        try await withPeople { test in
            // In MongoDB's order, `_id`s that are objects come after numbers and strings, so this document is in the
            // second part.
            try await test.database.fill(
                "people", [["_id": ["number": 10_000], "age": 1, "_id__baas_transaction": "t"]])
            let first = try await test.backfill("job", "--part", "1/2", "SHIPSHAPE_LOCK_WAIT=30m")
            #expect(first.exitCode == 0, "\(first.errors)")
            let second = try await test.backfill("job", "--part", "2/2", "SHIPSHAPE_LOCK_WAIT=0s")
            #expect(second.exitCode == 1, "\(second.errors)")
            #expect(second.output.contains("locked by the sync translator: 1"), "\(second.output)")
        }
    }

    @Test func partsOfAnotherDivisionAreRefused() async throws {
        try await withPeople { test in
            _ = try await run([1], of: 2, in: test)
            try await test.state.run(["drop": "parts"])
            try await test.database.run(["delete": "people", "deletes": [["q": ["age": ["$lt": 500]], "limit": 0]]])
            let run = try await test.backfill("job", "--part", "1/2")
            #expect(run.exitCode == 65, "\(run.status)")
            #expect(run.errors.contains("the bounds of its parts changed since it was started"), "\(run.errors)")
        }
    }

    @Test(arguments: [
        (["--part", "0/2"], "0/2"), (["--part", "3/2"], "3/2"), (["--part", "2"], "such as 3/8"),
        (["--part", "1/2", "--dry-run"], "--dry-run excludes --part"),
    ]) func anInvalidPartIsRefused(_ flags: [String], _ said: String) async throws {
        try await withPeople { test in
            let run = try await test.backfill("job", flags: flags)
            #expect(run.exitCode == 64, "\(run.status)")
            #expect(run.errors.contains(said), "\(run.errors)")
        }
    }

    @Test func aJobThatMarksItsDocumentsRunsAsAWhole() async throws {
        try await withPeople { test in
            try test.job(steps: [#"expression: {field: n, value: {$add: ["$n", 1]}, once: done}"#])
            let run = try await test.backfill("job", "--part", "1/2")
            #expect(run.exitCode == 64, "\(run.status)")
            #expect(run.errors.contains("so it cannot run in parts"), "\(run.errors)")
        }
    }

    @Test func noJobIsCalledLikeAPart() async throws {
        try await withPeople { test in
            try test.job("job.part-1-of-2", steps: ["default: {field: email, value: none}"])
            let run = try await test.backfill("job.part-1-of-2")
            #expect(run.exitCode == 65 && run.errors.contains("such names are for the parts of a job"), "\(run.errors)")
        }
    }
}
