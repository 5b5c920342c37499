import BSON
import Checking
import Mongo
import Scanning
import TestSupport
import Testing

/// Tests that a check reads every document once, whatever its `_id` and whatever the kind of the collection.
@Suite struct CheckScanTests {
    /// `_id`s of every type that mongod accepts for an `_id`, several of most types.
    static let mixedIDs: [BSONValue] = {
        var ids: [BSONValue] = [.minKey, .maxKey, .null, .bool(false), .bool(true), .double(.nan)]
        for number in -20..<20 {
            ids += [.int(Int32(number)), .double(Double(number) + 0.5), .long(Int64(number) << 40 | 1_000)]
            ids += [.decimal(Decimal128(Int64(number) << 50 | 2_000)), .date(milliseconds: Int64(number) * 1_000)]
            ids += [.string("text \(number)"), .object(["n": .integer(number)]), .object(["s": .string("\(number)")])]
            ids += [.timestamp(UInt64(100 + number) << 32), .javascript("return \(number)")]
            ids += [.objectID(ObjectID(high: UInt64(100 + number), low: 7)), .symbol("symbol \(number)")]
            ids += [0, 4, 5, 128].map { .binary(subtype: $0, bytes: [UInt8(50 + number)]) }
            // A binary value of the old subtype 2 begins with the length of the data, here 1.
            ids.append(.binary(subtype: 2, bytes: [1, 0, 0, 0, UInt8(50 + number)]))
            ids.append(.javascriptWithScope("return n", ["n": .integer(number)]))
            ids.append(.dbPointer("app.a", ObjectID(high: UInt64(100 + number), low: 8)))
        }
        return ids + [.double(.infinity), .double(-.infinity), "", .object([:])]
    }()

    @Test(arguments: [1, 2, 5]) func everyTypeOfIDIsReadOnce(_ threads: Int) async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("mixed", Self.mixedIDs.shuffled().map { ["_id": $0] })
            let ids = try await database.scannedIDs("mixed", threads: threads)
            #expect(ids.count == Self.mixedIDs.count)
            #expect(Set(ids.map(IDBytes.init)) == Set(Self.mixedIDs.map(IDBytes.init)))
        }
    }

    @Test(arguments: [0, 1, 2, 3, 7, 100]) func smallCollectionsAreReadByManyThreads(_ count: Int) async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.run(["create": "small"])
            try await database.fill("small", count: count)
            let ids = try await database.scannedIDs("small", threads: 5)
            #expect(ids.compactMap(\.integer).sorted() == Array(0..<count))
        }
    }

    @Test func longCommonPrefixesAreNoHindrance() async throws {
        let prefix = String(repeating: "tenant-0000/", count: 100)
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", count: 3_000) { ["_id": .string("\(prefix)\($0)")] }
            let ids = try await database.scannedIDs("a", threads: 5)
            #expect(ids.count == 0, "an _id of more than 256 bytes is counted, not kept")
            let tally = try await database.scan(try .failing(database.namespace("a")), threads: 5)
            #expect(tally.counts.read == 3_000)
            #expect(tally.violationGroups.map(\.count) == [3_000])
        }
    }

    @Test func aCollationDoesNotChangeWhatIsRead() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.run(["create": "a", "collation": ["locale": "de", "strength": 1]])
            let names = (0..<200).map { number in
                ["zebra", "Äpfel", "apfel ", "ZOO", "öl", "ß", "10", "9"][number % 8] + " \(number)"
            }
            let ids = names.map { BSONValue.string($0) } + [.minKey, .maxKey, 5, .object(["Ä": "ä"])]
            try await database.fill("a", ids.shuffled().map { ["_id": $0] })
            for threads in [1, 2, 5] {
                let read = try await database.scannedIDs("a", threads: threads)
                #expect(read.count == ids.count)
                #expect(Set(read) == Set(ids))
            }
        }
    }

    @Test(.server(from: 5, 3, for: "clustered collections")) func aClusteredCollectionIsReadInParts() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.run(["create": "a", "clusteredIndex": ["key": ["_id": 1], "unique": true]])
            try await database.fill("a", count: 2_000)
            for threads in [1, 3] {
                let ids = try await database.scannedIDs("a", threads: threads)
                #expect(ids.compactMap(\.integer).sorted() == Array(0..<2_000))
            }
        }
    }

    @Test func aViewIsReadByOneCursor() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", count: 2_000)
            try await database.run(["create": "v", "viewOn": "a", "pipeline": [["$match": ["_id": ["$gte": 500]]]]])
            let ids = try await database.scannedIDs("v", threads: 3, isView: true)
            #expect(ids.compactMap(\.integer).sorted() == Array(500..<2_000))
        }
    }

    @Test func aMissingCollectionHoldsNothing() async throws {
        try await Mongod.shared.withDatabase { database in
            let ids = try await database.scannedIDs("missing", threads: 3)
            #expect(ids.isEmpty)
        }
    }

    @Test func aStandaloneServerIsReadToo() async throws {
        let mongod = try await Mongod.start(.standalone)
        try await mongod.withDatabase { database in
            try await database.fill("a", count: 500)
            #expect(try await database.scannedIDs("a", threads: 2).count == 500)
        }
    }

    @Test func askedToStopItStops() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", count: 20_000)
            var options = ScanOptions()
            options.isStopped = { true }
            let scan = CollectionScan(
                try .failing(database.namespace("a")), on: database.pool, options: options)
            await #expect(throws: ScanStopped.self) { try await scan.run() }
        }
    }
}
