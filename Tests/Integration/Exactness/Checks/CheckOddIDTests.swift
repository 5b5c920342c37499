import BSON
import Checking
import Mongo
import Scanning
import TestSupport
import Testing

/// Tests that a scan reads documents with `_id`s that the driver, a collation or a range query could lose.
@Suite struct CheckOddIDTests {
    /// `_id`s that contain a field with an empty name.
    ///
    /// They are so many that a scan reads them in several batches, and that a range of `_id`s for one thread begins
    /// among them.
    private static let nameless: [BSONValue] =
        (0..<300).map { number in ["": .integer(number)] } + (0..<300).map { number in ["a": ["": .integer(number)]] }

    private func expectAll(
        _ ids: [BSONValue], in database: TestDatabase, threads: Int
    ) async throws {
        let read = try await database.scannedIDs("a", threads: threads)
        #expect(read.count == ids.count)
        #expect(Set(read.map(IDBytes.init)) == Set(ids.map(IDBytes.init)))
    }

    @Test(arguments: [1, 4]) func aFieldWithoutANameIsNoHindrance(_ threads: Int) async throws {
        try await Mongod.shared.withDatabase { database in
            let ids = Self.nameless + (0..<100).map { .integer($0) } + [.maxKey, "z"]
            try await database.fill("a", ids.shuffled().map { ["_id": $0] })
            try await expectAll(ids, in: database, threads: threads)
        }
    }

    @Test func afterOneACursorIsReopened() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            // A batch ends at 16 MiB, so the scan needs several batches for these documents.
            let large = BSONValue.string(String(repeating: "x", count: 5_000_000))
            let ids: [BSONValue] = [
                1, 2, "a", ["": 1], ["": 2], ["b": 1], ["": ["": 3]], .objectID(ObjectID(high: 1, low: 2)), .maxKey,
            ]
            for id in ids { try await database.fill("a", [["_id": id, "v": large]]) }
            for times in [1, 2, 3] {
                var point = FailPoint.error(43, "getMore", mode: .times(times))
                point.appName = database.appName
                let read = try await mongod.failing(point) { try await database.scannedIDs("a") }
                #expect(read.map(IDBytes.init) == ids.map(IDBytes.init))
            }
        }
    }

    @Test func oneThatChangesIsJudgedAgain() async throws {
        try await Mongod.shared.withDatabase { database in
            let people = try await ChangingPeople(database, count: 2_000)
            try await database.fill("person", [["_id": ["": 7]], ["_id": ["": 8], "name": "Ada"]])
            let result = try await people.scan(try people.options()) { collection in
                try collection.update([
                    UpdateStatement(["_id": ["$type": "object"]], ["$set": ["name": 5]], isMulti: true)
                ])
            }
            let after = try await people.scan(try people.options())
            #expect(TallyDigest(result.tally) == TallyDigest(after.tally))
            #expect(result.changedCount == 2)
        }
    }

    /// A check judges a document again if a replacement changes the type of its `_id`.
    ///
    /// For the server, 1 and 1.0 are the same `_id`. If 1.0 replaces 1, the change event has the bytes of 1.
    @Test(arguments: [false, true]) func oneWhoseTypeChangesIsJudgedAgain(_ beginsAsDouble: Bool) async throws {
        func number(_ value: Int, isDouble: Bool) -> BSONValue { isDouble ? .double(Double(value)) : .integer(value) }
        func id(_ value: Int, isDouble: Bool) -> [BSONValue] {
            let number = number(value, isDouble: isDouble)
            return [number, .object(["a": number, "b": [number]])]
        }
        try await Mongod.shared.withDatabase { database in
            let people = try await ChangingPeople(database, count: 0)
            let numbers = 0..<1_000
            let old = numbers.flatMap { id($0, isDouble: beginsAsDouble) }
            let new = numbers.flatMap { id($0, isDouble: !beginsAsDouble) }
            try await database.fill("person", old.map { ["_id": $0, "name": "Ada"] })
            let result = try await people.scan(try people.options()) { collection in
                for (old, new) in zip(old, new).prefix(40) {
                    try collection.update([UpdateStatement(["_id": old], ["_id": new, "name": 5])])
                }
            }
            let after = try await people.scan(try people.options())
            #expect(TallyDigest(result.tally) == TallyDigest(after.tally))
            #expect(result.changedCount == 40)
        }
    }

    @Test(arguments: [1, 4]) func lettersThatDifferInCaseAreDifferent(_ threads: Int) async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.run(["create": "a", "collation": ["locale": "en", "strength": 3]])
            let ids: [BSONValue] = (0..<8_000).flatMap { number -> [BSONValue] in
                [.string("name \(number)"), .string("NAME \(number)"), .string("Name \(number)")]
            }
            try await database.fill("a", ids.shuffled().map { ["_id": $0] })
            var point = FailPoint.error(43, "getMore", mode: .times(1))
            point.appName = database.appName
            try await mongod.failing(point) { try await expectAll(ids, in: database, threads: threads) }
        }
    }

    @Test func underACollationChangesAreJudgedAgain() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.run(["create": "person", "collation": ["locale": "en", "strength": 1]])
            let people = try await ChangingPeople(database, count: 2_000)
            try await database.fill("person", [["_id": "ada"], ["_id": "bob", "name": "Bob"]])
            let result = try await people.scan(try people.options()) { collection in
                try collection.delete([DeleteStatement(["_id": "ADA"]), DeleteStatement(["_id": "bob"])])
                _ = try collection.insert([["_id": "ADA", "name": "Ada"], ["_id": "BOB", "name": 5]])
            }
            let after = try await people.scan(try people.options())
            #expect(TallyDigest(result.tally) == TallyDigest(after.tally))
            #expect(result.changedCount == 4)
        }
    }

    @Test(.server(from: 5, 3, for: "clustered collections"), arguments: [1, 3])
    func aClusteredCollectionContinuesToo(_ threads: Int) async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.run(["create": "a", "clusteredIndex": ["key": ["_id": 1], "unique": true]])
            let ids: [BSONValue] = (0..<25_000).map { .integer($0) } + ["a", .null, .maxKey, .bool(true)]
            try await database.fill("a", ids.shuffled().map { ["_id": $0] })
            var point = FailPoint.error(43, "getMore", mode: .times(2))
            point.appName = database.appName
            try await mongod.failing(point) { try await expectAll(ids, in: database, threads: threads) }
        }
    }

    @Test func aCappedCollectionIsReadWhole() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.run(["create": "a", "capped": true, "size": 8_000_000])
            let ids: [BSONValue] = (0..<5_000).map { .integer($0) } + ["a", .null, .maxKey]
            try await database.fill("a", ids.shuffled().map { ["_id": $0] })
            try await expectAll(ids, in: database, threads: 3)
        }
    }
}
