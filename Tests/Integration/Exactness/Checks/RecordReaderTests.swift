import BSON
import Glibc
import Mongo
import TestSupport
import Testing

@testable import Scanning

/// Tests reading a collection in the order in which the server stores its documents.
///
/// Whatever is removed or inserted during the scan, no document is read twice, and every document that stays is read.
@Suite struct RecordReaderTests {
    private static let count = 30_000
    private static let batchSize = 1_000

    private func plan(of database: TestDatabase, parts: Int) async throws -> RecordPlan {
        let namespace = database.namespace("a")
        let plan = try await database.pool.run { client in
            try RecordPlan.make(for: namespace, on: client, parts: parts)
        }
        return try #require(plan)
    }

    /// Reads one part of the collection after another, and returns the `_id`s in the order in which they were read.
    ///
    /// - Parameters:
    ///   - given: the plan that divides the collection into parts; `nil` makes a new one.
    ///   - each: runs after each document, with the number of documents read so far.
    private func ids(
        of database: TestDatabase, parts: Int = 4, by given: RecordPlan? = nil,
        each: @escaping @Sendable (Int, MongoCollection, RecordPlan) throws -> Void = { _, _, _ in }
    ) async throws -> [Int] {
        let namespace = database.namespace("a")
        let plan = if let given { given } else { try await self.plan(of: database, parts: parts) }
        return try await database.pool.run { client in
            let session = try client.startSession()
            let collection = client.collection(namespace)
            let reads = try MemberReads(by: plan.member, in: session)
            var ids: [Int] = []
            for range in plan.ranges {
                var reader = RecordReader(collection: collection, plan: plan, range: range, reads: reads)
                reader.batchSize = Self.batchSize
                try reader.read { document in
                    ids.append(try #require(BSONDocument(copying: document)["_id"]?.integer))
                    try each(ids.count, collection, plan)
                    return true
                }
            }
            return ids
        }
    }

    private func withNumbers(_ count: Int = count, _ body: (TestDatabase) async throws -> Void) async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", count: count)
            try await body(database)
        }
    }

    @Test(arguments: [1, 2, 7]) func everyDocumentIsReadOnceInItsOrder(_ parts: Int) async throws {
        try await withNumbers { database in
            let read = try await ids(of: database, parts: parts)
            #expect(read == Array(0..<Self.count))
        }
    }

    /// The test deletes the documents at which the parts begin and end.
    ///
    /// The scan must still find the bounds of each part, by their record numbers (`$recordId`).
    @Test func partsWhoseBoundsAreGone() async throws {
        try await withNumbers { database in
            let gone = Seen()
            let read = try await ids(of: database) { count, collection, plan in
                guard count == 1 else { return }
                gone.ids = plan.known.map(\.id)
                let known: BSONDocument = ["_id": ["$in": .array(of: gone.ids)]]
                _ = try collection.delete([DeleteStatement(known, isMulti: true)])
            }
            let missing = Set(gone.ids.compactMap(\.integer))
            #expect(!missing.isEmpty)
            #expect(Set(read).isSuperset(of: Set(0..<Self.count).subtracting(missing)))
            #expect(Set(read).count == read.count)
        }
    }

    /// Another client deletes a document and inserts it again, so that it is stored after all others.
    ///
    /// The scan reads the document only once.
    @Test func aBoundThatMoves() async throws {
        try await withNumbers { database in
            // The test moves the document at the bound after the reader has got the first batch, so the bound must be
            // in a later batch. The server chooses the bound at random.
            var plan = try await self.plan(of: database, parts: 2)
            while let id = plan.ranges[0].through?.id.integer, id < Self.batchSize {
                plan = try await self.plan(of: database, parts: 2)
            }
            let read = try await ids(of: database, by: plan) { count, collection, plan in
                guard count == 1, let bound = plan.ranges[0].through else { return }
                _ = try collection.delete([DeleteStatement(["_id": bound.id], isMulti: true)])
                _ = try collection.insert([["_id": bound.id]])
            }
            #expect(read.sorted() == Array(0..<Self.count))
        }
    }

    @Test(arguments: [true, false]) func aLostCursorWhoseRecordIsGone(_ isAllGone: Bool) async throws {
        try await withNumbers { database in
            var point = FailPoint.error(43, "getMore", mode: .times(1))
            point.appName = database.appName
            let mongod = try await Mongod.shared
            let read = try await mongod.failing(point) {
                try await ids(of: database, parts: 1) { count, collection, _ in
                    guard count == 1_000 else { return }
                    // The scan has read the first 1,000 documents, and would continue after the last of them. The test
                    // removes all of these documents, or the last ten.
                    let read: BSONDocument = ["_id": ["$gte": isAllGone ? 0 : 990, "$lt": 1_000]]
                    _ = try collection.delete([DeleteStatement(read, isMulti: true)])
                }
            }
            #expect(read == Array(0..<Self.count))
        }
    }

    /// The server returns the record number in the field `$recordId`, and these documents have a field of that name.
    ///
    /// The scan reads each of these documents once, or ends with an error.
    @Test(.server(from: 5, for: "field names with a leading $"), arguments: [false, true])
    func aFieldOfTheNameOfARecordsNumber(_ isLast: Bool) async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", count: 3_000) {
                BSONDocument([("_id", .integer($0)), ("$recordId", .long(7))] + (isLast ? [] : [("n", 1)]))
            }
            #expect(try await database.scannedIDs("a").count == 3_000)
            do {
                let read = try await ids(of: database) { count, collection, plan in
                    guard count == 1, let bound = plan.ranges[0].through else { return }
                    _ = try collection.delete([DeleteStatement(["_id": bound.id])])
                }
                // The scan may have read the deleted document before the test deleted it.
                #expect(isLast && read.count >= 2_999 && Set(read).count == read.count)
            } catch is MemberLost {
                #expect(!isLast)
            }
        }
    }

    /// An error in the code that uses the documents, such as a failed look-up of a link, does not count as a lost
    /// cursor.
    ///
    /// Otherwise documents would be read twice.
    @Test func anErrorOfTheReaderIsNoLostCursor() async throws {
        let mongod = try await Mongod.shared
        try await withNumbers(3_000) { database in
            var point = FailPoint.error(91, "count", mode: .times(2))
            point.appName = database.appName
            let seen = Seen()
            let error = try await mongod.failing(point) {
                await #expect(throws: MongoError.self) {
                    try await ids(of: database, parts: 1) { number, collection, _ in
                        seen.count += 1
                        if number == 1_500 { _ = try collection.estimatedCount() }
                    }
                }
            }
            #expect(error?.isCursorLost == true)
            #expect(seen.count == 1_500)
        }
    }

    @Test func aStepDownBetweenTwoCursorsIsRetried() async throws {
        let mongod = try await Mongod.start()
        try await mongod.withDatabase { database in
            try await database.fill("a", count: 5_000)
            var point = FailPoint.error(43, "getMore", mode: .times(1))
            point.appName = database.appName
            try await mongod.failing(point) {
                let started = AsyncStream<Void>.makeStream()
                async let read = ids(of: database, parts: 1) { count, _, _ in
                    guard count == 1_000 else { return }
                    started.continuation.yield()
                    sleep(2)
                }
                for await _ in started.stream { break }
                try await mongod.stepDown()
                let ids = try await read
                #expect(ids == Array(0..<5_000))
            }
        }
    }

    /// After a restart, a killed server may give its last documents other record numbers than before.
    ///
    /// The scan therefore does not continue on a server that was restarted after the plan was made.
    @Test func aMemberThatIsAnotherProcessIsNotReadFurther() async throws {
        let other = try await Mongod.start()
        let process = try await other.withDatabase { database in
            try await database.fill("a", count: 1)
            return try await plan(of: database, parts: 1).process
        }
        try await withNumbers(100) { database in
            let made = try await plan(of: database, parts: 1)
            let old = RecordPlan(member: made.member, process: process, known: made.known, ranges: made.ranges)
            await #expect(throws: MemberLost.self) {
                try await ids(of: database, by: old) { _, _, _ in }
            }
        }
    }

    @Test func aCollectionWithoutRecordNumbersIsNotReadByRecords() async throws {
        try await Mongod.shared.withDatabase { database in
            if try await Mongod.build.isAtLeast(5, 3) {
                try await database.run(["create": "clustered", "clusteredIndex": ["key": ["_id": 1], "unique": true]])
            }
            try await database.run(["create": "capped", "capped": true, "size": 10_000])
            try await database.run(["create": "view", "viewOn": "capped", "pipeline": []])
            for name in ["clustered", "capped", "view", "none"] {
                let namespace = database.namespace(name)
                let isPlanned = try await database.pool.run { client in
                    try RecordPlan.make(for: namespace, on: client, parts: 4) != nil
                }
                #expect(!isPlanned, "\(name)")
            }
        }
    }
}

/// The `_id`s and the number of documents that the reading thread stores for the test.
private final class Seen: @unchecked Sendable {
    var ids: [BSONValue] = []
    var count = 0
}
