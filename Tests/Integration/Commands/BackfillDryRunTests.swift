import BSON
import Glibc
import TestSupport
import Testing

/// Tests that a dry run reports what the real run would do, and changes nothing.
@Suite struct BackfillDryRunTests {
    private static let documents = 500

    private func person(_ number: Int) -> BSONDocument {
        var builder = BSONBuilder()
        builder.append("_id", .integer(number))
        if number % 3 == 0 { builder.append("email", .string("p\(number)@example.org")) }
        let ages: [BSONValue] = [.int(30), "31", "thirty", .double(32.5), .double(33)]
        builder.append("age", ages[number % ages.count])
        if number % 50 == 0 { builder.append("years", "taken") }
        return builder.finish()
    }

    private func withPeople(on mongod: Mongod, _ body: (BackfillCase) async throws -> Void) async throws {
        try await mongod.withBackfill { test in
            try await test.database.fill("people", count: Self.documents, person)
            try test.job(
                steps: [
                    #"default: {field: email, value: ""}"#, "convert: {field: age, to: int}",
                    "copy: {from: age, to: years}",
                ],
                limits: "{chunk: {documents: 40}}")
            try await body(test)
        }
    }

    /// Returns the hash that the server computes over all collections of the database.
    private func digest(_ test: BackfillCase) async throws -> BSONValue? {
        try await test.database.run(["dbHash": 1])["md5"]
    }

    @Test func itsCountsAreThoseOfTheRealRun() async throws {
        try await withPeople(on: .shared) { test in
            let before = try await digest(test)
            let dry = try await test.backfill("job", "--dry-run", "--output", "json", yes: false)
            #expect(dry.exitCode == 1, "what cannot be converted remains: \(dry.errors)")
            #expect(try await digest(test) == before)
            #expect(try await !test.hasState())
            let real = try await test.backfill("job", "--output", "json")
            #expect(real.exitCode == 1)
            let (reported, done) = (try test.report(dry), try test.report(real))
            for name in ["changed", "chunks", "documents"] { #expect(reported[name] == done[name], "\(name)") }
            #expect(reported["changed"]?.integer == 496)
            #expect(reported["steps"] == done["steps"])
            let again = try test.report(try await test.backfill("job", "--dry-run", "--output", "json"))
            #expect(again["changed"] == 0)
        }
    }

    @Test func aReadOnlyUserIsEnough() async throws {
        try await withPeople(on: .withAuthentication) { test in
            let user = try await test.mongod.addUser(
                "dry-\(test.database.name)", roles: [["role": "read", "db": .string(test.database.name)]])
            let before = try await digest(test)
            let dry = try await test.backfill("job", "--dry-run", "--output", "json", uri: user, yes: false)
            #expect(dry.exitCode == 1, "\(dry.errors)")
            #expect(try test.report(dry)["changed"]?.integer == 496)
            #expect(dry.output.contains("cannot read the state database"))
            #expect(try await digest(test) == before)
            #expect(try await !test.hasState())
        }
    }

    @Test func aReadOnlyUserIsEnoughForADryRunOfAJobThatMakesDocumentsUnsyncable() async throws {
        try await withPeople(on: .withAuthentication) { test in
            try test.write(
                "active.json",
                #"{"title": "P", "bsonType": "object", "properties": {"_id": {"bsonType": "int"}, "age": {"bsonType": "string"}}}"#
            )
            try test.job(
                "harming", steps: ["convert: {field: age, to: int}"], more: "schema: {active: active.json}")
            let user = try await test.mongod.addUser(
                "harm-\(test.database.name)", roles: [["role": "read", "db": .string(test.database.name)]])
            let dry = try await test.backfill(
                "harming", "--dry-run", "--output", "json", "SHIPSHAPE_LEDGER=\(test.database.name).ledger", uri: user)
            #expect(try test.report(dry)["harm"] == 100, "\(dry.errors)")
            #expect(try await !test.hasState())
        }
    }

    @Test func documentsThatArriveDuringTheRunAreCaught() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 200) { ["_id": .integer($0)] }
            try test.job(steps: [#"default: {field: email, value: ""}"#], limits: "{chunk: {documents: 10}, nice: 2}")
            let run = try await test.backfill(held: true) { program in
                try await test.slowly(program) {
                    try await test.waitForChunks(3)
                    try await test.database.fill(
                        "people", [["_id": -1], ["_id": 3.5], ["_id": 1_000], ["_id": "text"]])
                    // The run has passed this document, so it needs another pass.
                    try await test.database.update("people", ["_id": 0], ["$unset": ["email": ""]])
                }
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.errors.contains("pass 2"))
            #expect(try await test.database.count("people", ["email": ""]) == 204)
            #expect(try await test.checkpoint()?.pass == 2)
        }
    }

    /// The job changes every document, although the collection's collation sorts the `_id`s in another order than their
    /// bytes.
    @Test func aCollectionWithACollationIsDone() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.run(["create": "people", "collation": ["locale": "en", "strength": 2]])
            let ids = ["a", "B", "c", "D", "e", "F", "Zed", "a1", "b1", "c1", "d1", "e1"]
            try await test.database.fill("people", ids.map { ["_id": .string($0)] })
            try test.job(steps: [#"default: {field: email, value: ""}"#], limits: "{chunk: {documents: 2}}")
            let dry = try test.report(try await test.backfill("job", "--dry-run", "--output", "json"))
            #expect(dry["changed"]?.integer == ids.count)
            let run = try await test.backfill("job", "--output", "json", "--max-runtime", "60s")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try test.report(run)["chunks"] == dry["chunks"])
            #expect(try await test.database.count("people", ["email": ""]) == ids.count)
        }
    }

    @Test func anIDWithAFieldThatHasNoNameIsDone() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", (0..<9).map { ["_id": ["": .integer($0)]] })
            try test.job(steps: [#"default: {field: email, value: ""}"#], limits: "{chunk: {documents: 2}}")
            let run = try await test.backfill()
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.database.count("people", ["email": ""]) == 9)
        }
    }

    @Test(arguments: [.double(.nan), .minKey, .maxKey, .null, .string("")] as [BSONValue])
    func aSingleDocumentOfAnyIDIsDone(_ id: BSONValue) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", [["_id": id]])
            try test.job(steps: [#"default: {field: email, value: ""}"#])
            let dry = try await test.backfill("job", "--dry-run", "--output", "json")
            #expect(try test.report(dry)["changed"] == 1)
            let run = try await test.backfill("job", "--max-runtime", "60s")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.database.count("people", ["email": ""]) == 1)
        }
    }

    /// A dry run makes the journal entries of only some documents of a chunk, and estimates the others.
    @Test func theSizeOfTheJournalIsEstimated() async throws {
        try await Mongod.shared.withBackfill { test in
            let count = 4_000
            try await test.database.fill("people", count: count) {
                ["_id": .integer($0), "name": .string(String(repeating: "n", count: 40) + "\($0)")]
            }
            func estimated(chunk: Int) async throws -> Int {
                try test.job(
                    steps: ["rename: {from: name, to: fullName}"], limits: "{chunk: {documents: \(chunk)}}")
                let dry = try test.report(try await test.backfill("job", "--dry-run", "--output", "json"))
                return try #require(dry["estimate"]?.document?["journal_bytes"]?.integer)
            }
            let (all, some) = (try await estimated(chunk: count), try await estimated(chunk: 50))
            #expect(all > count * 40)
            #expect(abs(some - all) * 10 < all, "\(some) of \(all)")
        }
    }

    /// A signal ends a dry run; its report has the counts so far, and says that nothing was written.
    @Test func aSignalEndsADryRun() async throws {
        try await Mongod.shared.withBackfill { test in
            let count = 9_000
            try await test.database.fill("people", count: count) { ["_id": .integer($0)] }
            try test.job(steps: [#"default: {field: email, value: ""}"#], limits: "{chunk: {documents: 1000}}")
            // The first finds choose and read the first parts of the collection.
            var point = FailPoint("find", appName: test.appName, mode: .skip(4))
            point.blockTime = .seconds(3)
            let dry = try await test.mongod.failing(point) {
                try await test.backfill("job", "--dry-run") { program in
                    try await test.mongod.waitForCommand("find", of: test.appName)
                    program.send(SIGTERM)
                }
            }
            #expect(dry.exitCode == 75, "\(dry.errors)")
            #expect(dry.output.contains("nothing was written"), "\(dry.output)")
            #expect(dry.output.contains("would change"), "\(dry.output)")
            #expect(!dry.output.contains("would change 9,000"), "\(dry.output)")
            #expect(!dry.output.contains("a run would take"), "\(dry.output)")
            #expect(try await test.database.count("people", ["email": ""]) == 0)
        }
    }

    /// The client does not know the value of `$now` before the first run of a job.
    ///
    /// The search for a sample finds no document that needs the job, so the dry run begins to read in the client, and
    /// then leaves the work to the server.
    @Test func documentsThatTheClientCannotEvaluateAreCountedByTheServer() async throws {
        let (done, open) = (2_000, 10_400)
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: done + open) {
                $0 < done ? ["_id": .integer($0), "createdAt": .date(milliseconds: 0)] : ["_id": .integer($0)]
            }
            try test.job(steps: ["default: {field: createdAt, value: $now}"])
            let dry = try test.report(try await test.backfill("job", "--dry-run", "--output", "json"))
            #expect(dry["changed"]?.integer == open)
            #expect(dry["documents"]?.integer == done + open)
            let run = try test.report(try await test.backfill("job", "--output", "json"))
            #expect(run["changed"]?.integer == open)
        }
    }

    /// Returns the counts of each step; the samples of `_id`s depend on the order in which threads read the documents.
    private func counts(of report: BSONDocument) -> [[BSONValue?]] {
        (report["steps"]?.document?.values ?? []).compactMap(\.document).map { step in
            let left = (step["left_alone"]?.document?.values ?? []).compactMap(\.document)
            return [step["step"], step["needing_before"], step["needing_after"]]
                + left.flatMap { [$0["reason"], $0["documents"]] }
        }
    }

    /// The steps of a rename depend on each other, and the client evaluates them in turn.
    @Test func aRenameIsCountedAsTheRunCountsIt() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 600) { number in
                switch number % 3 {
                case 0: ["_id": .integer(number), "old": .integer(number)]
                case 1: ["_id": .integer(number), "old": 1, "new": 1]
                default: ["_id": .integer(number), "old": 1, "new": 2]
                }
            }
            try test.job(steps: ["rename: {from: old, to: new}"])
            let dry = try test.report(try await test.backfill("job", "--dry-run", "--output", "json", yes: false))
            let run = try test.report(try await test.backfill("job", "--output", "json"))
            #expect(dry["changed"]?.integer == 400)
            for name in ["changed", "documents"] { #expect(dry[name] == run[name], "\(name)") }
            #expect(counts(of: dry) == counts(of: run))
        }
    }
}
