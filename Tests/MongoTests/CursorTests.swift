import BSON
import Mongo
import TestSupport
import Testing

@Suite struct CursorTests {
    @Test func findGivesEveryDocumentInItsOrder() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", count: 250)
            let namespace = database.namespace("a")
            let ids = try await database.pool.run { client in
                var ids: [Int] = []
                var cursor = client.collection(namespace).find([:], options: ["sort": ["_id": -1], "batchSize": 40])
                while let view = try cursor.next() {
                    guard let element = try view.find("_id") else { continue }
                    ids.append(Int(view.int32(element)))
                }
                return ids
            }
            #expect(ids == Array((0..<250).reversed()))
        }
    }

    @Test func aBatchHasAFewMebibytes() {
        var size = BatchSize(most: 4_000)
        #expect(size.documents == 32)
        size.adapt(to: 32, bytes: 32 * 200_000)
        #expect(size.documents == 20)
        size.adapt(to: 20, bytes: 20 * 300)
        #expect(size.documents == 4_000)
        size.adapt(to: 1, bytes: 16 << 20)
        #expect(size.documents == 1)
    }

    @Test func indexBoundsAndHintReachTheServer() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", count: 20)
            let namespace = database.namespace("a")
            let count = try await database.pool.run { client in
                try client.collection(namespace).find(
                    [:],
                    options: [
                        "min": ["_id": 5], "max": ["_id": 8], "hint": ["_id": 1], "projection": ["_id": 1],
                        "readConcern": ["level": "majority"], "maxTimeMS": 5_000, "comment": "bounds",
                    ]
                ).documents().count
            }
            #expect(count == 3)
        }
    }

    @Test(.server(from: 5, for: "find and aggregate take let")) func letVariablesReachFindAndAggregate() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", count: 10)
            let namespace = database.namespace("a")
            let filter: BSONDocument = ["$expr": ["$lt": ["$_id", "$$limit"]]]
            let counts = try await database.pool.run { client in
                let collection = client.collection(namespace)
                let options: BSONDocument = ["let": ["limit": 4]]
                return (
                    try collection.find(filter, options: options).documents().count,
                    try collection.aggregate([["$match": .object(filter)]], options: options).documents().count
                )
            }
            #expect(counts == (4, 4))
        }
    }

    @Test func countsAreExactAndEstimated() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", count: 30)
            let namespace = database.namespace("a")
            let counts = try await database.pool.run { client in
                let collection = client.collection(namespace)
                return [
                    try collection.countDocuments(), try collection.countDocuments(["_id": ["$gte": 25]]),
                    try collection.countDocuments(["_id": "none"]), try collection.estimatedCount(),
                ]
            }
            #expect(counts == [30, 5, 0, 30])
        }
    }

    @Test func anUnknownStageIsAnErrorWithItsCode() async throws {
        try await Mongod.shared.withDatabase { database in
            let namespace = database.namespace("a")
            let error = try await #require(throws: MongoError.self) {
                try await database.pool.withClient { client throws(MongoError) in
                    try client.collection(namespace).aggregate([["$nonsense": [:]]]).documents().count
                }
            }
            #expect(error.code == .unknownStage)
            #expect(error.domain == .server)
            #expect(!error.isTransient)
        }
    }

    @Test func aBrokenConnectionEndsTheCursorAsTransient() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("a", count: 20)
            let namespace = database.namespace("a")
            var point = FailPoint("getMore", appName: database.appName)
            point.closesConnection = true
            let error = try await mongod.failing(point) {
                await #expect(throws: MongoError.self) {
                    try await database.pool.withClient { client throws(MongoError) in
                        try client.collection(namespace).find([:], options: ["batchSize": 5]).documents().count
                    }
                }
            }
            #expect(error?.isTransient == true)
            #expect(error?.isCursorLost == true)
        }
    }

    /// A read that needs no limit states `maxTimeMS: 0`.
    ///
    /// From MongoDB 8.0 on, a deployment may have a default time limit for reads that state no limit.
    @Test func aReadWithoutATimeLimitSaysSo() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", count: 20)
            try await database.run(["profile": 2])
            let namespace = database.namespace("a")
            try await database.pool.run { client in
                let collection = client.collection(namespace)
                _ = try collection.find([:], options: ["comment": "none"]).documents()
                _ = try collection.findBatch(["filter": ["_id": 1], "comment": "none"])
                _ = try collection.aggregate([["$match": ["_id": 1]]], options: ["comment": "none"]).documents()
                _ = try collection.countDocuments(options: ["comment": "none"])
                let session = try client.startSession()
                let reads = try MemberReads(by: try client.readingMember(), in: session)
                var records = collection.records(reads, after: nil, batchSize: 5, comment: "none")
                _ = try records.advance()
                _ = try collection.command(["count": "a", "comment": "none"])
                _ = try collection.find([:], options: ["comment": "own", "maxTimeMS": 9_000]).documents()
                _ = try collection.findBatch(["filter": ["_id": 1], "comment": "own", "maxTimeMS": 9_000])
                _ = try collection.findBatch(["filter": ["_id": 1]], options: ["comment": "own", "maxTimeMS": 9_000])
                _ = try collection.aggregate([], options: ["comment": "own", "maxTimeMS": 9_000]).documents()
            }
            try await database.run(["profile": 0])
            for (comment, limit, count) in [("none", 0, 6), ("own", 9_000, 4)] {
                let seen = try await database.documents(
                    "system.profile", ["command.comment": .string(comment), "op": ["$in": ["query", "command"]]])
                #expect(
                    seen.map { $0["command"]?.document?["maxTimeMS"]?.integer } == .init(repeating: limit, count: count)
                )
            }
        }
    }

    /// A change stream is opened without a time limit.
    ///
    /// The server may first have to read much of its oplog to find the position at which the change stream starts.
    @Test func theOpeningOfAChangeStreamSaysSoToo() async throws {
        try await Mongod.shared.withDatabase { database in
            let namespace = database.namespace("a")
            try await database.fill("a", count: 1)
            let opened = try await database.pool.run { client in
                var changes = client.collection(namespace).watch(
                    options: ["comment": .string(namespace.database), "maxAwaitTimeMS": 1])
                _ = try changes.next() == nil
                let reply = try client.runCommand(
                    [
                        "aggregate": 1, "cursor": [:],
                        "pipeline": [
                            ["$currentOp": ["idleCursors": true]],
                            ["$match": ["cursor.originatingCommand.comment": .string(namespace.database)]],
                        ],
                    ], on: "admin")
                return reply["cursor"]?.document?["firstBatch"]?.document?.values.first?.document
            }
            let command = opened?["cursor"]?.document?["originatingCommand"]?.document
            #expect(command?["maxTimeMS"] == 0, "\(String(describing: opened))")
        }
    }

    @Test func aLostCursorIsRecognised() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("a", count: 20)
            let namespace = database.namespace("a")
            let error = try await mongod.failing(.error(43, "getMore", appName: database.appName)) {
                await #expect(throws: MongoError.self) {
                    try await database.pool.withClient { client throws(MongoError) in
                        try client.collection(namespace).find([:], options: ["batchSize": 5]).documents().count
                    }
                }
            }
            #expect(error?.code == .cursorNotFound)
            #expect(error?.isCursorLost == true)
            #expect(error?.isTransient == false)
        }
    }
}
