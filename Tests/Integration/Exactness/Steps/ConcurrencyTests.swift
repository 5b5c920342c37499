import BSON
import Mongo
import Scanning
import TestSupport
import Testing

@testable import Backfill
@testable import JobState
@testable import Jobs
@testable import Steps

/// Tests that a run with concurrent commands, or over several ranges of `_id`s, has the same result as a run without
/// them.
@Suite struct ConcurrencyTests {
    /// Lists of `_id`s at which a collection is divided into ranges.
    ///
    /// Some lists have `_id`s of one type, others of several types, and others have values that a query compares in a
    /// special way, such as NaN.
    static let bounds: [[BSONValue]] = [
        [], [0], [-5, 3, .double(7.5)], ["text 1", "text 15", "text 3"],
        [.objectID(ObjectID(high: 90, low: 7)), .objectID(ObjectID(high: 105, low: 7))],
        [.date(milliseconds: 0), .date(milliseconds: 5_000)], [.double(.nan)], [.double(.nan), 4],
        [.double(-.infinity), 4], [.bool(true)], [.decimal(Decimal128(Int64(0)))], [3, "text 1"],
        [.null, "", .object([:]), .objectID(ObjectID(high: 90, low: 7))], [.symbol("symbol 1")],
        [.binary(subtype: 4, bytes: [50]), .binary(subtype: 4, bytes: [60])],
    ]

    @Test(arguments: bounds) func everyDocumentIsInOneRange(_ bounds: [BSONValue]) async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("mixed", CheckScanTests.mixedIDs.shuffled().map { ["_id": $0] })
            let ranges = zip(
                [BSONValue?.none] + bounds.map(Optional.some), bounds.map(Optional.some) + [BSONValue?.none]
            )
            .map(IDRange.init)
            var found: [IDBytes] = []
            for filter in IDRange.filters(ranges) {
                found += try await database.documents("mixed", filter).compactMap { $0["_id"].map(IDBytes.init) }
            }
            let all = CheckScanTests.mixedIDs.map(IDBytes.init)
            #expect(Set(all).subtracting(found) == [])
            #expect(Set(found).count == found.count)
        }
    }

    @Test(arguments: ["", "--no-journal"], [1, 2, 5]) func concurrencyChangesNothingButTime(
        _ flag: String, _ concurrency: Int
    )
        async throws
    {
        try await Mongod.shared.withBackfill { test in
            let people = (0..<1_000).map(KillDocuments.document)
            try await test.database.fill("people", people)
            try test.job(steps: KillDocuments.steps, limits: "{chunk: {documents: 300}, lanes: \(concurrency)}")
            let job = try CompiledJob(try JobFile.read(at: test.path()), active: nil, next: nil)
            let pipeline = job.steps.filter { $0.client == nil }.map(\.stage) + [["$sort": ["_id": 1]]]
            let namespace = test.database.namespace("people")
            let wanted = try await test.database.pool.run {
                try $0.collection(namespace).aggregate(pipeline).documents()
            }
            let run = try await test.backfill("job", flag.isEmpty ? "--quiet" : flag)
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.database.documents("people") == wanted)
            guard flag.isEmpty else { return }
            let undo = try await test.undo("job")
            #expect(undo.exitCode == 0, "\(undo.errors)")
            #expect(Set(try await test.database.documents("people")) == Set(people))
        }
    }

    /// The server refuses two documents of a chunk.
    ///
    /// Some of the chunk's concurrent commands therefore fail, and others succeed.
    ///
    /// The run finds the refused documents by halving the list of documents that are not written yet.
    @Test(arguments: ["", "--no-journal"]) func aDocumentThatIsRefusedInOneThreadStopsNoOther(_ flag: String)
        async throws
    {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 400) { ["_id": .integer($0), "n": .integer($0)] }
            try await test.database.run([
                "collMod": "people", "validator": ["$expr": ["$not": ["$in": [["$toString": "$n"], ["3", "390"]]]]],
                "validationLevel": "strict",
            ])
            try test.job(steps: ["convert: {field: n, to: string}"], limits: "{chunk: {documents: 400}, lanes: 4}")
            let run = try await test.backfill("job", flag.isEmpty ? "--quiet" : flag)
            #expect(run.exitCode == 1)
            #expect(try await test.database.count("people", ["n": ["$type": "string"]]) == 398)
            let left = try await test.database.documents("people", ["n": ["$type": "int"]])
            #expect(left.compactMap { $0["_id"]?.integer } == [3, 390])
        }
    }

    /// A run is killed after it has journaled a chunk, so the next run journals the same chunk again.
    ///
    /// The journal then has two attempts for the chunk, but undo reports each document once. The concurrent commands of
    /// a chunk count as one attempt.
    @Test func aChunkThatIsJournaledTwiceIsUndoneOnce() async throws {
        try await Mongod.shared.withBackfill { test in
            let people = (0..<400).map(KillDocuments.document)
            try await test.database.fill("people", people)
            try test.job(steps: KillDocuments.steps, limits: "{chunk: {documents: 200}, lanes: 4}")
            #expect(try await test.backfill(fault: "after-journal:2").wasKilled)
            // The lease is long, because a run cannot know the result of a write that takes longer than its lease
            // allows.
            #expect(
                try await test.backfill("job", "SHIPSHAPE_LEASE_WAIT=30s", "SHIPSHAPE_LEASE_TTL=60s").wasKilled == false
            )
            let written = try await test.database.documents("people")
            let original = Set(people)
            let changed = written.count { !original.contains($0) }
            let dry = try test.report(try await test.undo(flags: ["--dry-run", "--output", "json"], yes: false))
            #expect(dry["restored"] == .integer(changed))
            #expect(try await test.undo().exitCode == 0)
            #expect(Set(try await test.database.documents("people")) == original)
        }
    }

    /// A run with five concurrent commands succeeds although the connection string limits the pool to one client.
    ///
    /// Each concurrent command needs a client from the connection pool, and the run itself needs several more.
    @Test func aSmallPoolInTheConnectionStringStopsNoRun() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 500)
            try test.job(steps: [#"default: {field: email, value: ""}"#], limits: "{lanes: 5}")
            let run = try await Program.run([
                "backfill", test.path(), "--uri", "\(test.uri)&maxPoolSize=1",
                "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
                "--yes",
            ])
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.database.count("people", ["email": ""]) == 500)
        }
    }
}
